//! A position in the text: looking ahead, moving on, and noticing bad characters when go-yaml would.

use std::ops::Range;

use super::super::{
    error::{Problem, Step},
    reader::Source,
};

const BLANK: u8 = 1;
const BREAK: u8 = 2;
const FLOW: u8 = 4;
const COLON: u8 = 8;
const SINGLE: u8 = 16;
const DOUBLE: u8 = 32;
/// The second and later bytes of a character.
const INNER: u8 = 64;
/// The first byte of NEL, LS or PS, and of many other characters.
const MAYBE_BREAK: u8 = 128;

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0x80;
    while i < 0xC0 {
        table[i] = INNER;
        i += 1;
    }
    table[b' ' as usize] = BLANK;
    table[b'\t' as usize] = BLANK;
    table[b'\n' as usize] = BREAK;
    table[b'\r' as usize] = BREAK;
    table[0xC2] = MAYBE_BREAK;
    table[0xE2] = MAYBE_BREAK;
    let flow = *b",?[]{}";
    i = 0;
    while i < flow.len() {
        table[flow[i] as usize] = FLOW;
        i += 1;
    }
    table[b':' as usize] = COLON;
    table[b'\'' as usize] = SINGLE;
    table[b'"' as usize] = DOUBLE;
    table[b'\\' as usize] = DOUBLE;
    table
}

static CLASSES: [u8; 256] = classes();

/// Where a run of characters stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// A blank, a line break, the end, or a colon.
    PlainBlock,
    /// As in a block, or an indicator of flow collections.
    PlainFlow,
    /// A blank, a line break, the end, or a single quote.
    SingleQuoted,
    /// A blank, a line break, the end, a double quote or a backslash.
    DoubleQuoted,
}

impl Until {
    const fn mask(self) -> u8 {
        match self {
            Self::PlainBlock => BLANK | BREAK | COLON,
            Self::PlainFlow => BLANK | BREAK | COLON | FLOW,
            Self::SingleQuoted => BLANK | BREAK | SINGLE,
            Self::DoubleQuoted => BLANK | BREAK | DOUBLE,
        }
    }
}

/// go-yaml looks for a byte order mark at the start of its buffer, not at the place it is at, so a mark inside a text
/// makes it drop the first character of lines. These are its buffer's bounds.
struct Buffer {
    start: usize,
    end: usize,
    skipped: usize,
    /// How many times the end of the text has been asked for.
    ends: usize,
}

/// A place in the text.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) pos: usize,
    /// Counted from zero.
    pub(super) line: u32,
    line_start: usize,
    /// Bytes of this line so far that do not begin a character.
    inner: usize,
    fault: Option<&'static str>,
    buffer: Option<Buffer>,
    /// Whether every look ahead must be accounted for: there is a fault, or a mark.
    exact: bool,
    /// Whether lines end in nothing else than line feeds.
    line_feeds: bool,
    /// The comments so far, if they are wanted: their lines, and where they are in the text.
    pub(super) comments: Option<Vec<(u32, Range<usize>)>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source<'_>) -> Self {
        Self {
            text: &source.text,
            pos: 0,
            line: 0,
            line_start: 0,
            inner: 0,
            fault: source.fault,
            buffer: source.inner_mark.then_some(Buffer {
                start: 0,
                end: 0,
                skipped: source.skipped,
                ends: 0,
            }),
            exact: source.fault.is_some() || source.inner_mark,
            line_feeds: source.line_feeds,
            comments: None,
        }
    }

    /// The byte `n` after the present one; zero from the end on, as in go-yaml's buffer.
    #[inline]
    pub(super) fn at(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.pos + n).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn column(&self) -> usize {
        self.pos - self.line_start - self.inner
    }

    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    #[inline]
    pub(super) fn is_blank(&self, n: usize) -> bool {
        matches!(self.at(n), b' ' | b'\t')
    }

    #[inline]
    pub(super) fn is_break(&self, n: usize) -> bool {
        match self.at(n) {
            b'\n' | b'\r' => true,
            0xC2 => self.at(n + 1) == 0x85,
            0xE2 => self.at(n + 1) == 0x80 && matches!(self.at(n + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    #[inline]
    pub(super) fn is_break_or_end(&self, n: usize) -> bool {
        self.at(n) == 0 || self.is_break(n)
    }

    #[inline]
    pub(super) fn is_blank_or_end(&self, n: usize) -> bool {
        self.is_blank(n) || self.is_break_or_end(n)
    }

    /// `---` or `...` at the start of a line, with nothing right after it.
    pub(super) fn is_document_indicator(&self) -> bool {
        let first = self.at(0);
        (first == b'-' || first == b'.')
            && self.at(1) == first
            && self.at(2) == first
            && self.is_blank_or_end(3)
            && self.column() == 0
    }

    /// Says that the next `n` characters are about to be looked at.
    ///
    /// # Errors
    /// The reader's problem, when they are not all valid.
    #[inline]
    pub(super) fn need(&mut self, n: usize) -> Step<()> {
        if self.exact { self.need_exactly(n) } else { Ok(()) }
    }

    #[cold]
    fn need_exactly(&mut self, n: usize) -> Step<()> {
        if let Some(buffer) = &mut self.buffer {
            let unread = |end: usize, ends: usize| {
                ends + self.text.get(self.pos.min(end)..end).map_or(0, |t| t.chars().take(n).count())
            };
            if unread(buffer.end, buffer.ends) < n {
                buffer.start = self.pos.min(self.text.len());
                while unread(buffer.end, buffer.ends) < n {
                    if buffer.end == self.text.len() {
                        buffer.ends += 1;
                        break;
                    }
                    // The first window holds the leading mark too.
                    let taken = if buffer.end == 0 { buffer.skipped } else { 0 };
                    let mut end = self.text.len().min(buffer.end + 512 - taken);
                    while !self.text.is_char_boundary(end) {
                        end -= 1;
                    }
                    buffer.end = end;
                }
            }
        }
        match self.fault {
            Some(fault) if self.text[self.pos..].chars().take(n).count() < n => Err(Problem::new(fault)),
            _ => Ok(()),
        }
    }

    /// Drops a character at the start of a line where go-yaml thinks that it is a byte order mark.
    pub(super) fn skip_mark(&mut self) {
        if let Some(buffer) = &self.buffer
            && self.column() == 0
            && self.text[buffer.start..].starts_with('\u{FEFF}')
        {
            self.skip();
        }
    }

    /// Moves on by one character.
    #[inline]
    pub(super) fn skip(&mut self) {
        let width = match self.at(0) {
            0..0x80 => 1,
            0x80..0xE0 => 2,
            0xE0..0xF0 => 3,
            _ => 4,
        };
        if self.pos < self.text.len() {
            self.pos += width;
            self.inner += width - 1;
        }
    }

    /// Moves on by `n` bytes of ASCII.
    #[inline]
    pub(super) fn skip_ascii(&mut self, n: usize) {
        self.pos += n;
    }

    /// Moves past a line break, and says which one it was: a line feed for most, LS and PS as they are. Empty where
    /// there is none.
    pub(super) fn skip_line(&mut self) -> &'static str {
        let (width, meant) = match self.at(0) {
            b'\r' if self.at(1) == b'\n' => (2, "\n"),
            b'\r' | b'\n' => (1, "\n"),
            0xC2 if self.at(1) == 0x85 => (2, "\n"),
            0xE2 if self.at(1) == 0x80 && self.at(2) == 0xA8 => (3, "\u{2028}"),
            0xE2 if self.at(1) == 0x80 && self.at(2) == 0xA9 => (3, "\u{2029}"),
            _ => return "",
        };
        self.pos += width;
        self.start_line();
        meant
    }

    /// Begins a new line here: at a break, or at the end of the text.
    pub(super) fn start_line(&mut self) {
        self.line += 1;
        self.line_start = self.pos;
        self.inner = 0;
    }

    /// Moves on over a run of characters, looking `ahead` characters forward after each.
    ///
    /// # Errors
    /// The reader's problem, when a character looked at is not valid.
    #[inline]
    pub(super) fn run(&mut self, until: Until, ahead: usize) -> Step<()> {
        let mask = until.mask();
        let bytes = self.text.as_bytes();
        while let Some(&b) = bytes.get(self.pos) {
            let class = CLASSES[b as usize];
            if class & (mask | MAYBE_BREAK | INNER) == 0 {
                self.pos += 1;
            } else if class & INNER != 0 {
                self.pos += 1;
                self.inner += 1;
            } else if class & mask != 0 || self.is_break(0) {
                break;
            } else {
                self.skip();
            }
            if self.exact && bytes.get(self.pos).is_none_or(|b| CLASSES[*b as usize] & INNER == 0) {
                self.need_exactly(ahead)?;
            }
        }
        Ok(())
    }

    /// Moves on to the end of the line. The column is not kept.
    ///
    /// # Errors
    /// The reader's problem, when a character looked at is not valid.
    pub(super) fn run_to_break(&mut self) -> Step<()> {
        let rest = &self.text.as_bytes()[self.pos.min(self.text.len())..];
        if self.line_feeds && !self.exact {
            self.pos += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            return Ok(());
        }
        while !self.is_break_or_end(0) {
            self.skip();
            self.need(1)?;
        }
        Ok(())
    }

    /// Moves past a comment up to the end of its line, if one begins here.
    pub(super) fn skip_comment(&mut self) -> Step<()> {
        if self.at(0) != b'#' {
            return Ok(());
        }
        let start = self.pos;
        self.run_to_break()?;
        if let Some(comments) = &mut self.comments {
            comments.push((self.line, start..self.pos));
        }
        Ok(())
    }

    /// Moves past blanks.
    pub(super) fn skip_blanks(&mut self) -> Step<()> {
        while self.is_blank(0) {
            self.skip_ascii(1);
            self.need(1)?;
        }
        Ok(())
    }
}
