//! Regular expressions of schemas, which are Go's.

use regex::Regex;

/// An expression and its source.
pub(super) struct Pattern {
    pub(super) source: String,
    regex: Regex,
}

impl Pattern {
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let regex = Regex::new(&translated(source));
        // The library's text is of several lines; its last one says what is wrong.
        let regex = regex.map_err(|e| {
            let text = e.to_string();
            let why = text.lines().last().unwrap_or_default();
            format!("error parsing regexp: {}", why.trim_start_matches("error: "))
        })?;
        Ok(Self { source: source.to_owned(), regex })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
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
