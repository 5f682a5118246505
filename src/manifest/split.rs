//! Documents of a file, where Helm sees them.

/// The documents of a rendered file: what lies between lines that begin with `---`, also where text follows on the same
/// line. White space before a document is no part of it; empty documents are left out, those of comments are not.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_start();
    let mut rest = Some(text);
    let mut separator = text.starts_with("---").then_some(0);
    std::iter::from_fn(move || {
        let text = rest?;
        let end =
            separator.take().or_else(|| memchr::memmem::find(text.as_bytes(), b"\n---").map(|at| at + 1));
        rest = end.map(|end| text[end + 3..].trim_start_matches([' ', '\t']));
        Some(&text[..end.unwrap_or(text.len())])
    })
    .map(str::trim_start)
    .filter(|document| !document.is_empty())
}

/// The first document that is not UTF-8: its number among those that [`split`] sees, and its bytes.
pub(super) fn damaged(file: &[u8]) -> Option<(usize, &[u8])> {
    let valid = std::str::from_utf8(file).err()?.valid_up_to();
    // All that is before, and a letter in place of the byte that is none.
    let before = String::from_utf8_lossy(&file[..valid]) + "x";
    let last = split(&before).last()?;
    let from = before.len() - last.len();
    let end = memchr::memmem::find(&file[valid..], b"\n---").map_or(file.len(), |at| valid + at + 1);
    Some((split(&before).count() - 1, &file[from..end]))
}

#[cfg(test)]
mod tests {
    use super::{damaged, split};

    #[test]
    fn the_document_that_is_not_utf_8_is_found() {
        for (file, expected) in [
            (&b"a: 1\n---\nb: 2"[..], None),
            (b"a: \xff\n", Some((0, &b"a: \xff\n"[..]))),
            (b"---\na: 1\n---\n  b: \xff\n---\nc: \xff", Some((1, b"b: \xff\n"))),
            (b"a\n---\n\xffb", Some((1, b"\xffb"))),
            (b"\n\n\xff", Some((0, b"\xff"))),
        ] {
            assert_eq!(damaged(file), expected, "{}", file.escape_ascii());
        }
    }

    #[test]
    fn documents_are_where_helm_sees_them() {
        for (text, expected) in [
            ("", &[][..]),
            ("  \n", &[]),
            ("a: 1\n", &["a: 1\n"]),
            ("---\na: 1\n---\nb: 2", &["a: 1\n", "b: 2"]),
            ("---\n---\n \n--- \t\n  a: 1", &["a: 1"]),
            ("---a: 1\n---b: 2", &["a: 1\n", "b: 2"]),
            ("a: 1\n---   # note\nb: 2", &["a: 1\n", "# note\nb: 2"]),
            ("a: 1\n ---\nb: 2", &["a: 1\n ---\nb: 2"]),
            ("a: 1\r\n---\r\nb: 2", &["a: 1\r\n", "b: 2"]),
            ("------\na: 1", &["---\na: 1"]),
            ("# only a comment\n", &["# only a comment\n"]),
            ("\u{a0}---\na", &["a"]),
            ("a\n---", &["a\n"]),
        ] {
            assert_eq!(split(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
