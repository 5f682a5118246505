//! Upper and lower case, and the names that programmers make of words, as Go's strings, goutils and xstrings do.

use std::borrow::Cow;

use tera::Value;

use crate::{
    functions::{Call, Outcome, call::decode, unicode},
    value::typed,
};

pub(super) fn lower(call: &Call<'_>) -> Outcome {
    Ok(mapped(call, |b| b.to_ascii_lowercase(), unicode::to_lower))
}

pub(super) fn upper(call: &Call<'_>) -> Outcome {
    Ok(mapped(call, |b| b.to_ascii_uppercase(), unicode::to_upper))
}

/// The text with each rune mapped; the argument itself where nothing changes.
fn mapped(call: &Call<'_>, ascii: fn(u8) -> u8, rune: fn(char) -> char) -> Value {
    let text = call.text(0);
    if matches!(text, Cow::Borrowed(_)) && text.is_ascii() {
        if text.bytes().all(|b| ascii(b) == b) {
            return call.arg(0).clone();
        }
        return Value::from(text.bytes().map(|b| char::from(ascii(b))).collect::<String>());
    }
    Value::from(text.chars().map(rune).collect::<String>())
}

/// Go's `strings.Title`: a letter after anything that is neither letter, digit nor underscore (beyond ASCII: after white
/// space) gets its title case.
pub(super) fn title(call: &Call<'_>) -> Outcome {
    let mut before = ' ';
    Ok(per_rune(call, |c| {
        let starts = is_separator(before);
        before = c;
        if starts { unicode::to_title(c) } else { c }
    }))
}

fn is_separator(c: char) -> bool {
    if c.is_ascii() { !(c.is_ascii_alphanumeric() || c == '_') } else { c.is_whitespace() }
}

/// goutils' `Uncapitalize`.
pub(super) fn untitle(call: &Call<'_>) -> Outcome {
    let mut starts = true;
    Ok(per_rune(call, |c| {
        if c.is_whitespace() {
            starts = true;
            c
        } else if std::mem::take(&mut starts) {
            unicode::to_lower(c)
        } else {
            c
        }
    }))
}

/// goutils' `SwapCase`.
pub(super) fn swapcase(call: &Call<'_>) -> Outcome {
    let mut after_space = true;
    Ok(per_rune(call, |c| {
        if unicode::is_upper(c) || unicode::is_title(c) {
            after_space = false;
            unicode::to_lower(c)
        } else if unicode::is_lower(c) {
            if std::mem::take(&mut after_space) { unicode::to_title(c) } else { unicode::to_upper(c) }
        } else {
            after_space = c.is_whitespace();
            c
        }
    }))
}

fn per_rune(call: &Call<'_>, rune: impl FnMut(char) -> char) -> Value {
    Value::from(call.text(0).chars().map(rune).collect::<String>())
}

/// goutils' `Initials`, which takes bytes for runes.
pub(super) fn initials(call: &Call<'_>) -> Outcome {
    let mut after_gap = true;
    let mut out = String::new();
    for c in call.bytes(0).iter().map(|&byte| char::from(byte)) {
        if c.is_whitespace() {
            after_gap = true;
        } else if std::mem::take(&mut after_gap) {
            out.push(c);
        }
    }
    Ok(Value::from(out))
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// xstrings' `ToPascalCase`: connectors go, the letter after one becomes upper case, runs of upper case letters lose it.
pub(super) fn camelcase(call: &Call<'_>) -> Outcome {
    let text = call.text(0);
    let rest = text.trim_start_matches(is_connector);
    let mut out = String::with_capacity(text.len());
    // Connectors that lead stay.
    out.push_str(&text[..text.len() - rest.len()]);
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        // The connectors were all there was: xstrings writes the last one twice.
        out.extend(text.chars().next_back());
        return Ok(Value::from(out));
    };
    let mut in_upper_run = unicode::is_upper(first);
    let mut current = unicode::to_upper(first);
    for mut next in chars {
        let before = std::mem::replace(&mut current, next);
        if is_connector(next) && is_connector(before) {
            out.push(before);
            continue;
        }
        if is_connector(before) {
            in_upper_run = unicode::is_upper(next);
            next = unicode::to_upper(next);
        } else {
            if in_upper_run {
                if unicode::is_upper(next) {
                    next = unicode::to_lower(next);
                } else {
                    in_upper_run = false;
                }
            }
            out.push(before);
        }
        current = next;
    }
    out.push(current);
    Ok(Value::from(out))
}

pub(super) fn snakecase(call: &Call<'_>) -> Outcome {
    Ok(typed::text(words(call.bytes(0), '_')))
}

pub(super) fn kebabcase(call: &Call<'_>) -> Outcome {
    Ok(typed::text(words(call.bytes(0), '-')))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Nothing is left.
    End,
    Number,
    /// Starts with an upper case letter.
    Upper,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

/// xstrings' walk over the words of a name: lower case, with `connector` between words. A number belongs to the word
/// before it, unless lower case letters follow it.
fn words(text: &[u8], connector: char) -> Vec<u8> {
    let mut out = Output { bytes: Vec::with_capacity(text.len() + 8), connector };
    let mut words = Words { rest: text };
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Word::Connector {
            out.word(kind, word);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Word::Number => {
                (kind, word) = words.rest_of_number(&mut out, kind, word);
                if !matches!(kind, Word::End | Word::Punctuation | Word::Connector) {
                    out.connect();
                }
            }
            Word::Connector => out.word(before, last),
            Word::Punctuation => {}
            _ if kind != Word::Number => {
                if !matches!(kind, Word::Connector | Word::Punctuation) {
                    out.connect();
                }
            }
            _ if words.rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word) = words.next();
                if kind == Word::Alphabet {
                    out.connect();
                    out.word(Word::Number, number);
                    (kind, word) = words.rest_of_number(&mut out, kind, word);
                    if !matches!(kind, Word::End | Word::Punctuation | Word::Connector) {
                        out.connect();
                    }
                } else {
                    out.word(Word::Number, number);
                    if !matches!(kind, Word::Connector | Word::Punctuation) {
                        out.connect();
                    }
                }
            }
        }
    }
    out.word(kind, word);
    out.bytes
}

struct Output {
    bytes: Vec<u8>,
    connector: char,
}

impl Output {
    fn connect(&mut self) {
        self.push(self.connector);
    }

    fn push(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Writes a word in lower case; all but words that begin with a capital are that already.
    fn word(&mut self, kind: Word, word: &[u8]) {
        if !matches!(kind, Word::Upper | Word::Connector) {
            self.bytes.extend_from_slice(word);
            return;
        }
        for c in decode(word).chars() {
            let c = if is_connector(c) {
                self.connector
            } else if unicode::is_upper(c) {
                unicode::to_lower(c)
            } else {
                c
            };
            self.push(c);
        }
    }
}

struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// Takes the next word off.
    fn next(&mut self) -> (Word, &'a [u8]) {
        let text = self.rest;
        let mut runes = Runes { text, at: 0 };
        let Some(first) = runes.peek(None) else {
            self.rest = &[];
            return (Word::End, text);
        };
        runes.take();
        let kind = if is_connector(first) {
            runes.take_while(first, is_connector);
            Word::Connector
        } else if unicode::is_punct(first) {
            runes.take_while(first, unicode::is_punct);
            Word::Punctuation
        } else if unicode::is_upper(first) {
            runes.take_upper_word(first);
            Word::Upper
        } else if is_alphabet(first) {
            runes.take_while(first, |c| is_alphabet(c) && !unicode::is_upper(c));
            Word::Alphabet
        } else if unicode::is_number(first) {
            runes.take_while(first, unicode::is_number);
            Word::Number
        } else {
            let other =
                |c| !(is_connector(c) || is_alphabet(c) || unicode::is_number(c) || unicode::is_punct(c));
            runes.take_while(first, other);
            Word::Other
        };
        let (word, rest) = text.split_at(runes.at);
        self.rest = rest;
        (kind, word)
    }

    /// Writes the letters and numbers that follow a number, and answers the word after them.
    fn rest_of_number(&mut self, out: &mut Output, mut kind: Word, mut word: &'a [u8]) -> (Word, &'a [u8]) {
        while matches!(kind, Word::Alphabet | Word::Number) {
            out.word(kind, word);
            (kind, word) = self.next();
        }
        (kind, word)
    }
}

/// The runes of a text that are not damaged: U+FFFD and what is not UTF-8 count as part of the rune after them.
struct Runes<'a> {
    text: &'a [u8],
    at: usize,
}

impl Runes<'_> {
    /// The next rune and where it ends, beyond all damage.
    fn find(&self) -> Option<(char, usize)> {
        let mut at = self.at;
        for rune in super::runes(&self.text[self.at..]) {
            at += rune.len();
            match std::str::from_utf8(rune).ok().and_then(|rune| rune.chars().next()) {
                None | Some(char::REPLACEMENT_CHARACTER) => {}
                Some(c) => return Some((c, at)),
            }
        }
        None
    }

    /// The next rune; where there is only damage left, it counts as the rune before.
    fn peek(&self, before: Option<char>) -> Option<char> {
        if self.at == self.text.len() {
            return None;
        }
        self.find().map(|(c, _)| c).or(before)
    }

    /// Takes what `peek` answered.
    fn take(&mut self) {
        self.at = self.find().map_or(self.text.len(), |(_, end)| end);
    }

    fn take_while(&mut self, mut before: char, matches: impl Fn(char) -> bool) {
        while let Some(c) = self.peek(Some(before)) {
            if !matches(c) {
                break;
            }
            before = c;
            self.take();
        }
    }

    /// `HTTP` of `HTTPServer`, `Server` of `ServerName`.
    fn take_upper_word(&mut self, first: char) {
        let Some(second) = self.peek(Some(first)) else { return };
        if unicode::is_upper(second) {
            let mut before_last = self.at;
            self.take();
            let mut last = second;
            while let Some(c) = self.peek(Some(last)) {
                last = c;
                if !unicode::is_upper(c) {
                    // The last upper case letter begins the word that follows.
                    if is_alphabet(c) {
                        self.at = before_last;
                    }
                    return;
                }
                before_last = self.at;
                self.take();
            }
        } else if is_alphabet(second) {
            self.take();
            self.take_while(second, |c| is_alphabet(c) && !unicode::is_upper(c));
        }
    }
}

/// xstrings' letters: those that are not Chinese, Japanese or Korean ideographs.
fn is_alphabet(c: char) -> bool {
    unicode::is_letter(c)
        && !matches!(c, '\u{4E00}'..='\u{9FCC}' | '\u{3400}'..='\u{4D85}' | '\u{20000}'..='\u{2B81D}')
}
