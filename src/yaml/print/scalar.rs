//! Writing the characters of a scalar.

use std::fmt::Write as _;

use super::Printer;

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Printer<'_, '_> {
    /// A plain scalar. Where lines may be broken, it goes on in the next line at the first single space past the width.
    pub(super) fn plain(&mut self, text: &str, fold: bool, indent: usize) {
        if !self.whitespace {
            self.out.push(' ');
            self.column += 1;
        }
        if self.fits(text, fold) {
            self.out.push_str(text);
            self.column += text.chars().count();
        } else {
            self.folded(text, indent, |rest| !rest.starts_with(' '));
        }
        self.whitespace = false;
        self.indention = false;
    }

    /// Whether a text is certain not to be folded, wherever it has spaces.
    fn fits(&self, text: &str, fold: bool) -> bool {
        !fold || self.column + text.len() <= self.width || !text.contains(' ')
    }

    /// Writes a text of one line, breaking it at single spaces past the width where `may_break` agrees with what
    /// follows.
    fn folded(&mut self, text: &str, indent: usize, may_break: impl Fn(&str) -> bool) {
        let mut after_space = false;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c == ' ' && !after_space && self.column > self.width && may_break(rest) {
                self.write_indent(indent);
            } else {
                self.out.push(c);
                self.column += 1;
                if c != ' ' {
                    self.indention = false;
                }
            }
            after_space = c == ' ';
        }
    }

    /// A scalar in single quotes. It can have LS and PS in it, which are line breaks to YAML 1.1.
    pub(super) fn single_quoted(&mut self, text: &str, fold: bool, indent: usize) {
        self.indicator("'", true, false, false);
        let mut spaces = false;
        let mut breaks = false;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let first = rest.len() == text.len();
            rest = &rest[c.len_utf8()..];
            if c == ' ' {
                let inside = !first && !rest.is_empty() && !rest.starts_with(' ');
                if fold && !spaces && self.column > self.width && inside {
                    self.write_indent(indent);
                } else {
                    self.out.push(' ');
                    self.column += 1;
                }
                spaces = true;
            } else if is_break(c) {
                self.out.push(c);
                self.column = 0;
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent(indent);
                }
                if c == '\'' {
                    self.out.push('\'');
                    self.column += 1;
                }
                self.out.push(c);
                self.column += 1;
                self.indention = false;
                spaces = false;
                breaks = false;
            }
        }
        self.indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    /// A scalar in double quotes. Broken at a space; a space that then begins a line is escaped.
    pub(super) fn double_quoted(&mut self, text: &str, fold: bool, indent: usize) {
        self.indicator("\"", true, false, false);
        // go-yaml looks for a byte order mark at the start of the value, wherever it is in it.
        let escape_all = text.starts_with('\u{FEFF}');
        let mut spaces = false;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let first = rest.len() == text.len();
            rest = &rest[c.len_utf8()..];
            if escape_all || !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                let start = self.out.len();
                self.escape(c);
                self.column += self.out.len() - start;
                spaces = false;
            } else if c == ' ' {
                if fold && !spaces && self.column > self.width && !first && !rest.is_empty() {
                    self.write_indent(indent);
                    if rest.starts_with(' ') {
                        self.out.push('\\');
                        self.column += 1;
                    }
                } else {
                    self.out.push(' ');
                    self.column += 1;
                }
                spaces = true;
            } else {
                self.out.push(c);
                self.column += 1;
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn escape(&mut self, c: char) {
        self.out.push('\\');
        let letter = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0B' => 'v',
            '\x0C' => 'f',
            '\r' => 'r',
            '\x1B' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(c);
                match code {
                    0..=0xFF => write!(self.out, "x{code:02X}"),
                    0x100..=0xFFFF => write!(self.out, "u{code:04X}"),
                    _ => write!(self.out, "U{code:08X}"),
                }
                .expect("a String takes any text");
                return;
            }
        };
        self.out.push(letter);
    }

    /// A literal block scalar.
    pub(super) fn literal(&mut self, text: &str, indent: usize) {
        self.indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.indicator("2", false, false, false);
        }
        let mut last = text.chars().rev();
        match (last.next().is_some_and(is_break), last.next().is_none_or(is_break)) {
            (false, _) => self.indicator("-", false, false, false),
            (true, true) => self.indicator("+", false, false, false),
            (true, false) => {}
        }
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        for line in text.split_inclusive(is_break) {
            let content = line.trim_end_matches(is_break);
            if !content.is_empty() {
                self.write_indent(indent);
                self.out.push_str(content);
                self.column += content.chars().count();
                self.indention = false;
            }
            if content.len() < line.len() {
                self.out.push_str(&line[content.len()..]);
                self.column = 0;
                self.indention = true;
            }
        }
    }
}

/// What libyaml thinks can be printed. Characters beyond the basic plane cannot.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}') && c != '\u{FEFF}'
}
