//! Text to tokens, as libyaml's scanner does, which go-yaml is a translation of.
//!
//! Block structure is found by indentation: a deeper column opens a collection, a shallower one closes it. Whether a
//! scalar is a key shows only at the `:` after it, so places where a key may have begun are remembered ("simple keys"),
//! and a `KEY` token is put into the queue before them when the `:` comes. A token leaves the queue only when it can no
//! longer turn out to be a key.

mod cursor;
mod properties;
mod scalars;
mod token;

use std::{collections::VecDeque, ops::Range};

use super::{
    error::{Problem, Step},
    reader::Source,
};
use cursor::Cursor;
pub(super) use token::{Kind, Token};

/// go-yaml's limit on nested flow collections, and on nested block collections.
const MAX_DEPTH: usize = 10_000;
/// How many characters may lie between the start of a simple key and its `:`.
const MAX_SIMPLE_KEY: usize = 1024;

/// A place where a key may have begun.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// In block context at the present indentation: then only a key may stand here.
    required: bool,
    /// The number of the token that begins the key, counted from the start of the stream.
    token: usize,
    pos: usize,
    line: u32,
    column: usize,
}

/// The scanner of one text.
pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
    queue: VecDeque<Token<'a>>,
    /// How many tokens have left the queue.
    taken: usize,
    started: bool,
    flow_level: usize,
    /// The column of the present block collection; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    key_allowed: bool,
    /// One for the block context and one for each flow collection.
    keys: Vec<SimpleKey>,
    /// The levels of `keys` with a possible key that the queue waits for, lowest first.
    possible: VecDeque<usize>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a Source<'_>) -> Self {
        Self {
            cursor: Cursor::new(source),
            queue: VecDeque::with_capacity(16),
            taken: 0,
            started: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            key_allowed: true,
            keys: vec![SimpleKey::default()],
            possible: VecDeque::new(),
        }
    }

    /// Asks for the comments of what is scanned from here on.
    pub(super) fn keep_comments(&mut self) {
        self.cursor.comments = Some(Vec::new());
    }

    /// The comments that were scanned: their lines, from zero, and where they are in the text.
    pub(super) fn take_comments(&mut self) -> Vec<(u32, Range<usize>)> {
        self.cursor.comments.take().unwrap_or_default()
    }

    /// The next token, left in place.
    ///
    /// # Errors
    /// The first problem of the text up to there.
    #[inline]
    pub(super) fn peek(&mut self) -> Step<&Token<'a>> {
        while self.queue.is_empty() || self.head_may_be_key()? {
            self.fetch()?;
        }
        Ok(&self.queue[0])
    }

    /// Takes the token that was peeked at.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        self.taken += 1;
        self.queue.pop_front()
    }

    /// Whether the first token in the queue may still turn out to begin a key.
    fn head_may_be_key(&mut self) -> Step<bool> {
        let Some(&level) = self.possible.front() else {
            return Ok(false);
        };
        Ok(self.keys[level].token == self.taken && self.is_key_valid(level)?)
    }

    /// Whether the possible key of a level can still be one: on the same line, and not too long.
    fn is_key_valid(&mut self, level: usize) -> Step<bool> {
        let key = self.keys[level];
        if !key.possible {
            return Ok(false);
        }
        let too_long = || {
            self.cursor.pos - key.pos > MAX_SIMPLE_KEY
                && self.cursor.text[key.pos..self.cursor.pos].chars().count() > MAX_SIMPLE_KEY
        };
        if key.line < self.cursor.line || too_long() {
            if key.required {
                return Err(self.problem("could not find expected ':'"));
            }
            self.forget_key(level);
            return Ok(false);
        }
        Ok(true)
    }

    fn forget_key(&mut self, level: usize) {
        self.keys[level].possible = false;
        if self.possible.back() == Some(&level) {
            self.possible.pop_back();
        } else if self.possible.front() == Some(&level) {
            self.possible.pop_front();
        }
    }

    fn problem(&self, message: &'static str) -> Box<Problem> {
        Problem::scanner(message, self.cursor.line)
    }

    fn push(&mut self, kind: Kind<'a>, line: u32) {
        self.queue.push_back(Token { kind, line });
    }

    /// Remembers that a key may begin here.
    fn save_key(&mut self) -> Step<()> {
        if self.key_allowed {
            let column = self.cursor.column();
            let required = self.flow_level == 0 && self.indent >= 0 && self.indent.unsigned_abs() == column;
            self.remove_key()?;
            let level = self.keys.len() - 1;
            self.keys[level] = SimpleKey {
                possible: true,
                required,
                token: self.taken + self.queue.len(),
                pos: self.cursor.pos,
                line: self.cursor.line,
                column,
            };
            self.possible.push_back(level);
        }
        Ok(())
    }

    /// Gives up the possible key of the present level.
    fn remove_key(&mut self) -> Step<()> {
        let level = self.keys.len() - 1;
        if self.keys[level].possible {
            if self.keys[level].required {
                return Err(self.problem("could not find expected ':'"));
            }
            self.forget_key(level);
        }
        Ok(())
    }

    /// Opens a block collection at a column, unless one is open there. `before` is the number of the token to put its
    /// start in front of, or none for the end of the queue.
    fn roll_indent(&mut self, column: usize, before: Option<usize>, kind: Kind<'a>, line: u32) -> Step<()> {
        let column = isize::try_from(column).unwrap_or(isize::MAX);
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_DEPTH {
            return Err(self.problem("exceeded max depth of 10000"));
        }
        let number = before.unwrap_or(self.taken + self.queue.len());
        self.insert(number, Token { kind, line });
        Ok(())
    }

    /// Puts a token into the queue in front of one with a number; at the end if that one has left it.
    fn insert(&mut self, number: usize, token: Token<'a>) {
        let at = number.checked_sub(self.taken).unwrap_or(self.queue.len());
        self.queue.insert(at, token);
    }

    /// Closes the block collections that are deeper than a column.
    fn unroll_indent(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(Kind::BlockEnd, self.cursor.line);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Scans one more token, or a few.
    fn fetch(&mut self) -> Step<()> {
        self.cursor.need(1)?;
        if !self.started {
            self.started = true;
            self.push(Kind::StreamStart, 0);
            return Ok(());
        }
        self.skip_to_token()?;
        let column = self.cursor.column();
        self.unroll_indent(isize::try_from(column).unwrap_or(isize::MAX));
        self.cursor.need(4)?;
        let first = self.cursor.at(0);
        match first {
            0 => return self.stream_end(),
            b'%' if column == 0 => return self.directive(),
            b'-' | b'.' if self.cursor.is_document_indicator() => {
                self.reset_line_context()?;
                let line = self.cursor.line;
                self.cursor.skip_ascii(3);
                self.push(if first == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd }, line);
                return Ok(());
            }
            b'[' => return self.flow_start(Kind::FlowSequenceStart),
            b'{' => return self.flow_start(Kind::FlowMappingStart),
            b']' => return self.flow_end(Kind::FlowSequenceEnd),
            b'}' => return self.flow_end(Kind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                return self.indicator(Kind::FlowEntry);
            }
            b'-' if self.cursor.is_blank_or_end(1) => return self.block_entry(),
            b'?' if self.flow_level > 0 || self.cursor.is_blank_or_end(1) => return self.key(),
            b':' if self.flow_level > 0 || self.cursor.is_blank_or_end(1) => return self.value(),
            b'*' => return self.anchor(false),
            b'&' => return self.anchor(true),
            b'!' => return self.tag(),
            b'|' if self.flow_level == 0 => return self.block_scalar(true),
            b'>' if self.flow_level == 0 => return self.block_scalar(false),
            b'\'' => return self.flow_scalar(true),
            b'"' => return self.flow_scalar(false),
            _ => {}
        }
        let indicator = matches!(
            first,
            b'-' | b'?'
                | b':'
                | b','
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'#'
                | b'&'
                | b'*'
                | b'!'
                | b'|'
                | b'>'
                | b'\''
                | b'"'
                | b'%'
                | b'@'
                | b'`'
        ) || self.cursor.is_blank_or_end(0);
        if !indicator
            || (first == b'-' && !self.cursor.is_blank(1))
            || (self.flow_level == 0 && matches!(first, b'?' | b':') && !self.cursor.is_blank_or_end(1))
        {
            return self.plain_scalar();
        }
        Err(self.problem("found character that cannot start any token"))
    }

    /// Moves past blanks, comments and line breaks. A tab counts as blank only where no key may begin.
    fn skip_to_token(&mut self) -> Step<()> {
        loop {
            self.cursor.need(1)?;
            self.cursor.skip_mark();
            self.cursor.need(1)?;
            let tabs = self.flow_level > 0 || !self.key_allowed;
            while self.cursor.at(0) == b' ' || (tabs && self.cursor.at(0) == b'\t') {
                self.cursor.skip_ascii(1);
                self.cursor.need(1)?;
            }
            self.cursor.skip_comment()?;
            if !self.cursor.is_break(0) {
                return Ok(());
            }
            self.cursor.need(2)?;
            self.cursor.skip_line();
            if self.flow_level == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// What begins and ends documents also ends every block, and no key may follow it on its line.
    fn reset_line_context(&mut self) -> Step<()> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        Ok(())
    }

    fn stream_end(&mut self) -> Step<()> {
        if self.cursor.column() != 0 {
            self.cursor.start_line();
        }
        self.reset_line_context()?;
        self.push(Kind::StreamEnd, self.cursor.line);
        Ok(())
    }

    /// An indicator of one character.
    fn indicator(&mut self, kind: Kind<'a>) -> Step<()> {
        self.cursor.skip_ascii(1);
        self.push(kind, self.cursor.line);
        Ok(())
    }

    fn flow_start(&mut self, kind: Kind<'a>) -> Step<()> {
        self.save_key()?;
        self.keys.push(SimpleKey { token: self.taken + self.queue.len(), ..SimpleKey::default() });
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return Err(self.problem("exceeded max depth of 10000"));
        }
        self.key_allowed = true;
        self.indicator(kind)
    }

    fn flow_end(&mut self, kind: Kind<'a>) -> Step<()> {
        self.remove_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            let inner = self.keys.pop().map(|key| key.token);
            // go-yaml forgets here to wait for the `:` after a collection that begins a key, if no key could begin inside
            // of it: `{}: a` and `[,]: a` come out as something else than mappings.
            let level = self.keys.len() - 1;
            if self.keys[level].possible
                && inner == Some(self.keys[level].token)
                && self.possible.back() == Some(&level)
            {
                self.possible.pop_back();
            }
        }
        self.key_allowed = false;
        self.indicator(kind)
    }

    fn block_entry(&mut self) -> Step<()> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.problem("block sequence entries are not allowed in this context"));
            }
            self.roll_indent(self.cursor.column(), None, Kind::BlockSequenceStart, self.cursor.line)?;
        }
        self.remove_key()?;
        self.key_allowed = true;
        self.indicator(Kind::BlockEntry)
    }

    fn key(&mut self) -> Step<()> {
        if self.flow_level == 0 {
            if !self.key_allowed {
                return Err(self.problem("mapping keys are not allowed in this context"));
            }
            self.roll_indent(self.cursor.column(), None, Kind::BlockMappingStart, self.cursor.line)?;
        }
        self.remove_key()?;
        self.key_allowed = self.flow_level == 0;
        self.indicator(Kind::Key)
    }

    fn value(&mut self) -> Step<()> {
        let level = self.keys.len() - 1;
        if self.is_key_valid(level)? {
            let key = self.keys[level];
            self.insert(key.token, Token { kind: Kind::Key, line: key.line });
            self.roll_indent(key.column, Some(key.token), Kind::BlockMappingStart, key.line)?;
            self.forget_key(level);
            self.key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.key_allowed {
                    return Err(self.problem("mapping values are not allowed in this context"));
                }
                self.roll_indent(self.cursor.column(), None, Kind::BlockMappingStart, self.cursor.line)?;
            }
            self.key_allowed = self.flow_level == 0;
        }
        self.indicator(Kind::Value)
    }
}
