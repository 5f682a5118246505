//! Patterns of `.Files.Glob`, by the rules of gobwas/glob with `/` as the separator.

use regex::Regex;

/// A pattern.
pub(super) struct Glob {
    regex: Regex,
}

/// What a pattern is not.
struct Bad;

impl Glob {
    /// A pattern. One that is malformed matches everything, as in Helm.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let mut parser = Parser { rest: pattern.chars().peekable(), regex: "(?s)^".to_owned(), terms: 0 };
        let parsed = parser.pattern();
        let text = match parsed {
            Ok(()) => parser.regex + "$",
            Err(Bad) => "(?s)^.*$".to_owned(),
        };
        Regex::new(&text).ok().map(|regex| Self { regex })
    }

    /// Whether a name matches.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.regex.is_match(name)
    }
}

struct Parser<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    regex: String,
    terms: usize,
}

impl Parser<'_> {
    fn pattern(&mut self) -> Result<(), Bad> {
        while let Some(c) = self.rest.next() {
            match c {
                '{' => {
                    self.terms += 1;
                    self.regex.push_str("(?:");
                }
                ',' if self.terms > 0 => self.regex.push('|'),
                '}' if self.terms > 0 => {
                    self.terms -= 1;
                    self.regex.push(')');
                }
                '[' => self.class()?,
                '?' => self.regex.push_str("[^/]"),
                '*' if self.rest.next_if_eq(&'*').is_some() => self.regex.push_str(".*"),
                '*' => self.regex.push_str("[^/]*"),
                '\\' => {
                    if let Some(escaped) = self.rest.next() {
                        self.literal(escaped);
                    }
                }
                c => self.literal(c),
            }
        }
        // Alternatives that are still open end with the pattern.
        self.regex.push_str(&")".repeat(self.terms));
        Ok(())
    }

    /// A class: one range, or a list of characters.
    fn class(&mut self) -> Result<(), Bad> {
        let not = self.rest.next_if_eq(&'!').is_some();
        let first = self.rest.next().ok_or(Bad)?;
        self.regex.push_str(if not { "[^" } else { "[" });
        if self.rest.next_if_eq(&'-').is_some() {
            let last = self.rest.next().ok_or(Bad)?;
            if last < first || self.rest.next() != Some(']') {
                return Err(Bad);
            }
            self.member(first);
            self.regex.push('-');
            self.member(last);
        } else {
            let mut next = Some(first);
            let mut any = false;
            loop {
                match next.ok_or(Bad)? {
                    ']' => break,
                    '\\' => {
                        let escaped = self.rest.next().ok_or(Bad)?;
                        self.member(escaped);
                    }
                    c => self.member(c),
                }
                any = true;
                next = self.rest.next();
            }
            if !any {
                return Err(Bad);
            }
        }
        self.regex.push(']');
        Ok(())
    }

    fn literal(&mut self, c: char) {
        self.regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn member(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            self.regex.push('\\');
        }
        self.regex.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    fn matches(pattern: &str, name: &str) -> bool {
        Glob::new(pattern).is_some_and(|glob| glob.matches(name))
    }

    #[test]
    fn stars_stop_at_separators() {
        assert!(matches("files/*", "files/a.txt"));
        assert!(!matches("files/*", "files/b/a.txt"));
        assert!(matches("files/**", "files/b/a.txt"));
        assert!(matches("**.txt", "files/b/a.txt"));
        assert!(!matches("f?les", "f/les"));
    }

    #[test]
    fn classes_and_alternatives() {
        assert!(matches("{a,b*}.[jy]son", "bcd.json"));
        assert!(!matches("{a,b}.[!j]son", "a.json"));
        assert!(matches("[a-c]x", "bx"));
        assert!(matches("a\\*", "a*"));
        assert!(matches("[a-z0-9]", "whatever/it/is"), "malformed patterns match everything");
    }
}
