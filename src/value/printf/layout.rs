//! Flags, width and precision, and how a single item is laid out by them.

use super::float;
use crate::value::{
    printable::is_printable,
    quote::{can_backquote, character, quote_char_with, quote_with},
};

/// What stands between `%` and the verb.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout {
    pub width: Option<usize>,
    pub precision: Option<usize>,
    pub minus: bool,
    pub plus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    /// `%+v`
    pub plus_v: bool,
    /// `%#v`
    pub sharp_v: bool,
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

fn digits_of(upper: bool) -> &'static [u8; 16] {
    if upper { UPPER } else { LOWER }
}

/// The number of runes that Go counts: each byte that is not UTF-8 is one.
fn rune_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

impl Layout {
    fn padding(&self, out: &mut Vec<u8>, count: usize) {
        let fill = if self.zero && !self.minus { b'0' } else { b' ' };
        out.resize(out.len() + count, fill);
    }

    /// A text padded to the width.
    pub fn pad(&self, out: &mut Vec<u8>, text: &[u8]) {
        let missing = self.width.map_or(0, |width| width.saturating_sub(rune_count(text)));
        if self.minus {
            out.extend_from_slice(text);
            self.padding(out, missing);
        } else {
            self.padding(out, missing);
            out.extend_from_slice(text);
        }
    }

    fn without_zero(&self) -> Self {
        Self { zero: false, ..*self }
    }

    /// The part of a text that the precision leaves, in runes.
    fn truncate<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(mut left) = self.precision.filter(|precision| *precision < text.len()) else { return text };
        let mut end = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                if left == 0 {
                    return &text[..end];
                }
                left -= 1;
                end += c.len_utf8();
            }
            for _ in chunk.invalid() {
                if left == 0 {
                    return &text[..end];
                }
                left -= 1;
                end += 1;
            }
        }
        text
    }

    pub fn text(&self, out: &mut Vec<u8>, text: &[u8]) {
        self.pad(out, self.truncate(text));
    }

    pub fn quoted(&self, out: &mut Vec<u8>, text: &[u8]) {
        let text = self.truncate(text);
        if self.sharp && can_backquote(text) {
            return self.pad(out, &[b"`", text, b"`"].concat());
        }
        let mut quoted = String::new();
        quote_with(&mut quoted, text, self.plus);
        self.pad(out, quoted.as_bytes());
    }

    pub fn quoted_char(&self, out: &mut Vec<u8>, code: u64) {
        let mut quoted = String::with_capacity(12);
        quote_char_with(&mut quoted, code, self.plus);
        self.pad(out, quoted.as_bytes());
    }

    pub fn char(&self, out: &mut Vec<u8>, code: u64) {
        self.pad(out, character(code).encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// `%x` and `%X` of a text: its bytes, each as two digits.
    pub fn hexadecimal(&self, out: &mut Vec<u8>, text: &[u8], upper: bool) {
        let digits = digits_of(upper);
        let prefix = [b'0', if upper { b'X' } else { b'x' }];
        let text = &text[..self.precision.map_or(text.len(), |precision| precision.min(text.len()))];
        if text.is_empty() {
            self.padding(out, self.width.unwrap_or(0));
            return;
        }
        let per_byte = 2 + usize::from(self.space) + 2 * usize::from(self.space && self.sharp);
        let extra = if self.space { 0 } else { 2 * usize::from(self.sharp) };
        let written = text.len() * per_byte - usize::from(self.space) + extra;
        let missing = self.width.map_or(0, |width| width.saturating_sub(written));
        if !self.minus {
            self.padding(out, missing);
        }
        if self.sharp {
            out.extend_from_slice(&prefix);
        }
        for (at, byte) in text.iter().enumerate() {
            if self.space && at > 0 {
                out.push(b' ');
                if self.sharp {
                    out.extend_from_slice(&prefix);
                }
            }
            out.extend_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
        if self.minus {
            self.padding(out, missing);
        }
    }

    /// An integer in base 2, 8, 10 or 16. `number` is a two's complement where `signed`.
    pub fn integer(&self, out: &mut Vec<u8>, number: u64, signed: bool, base: u8, verb: char) {
        let negative = signed && number.cast_signed() < 0;
        let mut rest = if negative { number.wrapping_neg() } else { number };
        let mut least = self.precision.unwrap_or(0);
        if self.precision == Some(0) && rest == 0 {
            return self.without_zero().padding(out, self.width.unwrap_or(0));
        }
        if self.precision.is_none() && self.zero && !self.minus {
            // Zeros of the width count as digits, behind the sign.
            least = self.width.unwrap_or(0);
            if negative || self.plus || self.space {
                least = least.saturating_sub(1);
            }
        }
        let upper = verb == 'X';
        let digits = digits_of(upper);
        let mut buffer = [0; 64];
        let mut start = buffer.len();
        loop {
            start -= 1;
            buffer[start] = digits[usize::try_from(rest % u64::from(base)).unwrap_or(0)];
            rest /= u64::from(base);
            if rest == 0 {
                break;
            }
        }
        let found = &buffer[start..];
        let zeros = least.saturating_sub(found.len());
        let mut head = [0; 5];
        let mut head_len = 0;
        let mut push = |byte| {
            head[head_len] = byte;
            head_len += 1;
        };
        if negative {
            push(b'-');
        } else if self.plus {
            push(b'+');
        } else if self.space {
            push(b' ');
        }
        if verb == 'O' {
            push(b'0');
            push(b'o');
        }
        if self.sharp {
            match base {
                2 => {
                    push(b'0');
                    push(b'b');
                }
                8 if zeros == 0 && found[0] != b'0' => push(b'0'),
                16 => {
                    push(b'0');
                    push(if upper { b'X' } else { b'x' });
                }
                _ => {}
            }
        }
        let head = &head[..head_len];
        let missing = self.width.map_or(0, |width| width.saturating_sub(head.len() + zeros + found.len()));
        let blanks = self.without_zero();
        if !self.minus {
            blanks.padding(out, missing);
        }
        out.extend_from_slice(head);
        out.resize(out.len() + zeros, b'0');
        out.extend_from_slice(found);
        if self.minus {
            blanks.padding(out, missing);
        }
    }

    /// `%U`: `U+0078`, and with `#` the character beside it.
    pub fn unicode(&self, out: &mut Vec<u8>, code: u64) {
        let least = self.precision.map_or(4, |precision| precision.max(4));
        let mut text = format!("U+{code:0least$X}", least = least.min(64)).into_bytes();
        if least > 64 {
            // More zeros than the formatter should be asked for.
            let zeros = vec![b'0'; least - 64];
            text.splice(2..2, zeros);
        }
        let shown =
            u32::try_from(code).ok().and_then(char::from_u32).filter(|c| self.sharp && is_printable(*c));
        if let Some(c) = shown {
            text.extend_from_slice(format!(" '{c}'").as_bytes());
        }
        self.without_zero().pad(out, &text);
    }

    /// A float by one of the verbs `e E f g G b x X`; `precision` is what the verb takes where none was given.
    pub fn float(&self, out: &mut Vec<u8>, number: f64, verb: u8, precision: i32) {
        let precision = self.precision.map_or(precision, |given| i32::try_from(given).unwrap_or(i32::MAX));
        let mut text = String::with_capacity(24);
        float::write(&mut text, number, verb, precision);
        let (negative, unsigned) = match text.as_bytes()[0] {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, &text[..]),
        };
        let sign: &[u8] = match (negative, self.plus, self.space) {
            (true, ..) => b"-",
            (_, true, _) => b"+",
            (.., true) => b" ",
            _ => b"",
        };
        if !number.is_finite() {
            let text = [sign, unsigned.as_bytes()].concat();
            // Infinity shows its sign even where a number would not, since strconv writes it.
            let text = if number == f64::INFINITY && sign.is_empty() { b"+Inf".to_vec() } else { text };
            return self.without_zero().pad(out, &text);
        }
        let widened;
        let unsigned = if self.sharp && verb != b'b' {
            widened = with_point(unsigned, verb, precision);
            &widened
        } else {
            unsigned
        };
        if self.zero && !self.minus && !sign.is_empty() {
            out.extend_from_slice(sign);
            let missing = self.width.map_or(0, |width| width.saturating_sub(1 + unsigned.len()));
            self.padding(out, missing);
            out.extend_from_slice(unsigned.as_bytes());
        } else if sign.is_empty() {
            self.pad(out, unsigned.as_bytes());
        } else {
            self.pad(out, &[sign, unsigned.as_bytes()].concat());
        }
    }
}

/// The flag `#` of floats: a point where there is none, and the trailing zeros that `g` leaves out.
fn with_point(number: &str, verb: u8, precision: i32) -> String {
    let mut digits = match verb {
        b'g' | b'G' | b'x' if precision < 0 => 6,
        b'g' | b'G' | b'x' => precision,
        _ => 0,
    };
    let hexadecimal = matches!(verb, b'x' | b'X');
    let tail_at = number
        .find(|c| matches!(c, 'p' | 'P') || (!hexadecimal && matches!(c, 'e' | 'E')))
        .unwrap_or(number.len());
    let (head, tail) = number.split_at(tail_at);
    let mut seen_nonzero = false;
    for byte in head.bytes().filter(|byte| *byte != b'.') {
        seen_nonzero |= byte != b'0';
        digits -= i32::from(seen_nonzero);
    }
    let mut out = String::with_capacity(number.len() + 8);
    out.push_str(head);
    if !head.contains('.') {
        if head == "0" {
            digits -= 1;
        }
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', usize::try_from(digits).unwrap_or(0)));
    out.push_str(tail);
    out
}
