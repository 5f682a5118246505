//! Template text to tokens, by the rules of Go's `text/template/parse` lexer.

use memchr::{memchr, memchr_iter, memmem};

use super::unicode::is_alphanumeric;
use crate::value::quote::{code_point, quote};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not a token: [`Lexer::error`] says why.
    Error,
    Bool,
    /// A printable ASCII character that has no other meaning, such as a comma.
    Char,
    CharConstant,
    Comment,
    Complex,
    /// `=`
    Assign,
    /// `:=`
    Declare,
    Eof,
    /// `.name`
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    /// `$` or `$name`
    Variable,
    // Keywords, and the two words that are printed as such.
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub kind: Kind,
    /// Offset of its first byte.
    pub pos: usize,
    /// Line of its first byte.
    pub line: usize,
    pub text: &'a [u8],
}

impl Item<'_> {
    /// Offset after the last byte.
    pub fn end(&self) -> usize {
        self.pos + self.text.len()
    }
}

/// The ASCII characters that [`is_alphanumeric`] knows.
const IN_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = byte == b'_' as usize || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};
/// The trim marker and the space beside it.
const TRIM_MARKER_LEN: usize = 2;

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// `- ` after a left delimiter.
fn has_left_trim_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', space, ..] if is_space(*space))
}

/// ` -` before a right delimiter.
fn has_right_trim_marker(text: &[u8]) -> bool {
    matches!(text, [space, b'-', ..] if is_space(*space))
}

/// The first character of some bytes; Go reads one byte that is not UTF-8 as one U+FFFD.
fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    Some(chunk.valid().chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8())))
}

/// What may change how a text is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LexOptions<'a> {
    pub left: &'a [u8],
    pub right: &'a [u8],
    /// Emit comments.
    pub comments: bool,
    /// `break` is a keyword: no function has that name.
    pub break_keyword: bool,
    /// `continue` is a keyword: no function has that name.
    pub continue_keyword: bool,
}

pub(super) struct Lexer<'a> {
    input: &'a [u8],
    options: LexOptions<'a>,
    /// Where the next character is read.
    pos: usize,
    /// Where the current token starts.
    start: usize,
    /// Line of `line_pos`.
    line: usize,
    /// How far lines have been counted.
    line_pos: usize,
    inside_action: bool,
    paren_depth: usize,
    error: String,
}

impl<'a> Lexer<'a> {
    pub fn new(input: &'a [u8], options: LexOptions<'a>) -> Self {
        Self {
            input,
            options,
            pos: 0,
            start: 0,
            line: 1,
            line_pos: 0,
            inside_action: false,
            paren_depth: 0,
            error: String::new(),
        }
    }

    /// What the error token stands for.
    pub fn error(&self) -> &str {
        &self.error
    }

    /// The next token. After an error token no other is to be asked for.
    pub fn next_item(&mut self) -> Item<'a> {
        if self.inside_action { self.inside_action() } else { self.text() }
    }

    fn emit(&mut self, kind: Kind) -> Item<'a> {
        let item = Item {
            kind,
            pos: self.start,
            line: self.line_of_start(),
            text: &self.input[self.start..self.pos],
        };
        self.start = self.pos;
        if !matches!(kind, Kind::Text | Kind::Space | Kind::Comment | Kind::RawString) {
            // No line ends in any other token.
            self.line_pos = self.pos;
        }
        item
    }

    fn line_of_start(&mut self) -> usize {
        if self.line_pos == self.start {
            return self.line;
        }
        self.line += memchr_iter(b'\n', &self.input[self.line_pos..self.start]).count();
        self.line_pos = self.start;
        self.line
    }

    fn fail(&mut self, message: impl Into<String>) -> Item<'a> {
        self.error = message.into();
        Item { kind: Kind::Error, pos: self.start, line: self.line_of_start(), text: b"" }
    }

    fn rest(&self) -> &'a [u8] {
        &self.input[self.pos..]
    }

    fn peek_byte(&self) -> Option<u8> {
        self.input.get(self.pos).copied()
    }

    fn text(&mut self) -> Item<'a> {
        loop {
            let Some(offset) = self.find_left_delim() else {
                self.pos = self.input.len();
                let kind = if self.pos > self.start { Kind::Text } else { Kind::Eof };
                return self.emit(kind);
            };
            let delim = self.pos + offset;
            if offset > 0 {
                let mut end = delim;
                if has_left_trim_marker(&self.input[delim + self.options.left.len()..]) {
                    while end > self.start && is_space(self.input[end - 1]) {
                        end -= 1;
                    }
                }
                self.pos = end;
                let item = self.emit(Kind::Text);
                self.pos = delim;
                self.start = delim;
                if !item.text.is_empty() {
                    return item;
                }
            }
            // A comment that is not wanted leaves nothing behind: go on with the text after it.
            if let Some(item) = self.left_delim() {
                return item;
            }
        }
    }

    fn find_left_delim(&self) -> Option<usize> {
        let rest = self.rest();
        if self.options.left != b"{{" {
            return memmem::find(rest, self.options.left);
        }
        let mut from = 0;
        while let Some(at) = memchr(b'{', &rest[from..]) {
            let at = from + at;
            if rest.get(at + 1) == Some(&b'{') {
                return Some(at);
            }
            from = at + 1;
        }
        None
    }

    /// At a left delimiter; the text that it trims has been emitted.
    fn left_delim(&mut self) -> Option<Item<'a>> {
        self.pos += self.options.left.len();
        let after_marker = if has_left_trim_marker(self.rest()) { TRIM_MARKER_LEN } else { 0 };
        if self.rest()[after_marker..].starts_with(b"/*") {
            self.pos += after_marker;
            self.start = self.pos;
            return self.comment();
        }
        let item = self.emit(Kind::LeftDelim);
        self.inside_action = true;
        self.paren_depth = 0;
        self.pos += after_marker;
        self.start = self.pos;
        Some(item)
    }

    /// At `/*`.
    fn comment(&mut self) -> Option<Item<'a>> {
        self.pos += b"/*".len();
        let Some(offset) = memmem::find(self.rest(), b"*/") else {
            return Some(self.fail("unclosed comment"));
        };
        self.pos += offset + b"*/".len();
        let Some(trim) = self.at_right_delim() else {
            return Some(self.fail("comment ends before closing delimiter"));
        };
        let item = self.emit(Kind::Comment);
        self.skip_right_delim(trim);
        self.start = self.pos;
        self.options.comments.then_some(item)
    }

    /// Whether a right delimiter is next, and if so whether it trims.
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_trim_marker(rest) && self.begins_right_delim(&rest[TRIM_MARKER_LEN..]) {
            return Some(true);
        }
        self.begins_right_delim(rest).then_some(false)
    }

    #[inline]
    fn begins_right_delim(&self, text: &[u8]) -> bool {
        // Nearly always the first byte tells.
        text.first() == self.options.right.first() && text.starts_with(self.options.right)
    }

    fn skip_right_delim(&mut self, trim: bool) {
        if trim {
            self.pos += TRIM_MARKER_LEN;
        }
        self.pos += self.options.right.len();
        if trim {
            self.skip_spaces();
        }
    }

    fn skip_spaces(&mut self) {
        while self.peek_byte().is_some_and(is_space) {
            self.pos += 1;
        }
    }

    fn right_delim(&mut self, trim: bool) -> Item<'a> {
        if trim {
            self.pos += TRIM_MARKER_LEN;
            self.start = self.pos;
        }
        self.pos += self.options.right.len();
        let item = self.emit(Kind::RightDelim);
        if trim {
            self.skip_spaces();
            self.start = self.pos;
        }
        self.inside_action = false;
        item
    }

    fn inside_action(&mut self) -> Item<'a> {
        if let Some(trim) = self.at_right_delim() {
            if self.paren_depth == 0 {
                return self.right_delim(trim);
            }
            return self.fail("unclosed left paren");
        }
        let Some((c, width)) = decode(self.rest()) else {
            return self.fail("unclosed action");
        };
        if c.is_ascii() && is_space(c as u8) {
            return self.space();
        }
        self.pos += width;
        match c {
            '=' => self.emit(Kind::Assign),
            ':' => {
                if self.peek_byte() != Some(b'=') {
                    return self.fail("expected :=");
                }
                self.pos += 1;
                self.emit(Kind::Declare)
            }
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted(b'"', Kind::String, "unterminated quoted string"),
            '\'' => self.quoted(b'\'', Kind::CharConstant, "unterminated character constant"),
            '`' => self.raw_quoted(),
            '$' => self.field_or_variable(Kind::Variable),
            // A dot can start a number.
            '.' if self.peek_byte().is_some_and(|b| !b.is_ascii_digit()) => {
                self.field_or_variable(Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.pos -= 1;
                self.number()
            }
            c if is_alphanumeric(c) => self.identifier(),
            '(' => {
                self.paren_depth += 1;
                self.emit(Kind::LeftParen)
            }
            ')' => {
                if self.paren_depth == 0 {
                    return self.fail("unexpected right paren");
                }
                self.paren_depth -= 1;
                self.emit(Kind::RightParen)
            }
            c if c.is_ascii_graphic() => self.emit(Kind::Char),
            c => self.fail(format!("unrecognized character in action: {}", code_point(c))),
        }
    }

    /// A run of spaces, but for the last one when it belongs to a right delimiter that trims.
    fn space(&mut self) -> Item<'a> {
        self.skip_spaces();
        let last = self.pos - 1;
        if has_right_trim_marker(&self.input[last..])
            && self.begins_right_delim(&self.input[last + TRIM_MARKER_LEN..])
        {
            self.pos = last;
            if last == self.start {
                return self.right_delim(true);
            }
        }
        self.emit(Kind::Space)
    }

    /// Takes letters and digits; returns the character after them.
    fn skip_alphanumeric(&mut self) -> Option<char> {
        loop {
            let rest = self.rest();
            self.pos += rest.iter().position(|byte| !IN_NAMES[usize::from(*byte)]).unwrap_or(rest.len());
            let (c, width) = decode(self.rest())?;
            if !is_alphanumeric(c) {
                return Some(c);
            }
            self.pos += width;
        }
    }

    fn bad_character(&mut self, c: Option<char>) -> Item<'a> {
        self.fail(format!("bad character {}", c.map(code_point).unwrap_or_default()))
    }

    fn identifier(&mut self) -> Item<'a> {
        let next = self.skip_alphanumeric();
        if !self.at_terminator() {
            return self.bad_character(next);
        }
        let kind = match &self.input[self.start..self.pos] {
            b"block" => Kind::Block,
            b"break" if self.options.break_keyword => Kind::Break,
            b"continue" if self.options.continue_keyword => Kind::Continue,
            b"define" => Kind::Define,
            b"else" => Kind::Else,
            b"end" => Kind::End,
            b"if" => Kind::If,
            b"range" => Kind::Range,
            b"nil" => Kind::Nil,
            b"template" => Kind::Template,
            b"with" => Kind::With,
            b"true" | b"false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.emit(kind)
    }

    /// After the dot or the dollar sign.
    fn field_or_variable(&mut self, kind: Kind) -> Item<'a> {
        if self.at_terminator() {
            let kind = if kind == Kind::Field { Kind::Dot } else { kind };
            return self.emit(kind);
        }
        let next = self.skip_alphanumeric();
        if !self.at_terminator() {
            return self.bad_character(next);
        }
        self.emit(kind)
    }

    /// Whether what is next may follow an identifier.
    fn at_terminator(&self) -> bool {
        match self.peek_byte() {
            None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'.' | b',' | b'|' | b':' | b')' | b'(') => true,
            Some(_) => self.begins_right_delim(self.rest()),
        }
    }

    /// After the opening quote.
    fn quoted(&mut self, quote: u8, kind: Kind, unterminated: &str) -> Item<'a> {
        loop {
            match self.peek_byte() {
                Some(b'\\') if !matches!(self.input.get(self.pos + 1), None | Some(b'\n')) => self.pos += 2,
                None | Some(b'\\' | b'\n') => return self.fail(unterminated),
                Some(byte) => {
                    self.pos += 1;
                    if byte == quote {
                        return self.emit(kind);
                    }
                }
            }
        }
    }

    /// After the opening back quote.
    fn raw_quoted(&mut self) -> Item<'a> {
        match memchr(b'`', self.rest()) {
            Some(offset) => {
                self.pos += offset + 1;
                self.emit(Kind::RawString)
            }
            None => self.fail("unterminated raw quoted string"),
        }
    }

    /// A number, loosely: what is wrong with it beyond this, its conversion finds.
    fn number(&mut self) -> Item<'a> {
        if !self.scan_number() {
            return self.bad_number();
        }
        if matches!(self.peek_byte(), Some(b'+' | b'-')) {
            if !self.scan_number() || self.input[self.pos - 1] != b'i' {
                return self.bad_number();
            }
            return self.emit(Kind::Complex);
        }
        self.emit(Kind::Number)
    }

    fn bad_number(&mut self) -> Item<'a> {
        self.fail(format!("bad number syntax: {}", quote(&self.input[self.start..self.pos])))
    }

    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut base = 10;
        if self.accept(b"0") {
            if self.accept(b"xX") {
                base = 16;
            } else if self.accept(b"oO") {
                base = 8;
            } else if self.accept(b"bB") {
                base = 2;
            }
        }
        self.accept_digits(base);
        if self.accept(b".") {
            self.accept_digits(base);
        }
        if (base == 10 && self.accept(b"eE")) || (base == 16 && self.accept(b"pP")) {
            self.accept(b"+-");
            self.accept_digits(10);
        }
        self.accept(b"i");
        match decode(self.rest()) {
            Some((c, width)) if is_alphanumeric(c) => {
                self.pos += width;
                false
            }
            _ => true,
        }
    }

    fn accept(&mut self, valid: &[u8]) -> bool {
        let accepted = self.peek_byte().is_some_and(|byte| valid.contains(&byte));
        self.pos += usize::from(accepted);
        accepted
    }

    fn accept_digits(&mut self, base: u32) {
        while self.peek_byte().is_some_and(|byte| byte == b'_' || char::from(byte).is_digit(base)) {
            self.pos += 1;
        }
    }
}
