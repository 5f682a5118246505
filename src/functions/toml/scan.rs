//! The characters of a TOML text, and the errors that name their line.

use super::key::complaint;
use crate::value::quote::quote_char_with;

/// What is wrong, and in which line.
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Fault {
    /// The whole text, with the key that was read last.
    pub(super) fn complaint(&self, last: &str) -> String {
        complaint(self.line, last, &self.text)
    }
}

/// The end of the text, as a character.
pub(super) const END: char = '\0';

/// A text that is read from the left.
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    /// Where the present token begins.
    pub(super) start: usize,
    at: usize,
    pub(super) line: usize,
    /// Whether the end was the last thing read.
    at_end: bool,
}

/// A place to come back to.
#[derive(Clone, Copy)]
pub(super) struct Place(usize, usize);

pub(super) fn is_space(c: char) -> bool {
    matches!(c, '\t' | ' ')
}

pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// A character in single quotes, as Go has it.
pub(super) fn quoted(c: char) -> String {
    let mut out = String::new();
    quote_char_with(&mut out, u64::from(u32::from(c)), false);
    out
}

impl<'t> Scanner<'t> {
    pub(super) const fn new(text: &'t [u8]) -> Self {
        Self { text, start: 0, at: 0, line: 1, at_end: false }
    }

    pub(super) const fn place(&self) -> Place {
        Place(self.at, self.line)
    }

    pub(super) const fn back_to(&mut self, place: Place) {
        (self.at, self.line, self.at_end) = (place.0, place.1, false);
    }

    /// Reads a character.
    pub(super) fn next(&mut self) -> Result<char, Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(&first) = rest.first() else {
            self.at_end = true;
            return Ok(END);
        };
        if first == b'\n' {
            self.line += 1;
        }
        let window = rest.get(..rest.len().min(4)).unwrap_or_default();
        let c = window.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        let Some(c) = c else {
            return Err(self.fault(format!("invalid UTF-8 byte: 0x{first:02x}")));
        };
        let lone = c == '\r' && rest.get(1) != Some(&b'\n');
        if lone || (c.is_ascii_control() && !matches!(c, '\t' | '\r' | '\n')) {
            let code = u32::from(c);
            let text = format!("TOML files cannot contain control characters: '0x{code:02x}'");
            return Err(Fault { line: self.line, text });
        }
        self.at += c.len_utf8();
        Ok(c)
    }

    /// The next character, which stays.
    pub(super) fn peek(&mut self) -> Result<char, Fault> {
        let place = self.place();
        let c = self.next()?;
        self.back_to(place);
        Ok(c)
    }

    /// Reads a character if it is this one.
    pub(super) fn accept(&mut self, wanted: char) -> Result<bool, Fault> {
        let place = self.place();
        let found = self.next()? == wanted;
        if !found {
            self.back_to(place);
        }
        Ok(found)
    }

    /// Reads characters as long as they are of a kind.
    pub(super) fn skip(&mut self, kind: fn(char) -> bool) -> Result<(), Fault> {
        while kind(self.peek()?) {
            self.next()?;
        }
        Ok(())
    }

    pub(super) const fn begin(&mut self) {
        self.start = self.at;
    }

    /// Goes back by a character of one byte, but not into another line.
    pub(super) const fn step_back(&mut self) {
        self.at -= 1;
        self.at_end = false;
    }

    /// What was read since the token's beginning.
    pub(super) fn token(&self) -> &'t [u8] {
        self.text.get(self.start..self.at).unwrap_or_default()
    }

    pub(super) fn token_text(&self) -> String {
        String::from_utf8_lossy(self.token()).into_owned()
    }

    /// The token without so many characters at its end.
    pub(super) fn token_without(&self, end: usize) -> String {
        let token = self.token();
        let token = token.get(..token.len().saturating_sub(end)).unwrap_or_default();
        String::from_utf8_lossy(token).into_owned()
    }

    /// An error in the present line. At the end of the text that is the line that was last begun with something in it.
    pub(super) fn fault(&self, text: impl Into<String>) -> Fault {
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
        let empty = self.at_end && before == Some(&b'\n');
        Fault { line: self.line - usize::from(empty), text: text.into() }
    }

    /// An error in the line before, which a line end that was read has ended.
    pub(super) fn fault_before(&self, text: impl Into<String>) -> Fault {
        Fault { line: self.line.saturating_sub(1), text: text.into() }
    }

    /// An error of which Go says at the end of the text that it is in the line before.
    pub(super) fn fault_or_before(&self, text: impl Into<String>) -> Fault {
        if self.at_end { self.fault_before(text) } else { self.fault(text) }
    }
}
