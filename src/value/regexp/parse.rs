//! Reading RE2 syntax, as Go's regexp/syntax does with its Perl flags, into what the regex crate compiles.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, Look, Repetition};

use super::{
    class,
    error::{Code, Error},
};

/// How deep an expression may nest.
const MAX_HEIGHT: usize = 1000;

/// How often something may be repeated, repetitions around it multiplied.
const MAX_REPEAT: u32 = 1000;

/// An expression that has been read.
pub(super) struct Parsed {
    pub(super) hir: Hir,
    /// The names of the groups, the whole match first; empty for those without one.
    pub(super) names: Vec<String>,
}

#[derive(Clone, Copy)]
struct Flags {
    /// `i`
    fold: bool,
    /// `m`
    multi_line: bool,
    /// `s`
    dot_all: bool,
    /// `U`
    swap_greed: bool,
}

/// A part of an expression, with what its limits need.
struct Item {
    hir: Hir,
    height: usize,
    /// How often the innermost part is repeated.
    repeats: u32,
}

impl Item {
    const fn leaf(hir: Hir) -> Self {
        Self { hir, height: 1, repeats: 1 }
    }
}

/// A group that is being read.
struct Group {
    /// The flags outside.
    flags: Flags,
    /// The number of the group, if it captures.
    capture: Option<u32>,
    branches: Vec<Item>,
    items: Vec<Item>,
}

impl Group {
    const fn new(flags: Flags, capture: Option<u32>) -> Self {
        Self { flags, capture, branches: Vec::new(), items: Vec::new() }
    }

    fn end_branch(&mut self) {
        let items = std::mem::take(&mut self.items);
        self.branches.push(joined(items, Hir::concat));
    }

    fn end(mut self) -> Item {
        self.end_branch();
        joined(self.branches, Hir::alternation)
    }
}

fn joined(mut items: Vec<Item>, how: fn(Vec<Hir>) -> Hir) -> Item {
    match items.len() {
        0 => Item::leaf(Hir::empty()),
        1 => items.remove(0),
        _ => Item {
            height: 1 + items.iter().map(|item| item.height).max().unwrap_or(0),
            repeats: items.iter().map(|item| item.repeats).max().unwrap_or(1),
            hir: how(items.into_iter().map(|item| item.hir).collect()),
        },
    }
}

/// Reads an expression. What is not UTF-8 is an error where Go gets to it, and mistakes in syntax before that come first.
pub(super) fn parse(expression: &[u8]) -> Result<Parsed, Error> {
    match std::str::from_utf8(expression) {
        Ok(text) => read(text, false),
        Err(_) => read(&marked(expression), true)
            .map_err(|error| Error { text: error.text.replace(is_mark, "\u{FFFD}") }),
    }
}

fn read(text: &str, damaged: bool) -> Result<Parsed, Error> {
    let mut parser = Parser::new(text, damaged);
    parser.run()?;
    if parser.groups.len() > 1 {
        return Err(Code::MissingParen.of(text));
    }
    let item = parser.groups.pop().map_or_else(|| Item::leaf(Hir::empty()), Group::end);
    parser.check_height(&item)?;
    Ok(Parsed { hir: item.hir, names: parser.names })
}

/// The text with a character that no expression has in place of each byte that is not UTF-8.
fn marked(expression: &[u8]) -> String {
    let mut text = String::with_capacity(expression.len() + 16);
    for chunk in expression.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| MARK));
    }
    text
}

/// The last character that there is; it has no meaning.
const MARK: char = char::MAX;

fn is_mark(c: char) -> bool {
    c == MARK
}

struct Parser<'t> {
    whole: &'t str,
    rest: &'t str,
    flags: Flags,
    groups: Vec<Group>,
    names: Vec<String>,
    /// Whether the text has marks for what is not UTF-8.
    damaged: bool,
}

impl<'t> Parser<'t> {
    fn new(whole: &'t str, damaged: bool) -> Self {
        let flags = Flags { fold: false, multi_line: false, dot_all: false, swap_greed: false };
        let groups = vec![Group::new(flags, None)];
        Self { whole, rest: whole, flags, groups, names: vec![String::new()], damaged }
    }

    /// Refuses a text at its first byte that is not UTF-8.
    fn check_utf8(&self, text: &str) -> Result<(), Error> {
        match text.find(MARK).filter(|_| self.damaged) {
            Some(at) => Err(Code::InvalidUtf8.of(&text[at..])),
            None => Ok(()),
        }
    }

    /// Takes the next character.
    fn next_char(&mut self) -> Result<Option<char>, Error> {
        let Some(c) = self.rest.chars().next() else { return Ok(None) };
        if c == MARK {
            self.check_utf8(self.rest)?;
        }
        self.rest = &self.rest[c.len_utf8()..];
        Ok(Some(c))
    }

    fn group(&mut self) -> &mut Group {
        self.groups.last_mut().expect("the outermost group is never closed")
    }

    fn push(&mut self, hir: Hir) {
        self.group().items.push(Item::leaf(hir));
    }

    fn push_class(&mut self, class: ClassUnicode) {
        self.push(Hir::class(Class::Unicode(class)));
    }

    /// A character that Go may hold for a surrogate, which no text has.
    fn push_code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(c) if self.flags.fold => self.push_class(class::folded(class::of_ranges(&[(c, c)]), true)),
            Some(c) => self.push(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec())),
            None => self.push_class(class::of_ranges(&[])),
        }
    }

    fn check_height(&self, item: &Item) -> Result<(), Error> {
        if item.height > MAX_HEIGHT { Err(Code::NestingDepth.of(self.whole)) } else { Ok(()) }
    }

    fn run(&mut self) -> Result<(), Error> {
        // The text from the last repetition on, if it has just been read.
        let mut last_repeat: Option<&str> = None;
        while !self.rest.is_empty() {
            let before = self.rest;
            let Some(c) = self.next_char()? else { break };
            let mut repeated = None;
            match c {
                '(' if self.rest.starts_with('?') => {
                    self.rest = before;
                    self.perl_group()?;
                }
                '(' => self.open_capture(String::new()),
                ')' => self.close_group()?,
                '|' => self.group().end_branch(),
                '^' if self.flags.multi_line => self.push(Hir::look(Look::StartLF)),
                '^' => self.push(Hir::look(Look::Start)),
                '$' if self.flags.multi_line => self.push(Hir::look(Look::EndLF)),
                '$' => self.push(Hir::look(Look::End)),
                '.' if self.flags.dot_all => self.push_class(class::any()),
                '.' => self.push_class(class::negated(class::of_ranges(&[('\n', '\n')]), true)),
                '[' => {
                    self.rest = before;
                    self.bracketed_class()?;
                }
                '*' => {
                    self.repeat((0, None), before, last_repeat)?;
                    repeated = Some(before);
                }
                '+' => {
                    self.repeat((1, None), before, last_repeat)?;
                    repeated = Some(before);
                }
                '?' => {
                    self.repeat((0, Some(1)), before, last_repeat)?;
                    repeated = Some(before);
                }
                '{' => match counts(self.rest) {
                    None => self.push_code(u32::from('{')),
                    Some((range, rest)) => {
                        self.rest = rest;
                        let (least, most) =
                            range.ok_or_else(|| Code::InvalidRepeatSize.of(upto(before, self.rest)))?;
                        self.repeat((least, most), before, last_repeat)?;
                        let counted = least >= 2 || most.is_some_and(|most| most >= 2);
                        let repeats = self.group().items.last().map_or(0, |item| item.repeats);
                        if counted && repeats > MAX_REPEAT {
                            return Err(Code::InvalidRepeatSize.of(upto(before, self.rest)));
                        }
                        repeated = Some(before);
                    }
                },
                '\\' => {
                    self.rest = before;
                    self.escape()?;
                }
                c => self.push_code(u32::from(c)),
            }
            last_repeat = repeated;
        }
        Ok(())
    }

    fn open_capture(&mut self, name: String) {
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name);
        self.groups.push(Group::new(self.flags, Some(number)));
    }

    fn close_group(&mut self) -> Result<(), Error> {
        if self.groups.len() < 2 {
            return Err(Code::UnexpectedParen.of(self.whole));
        }
        let Some(group) = self.groups.pop() else { return Ok(()) };
        self.flags = group.flags;
        let capture = group.capture;
        let mut item = group.end();
        if let Some(index) = capture {
            item.height += 1;
            item.hir = Hir::capture(Capture { index, name: None, sub: Box::new(item.hir) });
        }
        self.check_height(&item)?;
        self.group().items.push(item);
        Ok(())
    }

    /// Repeats the last item. `before` is the text from the operator on.
    fn repeat(
        &mut self,
        (min, max): (u32, Option<u32>),
        before: &str,
        last: Option<&str>,
    ) -> Result<(), Error> {
        let mut greedy = !self.flags.swap_greed;
        if let Some(rest) = self.rest.strip_prefix('?') {
            self.rest = rest;
            greedy = !greedy;
        }
        if let Some(last) = last {
            return Err(Code::InvalidRepeatOp.of(upto(last, self.rest)));
        }
        let Some(item) = self.group().items.pop() else {
            return Err(Code::MissingRepeatArgument.of(upto(before, self.rest)));
        };
        let counted = before.starts_with('{');
        let times = max.unwrap_or(min);
        let repeats = match (counted, max) {
            (true, Some(0)) => 0,
            (true, _) if times > 0 => times.max(times.saturating_mul(item.repeats)),
            _ => item.repeats,
        };
        let sub = Box::new(item.hir);
        let repeated = Item {
            hir: Hir::repetition(Repetition { min, max, greedy, sub }),
            height: item.height + 1,
            repeats,
        };
        self.check_height(&repeated)?;
        self.group().items.push(repeated);
        Ok(())
    }

    /// A group that begins with `(?`: named, with flags, or flags alone.
    fn perl_group(&mut self) -> Result<(), Error> {
        let text = self.rest;
        let named = match text.as_bytes() {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        if let Some(start) = named {
            let Some(end) = text.find('>') else {
                self.check_utf8(text)?;
                return Err(Code::InvalidNamedCapture.of(text));
            };
            let name = text.get(start..end).unwrap_or_default();
            self.check_utf8(name)?;
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err(Code::InvalidNamedCapture.of(&text[..=end]));
            }
            self.rest = &text[end + 1..];
            self.open_capture(name.to_owned());
            return Ok(());
        }
        let mut flags = self.flags;
        let (mut set, mut seen) = (true, false);
        self.rest = &text[2..];
        while let Some(c) = self.next_char()? {
            match c {
                'i' => flags.fold = set,
                'm' => flags.multi_line = set,
                's' => flags.dot_all = set,
                'U' => flags.swap_greed = set,
                '-' if set => {
                    (set, seen) = (false, false);
                    continue;
                }
                ':' | ')' if set || seen => {
                    if c == ':' {
                        self.groups.push(Group::new(self.flags, None));
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err(Code::InvalidPerlOp.of(upto(text, self.rest))),
            }
            seen = true;
        }
        Err(Code::InvalidPerlOp.of(text))
    }

    /// An escape outside of a class.
    fn escape(&mut self) -> Result<(), Error> {
        let text = self.rest;
        let look = match text.as_bytes().get(1) {
            Some(b'A') => Some(Look::Start),
            Some(b'z') => Some(Look::End),
            Some(b'b') => Some(Look::WordAscii),
            Some(b'B') => Some(Look::WordAsciiNegate),
            Some(b'C') => return Err(Code::InvalidEscape.of(&text[..2])),
            Some(b'Q') => {
                let (literal, rest) = text[2..].split_once("\\E").unwrap_or((&text[2..], ""));
                self.check_utf8(literal)?;
                for c in literal.chars() {
                    self.push_code(u32::from(c));
                }
                self.rest = rest;
                return Ok(());
            }
            _ => None,
        };
        if let Some(look) = look {
            self.rest = &text[2..];
            self.push(Hir::look(look));
        } else if let Some(class) = self.escaped_class()? {
            self.push_class(class);
        } else {
            let code = self.escaped_code()?;
            self.push_code(code);
        }
        Ok(())
    }

    /// The class behind an escape such as `\d` or `\pL`, if it is one.
    fn escaped_class(&mut self) -> Result<Option<ClassUnicode>, Error> {
        let text = self.rest;
        let Some(&letter) = text.as_bytes().get(1).filter(|_| text.starts_with('\\')) else {
            return Ok(None);
        };
        if let Some((class, negate)) = class::perl(letter) {
            self.rest = &text[2..];
            return Ok(Some(class::negated(class::folded(class, self.flags.fold), negate)));
        }
        if !matches!(letter, b'p' | b'P') {
            return Ok(None);
        }
        let (sequence, name) = match text[2..].chars().next() {
            Some('{') => {
                let Some(end) = text.find('}') else {
                    self.check_utf8(text)?;
                    return Err(Code::InvalidCharRange.of(text));
                };
                self.check_utf8(&text[3..end])?;
                (&text[..=end], &text[3..end])
            }
            Some(MARK) if self.damaged => return self.check_utf8(&text[2..]).map(|()| None),
            Some(c) => (&text[..2 + c.len_utf8()], &text[2..2 + c.len_utf8()]),
            None => return Err(Code::InvalidCharRange.of(text)),
        };
        let plain = name.strip_prefix('^').unwrap_or(name);
        let negate = (letter == b'P') != (plain.len() < name.len());
        let class = class::unicode(plain).ok_or_else(|| Code::InvalidCharRange.of(sequence))?;
        self.rest = &text[sequence.len()..];
        Ok(Some(class::negated(class::folded(class, self.flags.fold), negate)))
    }

    /// The character behind an escape.
    fn escaped_code(&mut self) -> Result<u32, Error> {
        let text = self.rest;
        self.rest = &text[1..];
        let c = self.next_char()?.ok_or_else(|| Code::TrailingBackslash.of(""))?;
        let octal = |byte: u8| matches!(byte, b'0'..=b'7');
        let code = match c {
            '0'..='7' if c == '0' || self.rest.bytes().next().is_some_and(octal) => {
                let more = self.rest.bytes().take(2).take_while(|byte| octal(*byte)).count();
                let (digits, rest) = self.rest.split_at(more);
                self.rest = rest;
                Some(digits.bytes().fold(u32::from(c) - 48, |code, digit| code * 8 + u32::from(digit - b'0')))
            }
            'x' => self.hex_code()?,
            'a' => Some(0x07),
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
            _ => None,
        };
        code.ok_or_else(|| Code::InvalidEscape.of(upto(text, self.rest)))
    }

    /// The digits after `\x`. What has been read of a wrong one is part of the error.
    fn hex_code(&mut self) -> Result<Option<u32>, Error> {
        let Some(first) = self.next_char()? else { return Ok(None) };
        if first != '{' {
            let (first, second) = (first.to_digit(16), self.next_char()?);
            return Ok(first.zip(second.and_then(|c| c.to_digit(16))).map(|(high, low)| high * 16 + low));
        }
        let (mut code, mut digits) = (0, 0);
        while let Some(c) = self.next_char()? {
            if c == '}' {
                return Ok((digits > 0).then_some(code));
            }
            let Some(digit) = c.to_digit(16) else { return Ok(None) };
            code = code * 16 + digit;
            if code > u32::from(char::MAX) {
                return Ok(None);
            }
            digits += 1;
        }
        Ok(None)
    }

    fn bracketed_class(&mut self) -> Result<(), Error> {
        let whole = self.rest;
        self.rest = &whole[1..];
        let negate = self.rest.starts_with('^');
        if negate {
            self.rest = &self.rest[1..];
        }
        let mut class = class::of_ranges(&[]);
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if self.rest.len() > 2
                && let Some(named) = self.posix_class()?
            {
                class.union(&named);
                continue;
            }
            if let Some(escaped) = self.escaped_class()? {
                class.union(&escaped);
                continue;
            }
            let start = self.rest;
            let low = self.class_code(whole)?;
            let mut high = low;
            if self.rest.len() >= 2 && self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.rest = &self.rest[1..];
                high = self.class_code(whole)?;
                if high < low {
                    return Err(Code::InvalidCharRange.of(upto(start, self.rest)));
                }
            }
            class.union(&class::folded(of_codes(low, high), self.flags.fold));
        }
        self.rest = &self.rest[1..];
        self.push_class(class::negated(class, negate));
        Ok(())
    }

    /// A class such as `[:alpha:]` or `[:^alpha:]`.
    fn posix_class(&mut self) -> Result<Option<ClassUnicode>, Error> {
        let text = self.rest;
        let Some(end) = text.strip_prefix("[:").and_then(|inner| inner.find(":]")) else { return Ok(None) };
        let name = &text[2..2 + end];
        let plain = name.strip_prefix('^').unwrap_or(name);
        let class = class::posix(plain).ok_or_else(|| Code::InvalidCharRange.of(&text[..end + 4]))?;
        self.rest = &text[end + 4..];
        Ok(Some(class::negated(class::folded(class, self.flags.fold), plain.len() < name.len())))
    }

    fn class_code(&mut self, whole: &str) -> Result<u32, Error> {
        if self.rest.starts_with('\\') {
            return self.escaped_code();
        }
        self.next_char()?.map(u32::from).ok_or_else(|| Code::MissingBracket.of(whole))
    }
}

/// A range of codes, without the surrogates, which are no characters.
fn of_codes(low: u32, high: u32) -> ClassUnicode {
    let low = char::from_u32(low).unwrap_or('\u{E000}');
    let high = char::from_u32(high).unwrap_or('\u{D7FF}');
    let range = [(low, high)];
    class::of_ranges(if low <= high { &range } else { &[] })
}

/// The part of a text before its rest.
fn upto<'t>(text: &'t str, rest: &str) -> &'t str {
    &text[..text.len() - rest.len()]
}

/// What stands in the braces of a repetition: the least and the most.
type Counts = (u32, Option<u32>);

/// The counts of a repetition, after its brace, and the text behind it. None for what is not of that form; no counts for
/// numbers that are too large or out of order.
fn counts(text: &str) -> Option<(Option<Counts>, &str)> {
    let (least, rest) = count(text)?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (most, rest) = count(rest)?;
            (Some(most), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    let valid = least <= MAX_REPEAT && most.is_none_or(|most| most <= MAX_REPEAT && least <= most);
    Some((valid.then_some((least, most)), rest))
}

/// A number without leading zeros; a larger one than fits is the largest.
fn count(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || number.len() > 1 && number.starts_with('0') {
        return None;
    }
    Some((number.parse().unwrap_or(u32::MAX), rest))
}
