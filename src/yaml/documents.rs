//! A values file to its documents, as Kubernetes' YAMLReader splits it.

use super::error::Error;

/// The documents of a text; made by [`documents`].
#[derive(Debug)]
pub struct Documents<'a> {
    rest: Option<&'a [u8]>,
}

/// Splits a text at lines that begin with `---`, as Helm does with values files before it reads each document.
///
/// The line itself belongs to no document, unless it is the first of the text or follows another one. Line ends
/// become line feeds.
#[must_use]
pub fn documents(text: &[u8]) -> Documents<'_> {
    Documents { rest: Some(text) }
}

impl Iterator for Documents<'_> {
    type Item = Result<Vec<u8>, Error>;

    /// The next document, or the error for a line with something else than a comment after its `---`; nothing follows
    /// that.
    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.rest.take()?;
        let mut document = Vec::new();
        while !rest.is_empty() {
            let (line, after) = match memchr::memchr(b'\n', rest) {
                Some(at) => (rest[..at].strip_suffix(b"\r").unwrap_or(&rest[..at]), &rest[at + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            rest = after;
            if let Some(comment) = line.strip_prefix(b"---") {
                let comment = String::from_utf8_lossy(comment);
                let comment = comment.trim();
                if !(comment.is_empty() || comment.starts_with('#')) {
                    return Some(Err(Error::new(format!("invalid Yaml document separator: {comment}"))));
                }
                if !document.is_empty() {
                    self.rest = Some(rest);
                    return Some(Ok(document));
                }
            }
            document.extend_from_slice(line);
            document.push(b'\n');
        }
        if document.is_empty() { None } else { Some(Ok(document)) }
    }
}
