//! Regular expressions of schemas, which are Go's.

use std::sync::OnceLock;

use crate::value::regexp::{self, Expression};

/// An expression and its source. Most are never asked, so it is compiled when it is.
pub(super) struct Pattern {
    pub(super) source: String,
    expression: OnceLock<Option<Expression>>,
}

impl Pattern {
    /// Reads an expression.
    ///
    /// # Errors
    /// In the words of Go's regexp/syntax.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        // What is short and counts nothing meets no limit on its size: to parse it is enough.
        let expression = if source.len() < 256 && !source.contains('{') {
            regexp::check(source.as_bytes()).map_err(|error| error.text)?;
            OnceLock::new()
        } else {
            OnceLock::from(Some(Expression::compile(source.as_bytes()).map_err(|error| error.text)?))
        };
        Ok(Self { source: source.to_owned(), expression })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let expression = self.expression.get_or_init(|| Expression::compile(self.source.as_bytes()).ok());
        expression.as_ref().is_some_and(|expression| expression.regex.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_they_mean_to_go() {
        for (source, text, expected) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١", false),
            (r"^[\w.-]+$", "a_b.c-d", true),
            ("^a{$", "a{", true),
            ("^a{2}$", "aa", true),
            ("^[[a]+$", "[a", true),
            ("^[]a]$", "]", true),
            ("b$", "ab", true),
            ("^$", "", true),
        ] {
            assert_eq!(Pattern::new(source).unwrap().is_match(text), expected, "{source} on {text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_in_go_s_words() {
        for (source, expected) in [
            ("[", "missing closing ]: `[`"),
            ("(", "missing closing ): `(`"),
            ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
            ("a{2000}", "invalid repeat count: `{2000}`"),
            (r"\Z", r"invalid escape sequence: `\Z`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("*", "missing argument to repetition operator: `*`"),
        ] {
            let error = Pattern::new(source).err().unwrap();
            assert_eq!(error, format!("error parsing regexp: {expected}"), "{source}");
        }
    }
}
