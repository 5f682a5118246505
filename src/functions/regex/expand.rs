//! Replacements with references to groups: `$1`, `${1}`, `$name`.

use crate::functions::unicode;

/// A replacement.
pub(super) enum Template<'t> {
    /// Text as it is.
    Literal(&'t [u8]),
    /// Text and references in turn.
    Parts(Vec<Part<'t>>),
}

/// A piece of a replacement.
pub(super) enum Part<'t> {
    Text(&'t [u8]),
    Number(usize),
    Name(&'t [u8]),
}

impl<'t> Template<'t> {
    /// Reads a replacement. A dollar sign that begins no reference is itself.
    pub(super) fn parse(mut text: &'t [u8]) -> Self {
        let mut parts = Vec::new();
        while let Some(dollar) = memchr::memchr(b'$', text) {
            let (before, after) = (&text[..dollar], &text[dollar + 1..]);
            parts.push(Part::Text(before));
            if after.first() == Some(&b'$') {
                parts.push(Part::Text(b"$"));
                text = &after[1..];
            } else if let Some((part, rest)) = reference(after) {
                parts.push(part);
                text = rest;
            } else {
                parts.push(Part::Text(b"$"));
                text = after;
            }
        }
        if parts.is_empty() {
            return Self::Literal(text);
        }
        parts.push(Part::Text(text));
        Self::Parts(parts)
    }

    /// Whether there are references to more than the text itself.
    pub(super) fn needs_groups(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.iter().any(|part| !matches!(part, Part::Text(_))))
    }

    /// Appends the replacement with the texts of the groups.
    pub(super) fn expand<'g>(
        &self,
        out: &mut Vec<u8>,
        names: &[String],
        group: impl Fn(usize) -> Option<&'g [u8]>,
    ) {
        let parts = match self {
            Self::Literal(text) => return out.extend_from_slice(text),
            Self::Parts(parts) => parts,
        };
        for part in parts {
            let text = match part {
                Part::Text(text) => Some(*text),
                Part::Number(number) => group(*number),
                Part::Name(name) => names
                    .iter()
                    .enumerate()
                    .filter(|(_, known)| known.as_bytes() == *name)
                    .find_map(|(number, _)| group(number)),
            };
            out.extend_from_slice(text.unwrap_or_default());
        }
    }
}

/// The reference after a dollar sign, and the text behind it.
fn reference(text: &[u8]) -> Option<(Part<'_>, &[u8])> {
    let braced = text.first() == Some(&b'{');
    let inner = if braced { &text[1..] } else { text };
    let mut length = 0;
    while let Some(c) = inner[length..].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) {
        if c != '_' && !unicode::is_letter(c) && !unicode::is_decimal_digit(c) {
            break;
        }
        length += c.len_utf8();
    }
    let (name, rest) = inner.split_at(length);
    if name.is_empty() {
        return None;
    }
    let rest = if braced { rest.strip_prefix(b"}")? } else { rest };
    Some((number(name).map_or(Part::Name(name), Part::Number), rest))
}

/// The number that a name is: digits without leading zeros, up to nine of them.
fn number(name: &[u8]) -> Option<usize> {
    if name.len() > 9 || name.len() > 1 && name[0] == b'0' || !name.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(name).ok()?.parse().ok()
}
