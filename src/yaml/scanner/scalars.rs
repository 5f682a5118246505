//! Scalars: plain, quoted, literal and folded.

use std::borrow::Cow;

use super::{super::error::Step, Kind, Scanner, cursor::Until};

/// A scalar's value as it grows: a part of the text for as long as that will do.
struct Value<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    owned: Option<String>,
}

impl<'a> Value<'a> {
    fn at(text: &'a str, start: usize) -> Self {
        Self { text, start, end: start, owned: None }
    }

    fn push_range(&mut self, start: usize, end: usize) {
        if start == end {
            return;
        }
        if self.owned.is_none() && self.start == self.end {
            (self.start, self.end) = (start, end);
        } else if self.owned.is_none() && start == self.end {
            self.end = end;
        } else {
            let text = self.text;
            self.owned().push_str(&text[start..end]);
        }
    }

    fn push_str(&mut self, part: &str) {
        if !part.is_empty() {
            self.owned().push_str(part);
        }
    }

    fn push(&mut self, part: char) {
        self.owned().push(part);
    }

    fn owned(&mut self) -> &mut String {
        let (text, start, end) = (self.text, self.start, self.end);
        self.owned.get_or_insert_with(|| text[start..end].to_owned())
    }

    /// Appends what a line break and the breaks after it stand for in a flow scalar: a space, or the later breaks.
    fn fold(&mut self, first: &str, later: &str) {
        if first.starts_with('\n') {
            self.push_str(if later.is_empty() { " " } else { later });
        } else {
            self.push_str(first);
            self.push_str(later);
        }
    }

    fn finish(self) -> Cow<'a, str> {
        match self.owned {
            Some(owned) => Cow::Owned(owned),
            None => Cow::Borrowed(&self.text[self.start..self.end]),
        }
    }
}

/// Blanks and line breaks inside a flow scalar.
#[derive(Default)]
struct Gap {
    /// The blanks before the first break, or all.
    blanks: (usize, usize),
    broken: bool,
    first: &'static str,
    later: String,
}

impl<'a> Scanner<'a> {
    pub(super) fn plain_scalar(&mut self) -> Step<()> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.cursor.line;
        let indent = self.indent + 1;
        let flow = self.flow_level > 0;
        let until = if flow { Until::PlainFlow } else { Until::PlainBlock };
        let mut value = Value::at(self.cursor.text, self.cursor.pos);
        let mut gap = Gap::default();
        loop {
            self.cursor.need(4)?;
            if self.cursor.is_document_indicator() || self.cursor.at(0) == b'#' {
                break;
            }
            while !self.cursor.is_blank_or_end(0) {
                let first = self.cursor.at(0);
                if (first == b':' && self.cursor.is_blank_or_end(1))
                    || (flow && matches!(first, b',' | b'?' | b'[' | b']' | b'{' | b'}'))
                {
                    break;
                }
                if gap.broken {
                    value.fold(gap.first, &gap.later);
                } else {
                    value.push_range(gap.blanks.0, gap.blanks.1);
                }
                gap = Gap::default();
                let start = self.cursor.pos;
                self.cursor.skip();
                self.cursor.need(2)?;
                self.cursor.run(until, 2)?;
                value.push_range(start, self.cursor.pos);
            }
            if !(self.cursor.is_blank(0) || self.cursor.is_break(0)) {
                break;
            }
            self.cursor.need(1)?;
            self.gap(&mut gap, Some(indent))?;
            if !flow && self.column() < indent {
                break;
            }
        }
        self.push(Kind::Scalar(value.finish(), true), line);
        if gap.broken {
            self.key_allowed = true;
        }
        Ok(())
    }

    fn column(&self) -> isize {
        isize::try_from(self.cursor.column()).unwrap_or(isize::MAX)
    }

    /// Moves over blanks and line breaks. In a plain scalar, tabs may not stand in for its indentation.
    fn gap(&mut self, gap: &mut Gap, plain_indent: Option<isize>) -> Step<()> {
        gap.blanks = (self.cursor.pos, self.cursor.pos);
        loop {
            if self.cursor.is_blank(0) {
                if gap.broken && self.cursor.at(0) == b'\t' && plain_indent.is_some_and(|i| self.column() < i)
                {
                    return Err(self.problem("found a tab character that violates indentation"));
                }
                self.cursor.skip_ascii(1);
                if !gap.broken {
                    gap.blanks.1 = self.cursor.pos;
                }
            } else if self.cursor.is_break(0) {
                self.cursor.need(2)?;
                let found = self.cursor.skip_line();
                if gap.broken {
                    gap.later.push_str(found);
                } else {
                    gap.first = found;
                    gap.broken = true;
                }
            } else {
                return Ok(());
            }
            self.cursor.need(1)?;
        }
    }

    pub(super) fn flow_scalar(&mut self, single: bool) -> Step<()> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.cursor.line;
        self.cursor.skip_ascii(1);
        let mut value = Value::at(self.cursor.text, self.cursor.pos);
        let (quote, until) = if single { (b'\'', Until::SingleQuoted) } else { (b'"', Until::DoubleQuoted) };
        loop {
            self.cursor.need(4)?;
            if self.cursor.is_document_indicator() {
                return Err(self.problem("found unexpected document indicator"));
            }
            if self.cursor.at_end() {
                return Err(self.problem("found unexpected end of stream"));
            }
            let mut gap = Gap::default();
            while !self.cursor.is_blank_or_end(0) {
                let start = self.cursor.pos;
                self.cursor.run(until, 2)?;
                value.push_range(start, self.cursor.pos);
                match self.cursor.at(0) {
                    b'\'' if single && self.cursor.at(1) == b'\'' => {
                        value.push('\'');
                        self.cursor.skip_ascii(2);
                    }
                    found if found == quote => break,
                    b'\\' if !single && self.cursor.is_break(1) => {
                        self.cursor.need(3)?;
                        self.cursor.skip_ascii(1);
                        self.cursor.skip_line();
                        gap.broken = true;
                        break;
                    }
                    b'\\' if !single => self.escape(&mut value)?,
                    _ => continue,
                }
                self.cursor.need(2)?;
            }
            self.cursor.need(1)?;
            if self.cursor.at(0) == quote {
                break;
            }
            self.gap(&mut gap, None)?;
            if gap.broken {
                value.fold(gap.first, &gap.later);
            } else {
                value.push_range(gap.blanks.0, gap.blanks.1);
            }
        }
        self.cursor.skip_ascii(1);
        self.push(Kind::Scalar(value.finish(), false), line);
        Ok(())
    }

    /// Reads an escape sequence of a double-quoted scalar.
    fn escape(&mut self, value: &mut Value<'a>) -> Step<()> {
        let digits = match self.cursor.at(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            other => {
                value.push(match other {
                    b'0' => '\0',
                    b'a' => '\x07',
                    b'b' => '\x08',
                    b't' | b'\t' => '\t',
                    b'n' => '\n',
                    b'v' => '\x0B',
                    b'f' => '\x0C',
                    b'r' => '\r',
                    b'e' => '\x1B',
                    b' ' => ' ',
                    b'"' => '"',
                    b'\'' => '\'',
                    b'\\' => '\\',
                    b'N' => '\u{85}',
                    b'_' => '\u{A0}',
                    b'L' => '\u{2028}',
                    b'P' => '\u{2029}',
                    _ => return Err(self.problem("found unknown escape character")),
                });
                self.cursor.skip_ascii(2);
                return Ok(());
            }
        };
        self.cursor.skip_ascii(2);
        self.cursor.need(digits)?;
        let mut code: u32 = 0;
        for n in 0..digits {
            let Some(digit) = char::from(self.cursor.at(n)).to_digit(16) else {
                return Err(self.problem("did not find expected hexdecimal number"));
            };
            code = code << 4 | digit;
        }
        let Some(character) = char::from_u32(code) else {
            return Err(self.problem("found invalid Unicode character escape code"));
        };
        value.push(character);
        self.cursor.skip_ascii(digits);
        Ok(())
    }

    pub(super) fn block_scalar(&mut self, literal: bool) -> Step<()> {
        self.remove_key()?;
        self.key_allowed = true;
        let line = self.cursor.line;
        self.cursor.skip_ascii(1);
        self.cursor.need(1)?;
        let (mut chomping, mut increment) = (b' ', 0);
        if matches!(self.cursor.at(0), b'+' | b'-') {
            chomping = self.chomping()?;
            increment = self.increment()?;
        } else if self.cursor.at(0).is_ascii_digit() {
            increment = self.increment()?;
            self.cursor.need(1)?;
            if matches!(self.cursor.at(0), b'+' | b'-') {
                chomping = self.cursor.at(0);
                self.cursor.skip_ascii(1);
            }
        }
        self.cursor.need(1)?;
        self.cursor.skip_blanks()?;
        self.cursor.skip_comment()?;
        if !self.cursor.is_break_or_end(0) {
            return Err(self.problem("did not find expected comment or line break"));
        }
        if self.cursor.is_break(0) {
            self.cursor.need(2)?;
            self.cursor.skip_line();
        }
        let mut indent = if increment > 0 { increment + self.indent.max(0).unsigned_abs() } else { 0 };
        let mut value = String::new();
        let mut last_break = "";
        let mut later_breaks = String::new();
        let mut blank_line = false;
        self.block_breaks(&mut indent, &mut later_breaks)?;
        self.cursor.need(1)?;
        while self.cursor.column() == indent && !self.cursor.at_end() {
            let blank = self.cursor.is_blank(0);
            if !literal && !blank_line && !blank && last_break.starts_with('\n') {
                if later_breaks.is_empty() {
                    value.push(' ');
                }
            } else {
                value.push_str(last_break);
            }
            value.push_str(&later_breaks);
            later_breaks.clear();
            blank_line = blank;
            let start = self.cursor.pos;
            self.cursor.run_to_break()?;
            value.push_str(&self.cursor.text[start..self.cursor.pos]);
            self.cursor.need(2)?;
            last_break = self.cursor.skip_line();
            self.block_breaks(&mut indent, &mut later_breaks)?;
        }
        if chomping != b'-' {
            value.push_str(last_break);
        }
        if chomping == b'+' {
            value.push_str(&later_breaks);
        }
        self.push(Kind::Scalar(Cow::Owned(value), false), line);
        Ok(())
    }

    fn chomping(&mut self) -> Step<u8> {
        let found = self.cursor.at(0);
        self.cursor.skip_ascii(1);
        self.cursor.need(1)?;
        Ok(found)
    }

    /// An indentation indicator; zero if there is none.
    fn increment(&mut self) -> Step<usize> {
        match self.cursor.at(0) {
            b'0' => Err(self.problem("found an indentation indicator equal to 0")),
            digit @ b'1'..=b'9' => {
                self.cursor.skip_ascii(1);
                Ok(usize::from(digit - b'0'))
            }
            _ => Ok(0),
        }
    }

    /// Moves over the indentation and the empty lines before a line of a block scalar, and finds the scalar's
    /// indentation if it is not known yet (zero).
    fn block_breaks(&mut self, indent: &mut usize, breaks: &mut String) -> Step<()> {
        let mut deepest = 0;
        loop {
            self.cursor.need(1)?;
            while (*indent == 0 || self.cursor.column() < *indent) && self.cursor.at(0) == b' ' {
                self.cursor.skip_ascii(1);
                self.cursor.need(1)?;
            }
            let column = self.cursor.column();
            deepest = deepest.max(column);
            if (*indent == 0 || column < *indent) && self.cursor.at(0) == b'\t' {
                return Err(self.problem("found a tab character where an indentation space is expected"));
            }
            if !self.cursor.is_break(0) {
                break;
            }
            self.cursor.need(2)?;
            breaks.push_str(self.cursor.skip_line());
        }
        if *indent == 0 {
            *indent = deepest.max((self.indent + 1).max(1).unsigned_abs());
        }
        Ok(())
    }
}
