//! The parts of a native template: text, tags and the tokens within them, as Tera's lexer cuts them.

/// A stretch of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text, comments and raw blocks: what is copied as it is.
    Verbatim(&'a str),
    /// `{{ … }}`
    Print(Tag<'a>),
    /// `{% … %}`
    Block(Tag<'a>),
}

/// What stands between two delimiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// The whole of it, delimiters included.
    pub text: &'a str,
    /// Where it begins in the template.
    pub start: usize,
    /// Whether the space before it is removed.
    pub trim_before: bool,
    /// Whether the space after it is removed.
    pub trim_after: bool,
    pub tokens: Vec<Token<'a>>,
}

/// A word, a literal or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    /// As it is written; a string with its quotes.
    pub text: &'a str,
    /// Where it begins in the template.
    pub start: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it is this word or operator.
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Text,
    Number,
    Operator,
}

/// Cuts a template into its parts; none if Tera will not read it either.
pub(super) fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut verbatim = 0;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'{', rest)) {
        let start = at + found;
        let block = match bytes.get(start + 1) {
            Some(b'#') => {
                at = start + memchr::memmem::find(&bytes[start..], b"#}")? + 2;
                continue;
            }
            Some(b'{') => false,
            Some(b'%') => true,
            _ => {
                at = start + 1;
                continue;
            }
        };
        if block && let Some(end) = raw(text, start)? {
            at = end;
            continue;
        }
        let tag = tag(text, start, if block { "%}" } else { "}}" })?;
        if verbatim < start {
            parts.push(Part::Verbatim(&text[verbatim..start]));
        }
        at = start + tag.text.len();
        verbatim = at;
        parts.push(if block { Part::Block(tag) } else { Part::Print(tag) });
    }
    if verbatim < text.len() {
        parts.push(Part::Verbatim(&text[verbatim..]));
    }
    Some(parts)
}

/// Where a raw block that begins here ends.
fn raw(text: &str, start: usize) -> Option<Option<usize>> {
    let Some(mut at) = named_tag(text, start, "raw") else { return Some(None) };
    loop {
        let next = at + text[at..].find("{%")?;
        match named_tag(text, next, "endraw") {
            Some(end) => return Some(Some(end)),
            None => at = next + 2,
        }
    }
}

/// The end of the tag that begins here, if it holds this word alone.
fn named_tag(text: &str, start: usize, name: &str) -> Option<usize> {
    let space = |c: char| c.is_ascii_whitespace();
    let rest = text[start..].strip_prefix("{%")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(space);
    let rest = rest.strip_prefix(name)?.trim_start_matches(space);
    let rest = rest.strip_prefix('-').unwrap_or(rest).strip_prefix("%}")?;
    Some(text.len() - rest.len())
}

fn tag<'a>(text: &'a str, start: usize, close: &str) -> Option<Tag<'a>> {
    let bytes = text.as_bytes();
    let trim_before = bytes.get(start + 2) == Some(&b'-');
    let mut at = start + 2 + usize::from(trim_before);
    let mut tokens = Vec::new();
    loop {
        at += bytes.get(at..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = &text[at..];
        let trim_after = rest.starts_with('-') && rest[1..].starts_with(close);
        if trim_after || rest.starts_with(close) {
            let end = at + usize::from(trim_after) + close.len();
            return Some(Tag { text: &text[start..end], start, trim_before, trim_after, tokens });
        }
        let (kind, length) = token(rest)?;
        tokens.push(Token { kind, text: &rest[..length], start: at });
        at += length;
    }
}

fn token(rest: &str) -> Option<(Kind, usize)> {
    const LONG: &[&str] = &["...", "//", "**", "==", "!=", ">=", "<=", "</", "?.", "?["];
    let bytes = rest.as_bytes();
    let first = *bytes.first()?;
    if let Some(operator) = LONG.iter().find(|operator| rest.starts_with(**operator)) {
        return Some((Kind::Operator, operator.len()));
    }
    match first {
        b'\'' | b'"' | b'`' => {
            let mut at = 1;
            loop {
                match *bytes.get(at)? {
                    b'\\' => at += 2,
                    byte if byte == first => return Some((Kind::Text, at + 1)),
                    _ => at += 1,
                }
            }
        }
        b'0'..=b'9' => {
            let mut point = false;
            let digit = |byte: &&u8| {
                let first_point = **byte == b'.' && !point;
                point |= first_point;
                first_point || byte.is_ascii_digit()
            };
            Some((Kind::Number, bytes.iter().take_while(digit).count()))
        }
        b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
            let word = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric();
            Some((Kind::Word, bytes.iter().take_while(word).count()))
        }
        _ if b"+-*/%!.,:~|=><()[]{}@".contains(&first) => Some((Kind::Operator, 1)),
        _ => None,
    }
}

/// The value of a string literal.
pub(super) fn unquoted(literal: &str) -> String {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('r')) => text.push('\r'),
            ('\\', Some(other)) => text.push(other),
            _ => text.push(c),
        }
    }
    text
}
