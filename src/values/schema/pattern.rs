//! Regular expressions of schemas, which are Go's.

use std::sync::OnceLock;

use regex::Regex;

/// An expression and its source. Most are never asked, so it is compiled when it is.
pub(super) struct Pattern {
    pub(super) source: String,
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let translated = translated(source);
        // The library's text is of several lines; its last one says what is wrong.
        let wrong = |text: String| {
            let why = text.lines().last().unwrap_or_default();
            format!("error parsing regexp: {}", why.trim_start_matches("error: "))
        };
        // What is short and counts nothing meets no limit on its size: to parse it is enough.
        let regex = if source.len() < 256 && !source.contains('{') {
            regex_syntax::parse(&translated).map_err(|e| wrong(e.to_string()))?;
            OnceLock::new()
        } else {
            OnceLock::from(Some(Regex::new(&translated).map_err(|e| wrong(e.to_string()))?))
        };
        Ok(Self { source: source.to_owned(), regex })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let regex = self.regex.get_or_init(|| Regex::new(&translated(&self.source)).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// The same expression for the regex crate: Go's Perl classes are of ASCII, and a few characters that mean nothing to
/// Go mean something there.
fn translated(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut letters = source.chars().peekable();
    let mut in_class = false;
    while let Some(c) = letters.next() {
        match c {
            '\\' => match letters.next() {
                Some('d') => out.push_str(if in_class { "0-9" } else { "[0-9]" }),
                Some('w') => out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                Some('s') => out.push_str(if in_class { r"\t\n\f\r " } else { r"[\t\n\f\r ]" }),
                Some('D') => out.push_str("[^0-9]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('S') => out.push_str(r"[^\t\n\f\r ]"),
                Some('b') if !in_class => out.push_str(r"(?-u:\b)"),
                Some('Z') | None => out.push_str("\\Z"),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
            },
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                if letters.peek() == Some(&'^') {
                    out.extend(letters.next());
                }
                if letters.peek() == Some(&']') {
                    letters.next();
                    out.push_str("\\]");
                }
            }
            '[' if letters.peek() != Some(&':') => out.push_str("\\["),
            ']' => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class && letters.peek() == Some(&c) => {
                out.push('\\');
                out.push(c);
            }
            '{' if !in_class && !is_repetition(letters.clone()) => out.push_str("\\{"),
            c => out.push(c),
        }
    }
    out
}

/// Whether what follows a `{` makes it a count.
fn is_repetition(letters: impl Iterator<Item = char>) -> bool {
    let inside: String = letters.take_while(|c| *c != '}').take(12).collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
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
        assert!(Pattern::new("[").is_err());
    }
}
