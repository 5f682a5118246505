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

#[cfg(test)]
mod tests {
    use super::split;

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
