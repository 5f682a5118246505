//! Upper and lower case, and the names that programmers make of words, as Go's strings, goutils and xstrings do.

use std::borrow::Cow;

use tera::Value;

use crate::functions::{Call, Outcome, unicode};

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
    Ok(Value::from(words(&call.text(0), '_')))
}

pub(super) fn kebabcase(call: &Call<'_>) -> Outcome {
    Ok(Value::from(words(&call.text(0), '-')))
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
fn words(text: &str, connector: char) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut words = Words { rest: text };
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Word::Connector {
            lower_word(&mut out, kind, word, connector);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Word::Number => {
                (kind, word) = words.rest_of_number(&mut out, kind, word, connector);
                if !matches!(kind, Word::End | Word::Punctuation | Word::Connector) {
                    out.push(connector);
                }
            }
            Word::Connector => lower_word(&mut out, before, last, connector),
            Word::Punctuation => {}
            _ if kind != Word::Number => {
                if !matches!(kind, Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
            _ if words.rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word) = words.next();
                if kind == Word::Alphabet {
                    out.push(connector);
                    lower_word(&mut out, Word::Number, number, connector);
                    (kind, word) = words.rest_of_number(&mut out, kind, word, connector);
                    if !matches!(kind, Word::End | Word::Punctuation | Word::Connector) {
                        out.push(connector);
                    }
                } else {
                    lower_word(&mut out, Word::Number, number, connector);
                    if !matches!(kind, Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    lower_word(&mut out, kind, word, connector);
    out
}

fn lower_word(out: &mut String, kind: Word, word: &str, connector: char) {
    match kind {
        Word::Upper => {
            out.extend(word.chars().map(|c| if unicode::is_upper(c) { unicode::to_lower(c) } else { c }));
        }
        Word::Connector => out.extend(word.chars().map(|c| if is_connector(c) { connector } else { c })),
        _ => out.push_str(word),
    }
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Takes the next word off.
    fn next(&mut self) -> (Word, &'a str) {
        let text = self.rest;
        // U+FFFD counts as damage: it takes on the kind of the rune before it.
        let mut runes = Runes { text, at: 0 };
        let Some(first) = runes.peek(None) else {
            self.rest = "";
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
    fn rest_of_number(
        &mut self,
        out: &mut String,
        mut kind: Word,
        mut word: &'a str,
        connector: char,
    ) -> (Word, &'a str) {
        while matches!(kind, Word::Alphabet | Word::Number) {
            lower_word(out, kind, word, connector);
            (kind, word) = self.next();
        }
        (kind, word)
    }
}

struct Runes<'a> {
    text: &'a str,
    at: usize,
}

impl Runes<'_> {
    /// The next rune; U+FFFD is passed over, and where nothing else is left, counts as the one before.
    fn peek(&self, before: Option<char>) -> Option<char> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            None
        } else {
            rest.chars().find(|&c| c != char::REPLACEMENT_CHARACTER).or(before)
        }
    }

    /// Takes what `peek` answered, with the U+FFFD before it.
    fn take(&mut self) {
        let rest = &self.text[self.at..];
        let found = rest.char_indices().find(|&(_, c)| c != char::REPLACEMENT_CHARACTER);
        self.at += found.map_or(rest.len(), |(at, c)| at + c.len_utf8());
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
