//! Numbers and times of TOML.

use tera::Value;

use super::scan::{Fault, Scanner, quoted};
use crate::{functions::dates, value::quote::quote};

fn is_hex(c: char) -> bool {
    c.is_ascii_hexdigit()
}

/// What a number or time turned out to be.
enum Token {
    Integer,
    Float,
    Time,
}

/// Reads a number or a time.
pub(super) fn unsigned(scan: &mut Scanner<'_>) -> Result<Value, Fault> {
    let token = first(scan)?;
    value(scan, &token)
}

fn first(scan: &mut Scanner<'_>) -> Result<Token, Fault> {
    let zero = scan.next()? == '0';
    let place = scan.place();
    let c = scan.next()?;
    if zero && !c.is_ascii_digit() {
        return Ok(match c {
            '_' => decimal(scan)?,
            '.' | 'e' | 'E' => float(scan)?,
            'b' => based(scan, "not a binary number", |c| matches!(c, '0' | '1'))?,
            'o' => based(scan, "not an octal number", |c| matches!(c, '0'..='7'))?,
            'x' => based(scan, "not a hexadecimal number", is_hex)?,
            _ => {
                scan.back_to(place);
                Token::Integer
            }
        });
    }
    scan.back_to(place);
    scan.skip(|c| c.is_ascii_digit())?;
    let place = scan.place();
    Ok(match scan.next()? {
        '-' | ':' => {
            scan.skip(|c| c.is_ascii_digit() || "-:Tt .Zz+".contains(c))?;
            Token::Time
        }
        '_' => decimal(scan)?,
        '.' | 'e' | 'E' => float(scan)?,
        _ => {
            scan.back_to(place);
            Token::Integer
        }
    })
}

fn based(scan: &mut Scanner<'_>, wrong: &str, digit: fn(char) -> bool) -> Result<Token, Fault> {
    let next = scan.peek()?;
    if !digit(next) {
        return Err(scan.fault(format!("{wrong}: '{}{next}'", scan.token_text())));
    }
    loop {
        let place = scan.place();
        let c = scan.next()?;
        if !digit(c) && c != '_' {
            scan.back_to(place);
            return Ok(Token::Integer);
        }
    }
}

fn decimal(scan: &mut Scanner<'_>) -> Result<Token, Fault> {
    scan.skip(|c| c.is_ascii_digit() || c == '_')?;
    let place = scan.place();
    if matches!(scan.next()?, '.' | 'e' | 'E') {
        return float(scan);
    }
    scan.back_to(place);
    Ok(Token::Integer)
}

fn float(scan: &mut Scanner<'_>) -> Result<Token, Fault> {
    scan.skip(|c| c.is_ascii_digit() || "_.-+eE".contains(c))?;
    Ok(Token::Float)
}

/// Reads a number whose sign has been read.
pub(super) fn signed(scan: &mut Scanner<'_>) -> Result<Value, Fault> {
    let c = scan.next()?;
    match c {
        'i' | 'n' => {
            let rest = if c == 'i' { ['n', 'f'] } else { ['a', 'n'] };
            if !scan.accept(rest[0])? || !scan.accept(rest[1])? {
                return Err(scan.fault(format!("invalid float: '{}'", scan.token_text())));
            }
            return value(scan, &Token::Float);
        }
        '0' => {
            let next = scan.peek()?;
            if matches!(next, 'b' | 'o' | 'x') {
                let token = scan.token_text();
                return Err(scan.fault(format!("cannot use sign with non-decimal numbers: '{token}{next}'")));
            }
        }
        '.' => return Err(scan.fault("floats must start with a digit, not '.'")),
        _ => {}
    }
    if !c.is_ascii_digit() {
        return Err(scan.fault(format!("expected a digit but got {}", quoted(c))));
    }
    let token = decimal(scan)?;
    value(scan, &token)
}

/// Reads what `i` or `n` began, if it is a float.
pub(super) fn special(scan: &mut Scanner<'_>) -> Result<Option<Value>, Fault> {
    let found = (scan.accept('n')? && scan.accept('f')?) || (scan.accept('a')? && scan.accept('n')?);
    if found { value(scan, &Token::Float).map(Some) } else { Ok(None) }
}

fn value(scan: &Scanner<'_>, token: &Token) -> Result<Value, Fault> {
    let text = scan.token_text();
    let found = match token {
        Token::Integer => integer(&text),
        Token::Float => float_value(&text),
        Token::Time => time(text.trim()),
    };
    found.map_err(|text| Fault { line: scan.line, text })
}

fn underscores_ok(text: &str) -> bool {
    if matches!(text.trim_start_matches(['+', '-']), "nan" | "inf") {
        return true;
    }
    let mut after_digit = false;
    for c in text.chars() {
        if c == '_' && !after_digit {
            return false;
        }
        after_digit = is_hex(c);
    }
    after_digit
}

fn leading_zero(text: &str) -> bool {
    let bytes = text.as_bytes();
    let second = bytes.get(1).copied().unwrap_or_default();
    match bytes.first() {
        Some(b'0') => bytes.len() > 1 && !matches!(second, b'b' | b'o' | b'x'),
        Some(b'+' | b'-') => bytes.len() > 2 && second == b'0',
        _ => false,
    }
}

fn invalid(kind: &str, text: &str, why: &str) -> String {
    format!("Invalid {kind} {}: {why}", quote(text.as_bytes()))
}

fn integer(text: &str) -> Result<Value, String> {
    if !underscores_ok(text) {
        return Err(invalid("integer", text, "underscores must be surrounded by digits"));
    }
    if leading_zero(text) {
        return Err(invalid("integer", text, "cannot have leading zeroes"));
    }
    let plain = text.replace('_', "");
    let number = match plain.get(..2) {
        Some("0x") => i64::from_str_radix(&plain[2..], 16),
        Some("0o") => i64::from_str_radix(&plain[2..], 8),
        Some("0b") => i64::from_str_radix(&plain[2..], 2),
        _ => plain.parse(),
    };
    number
        .map(|number| Value::from(i128::from(number)))
        .map_err(|_| format!("{text} is out of range for int64"))
}

fn float_value(text: &str) -> Result<Value, String> {
    let parts: Vec<_> = text.split(['.', 'e', 'E']).filter(|part| !part.is_empty()).collect();
    if !parts.iter().all(|part| underscores_ok(part)) {
        return Err(invalid("float", text, "underscores must be surrounded by digits"));
    }
    if parts.first().is_some_and(|part| leading_zero(part)) {
        return Err(invalid("float", text, "cannot have leading zeroes"));
    }
    let followed = |(at, _)| text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
    if !text.match_indices('.').all(followed) {
        return Err(invalid("float", text, "'.' must be followed by one or more digits"));
    }
    let plain = text.replace('_', "");
    match plain.parse::<f64>() {
        Ok(number) if number.is_infinite() && !plain.ends_with("inf") => {
            Err(format!("{text} is out of range for float64"))
        }
        Ok(number) => Ok(Value::from(number)),
        Err(_) => Err(format!("Invalid float value: {}", quote(text.as_bytes()))),
    }
}

/// The layouts of times, and the name of the zone where the text has none.
const LAYOUTS: [(&str, Option<&str>); 7] = [
    ("2006-01-02T15:04:05.999999999Z07:00", None),
    ("2006-01-02T15:04:05.999999999", Some("datetime-local")),
    ("2006-01-02", Some("date-local")),
    ("15:04:05.999999999", Some("time-local")),
    ("2006-01-02T15:04Z07:00", None),
    ("2006-01-02T15:04", Some("datetime-local")),
    ("15:04", Some("time-local")),
];

fn time(text: &str) -> Result<Value, String> {
    let text = text.replace('z', "Z").replace(['t', ' '], "T");
    let found = LAYOUTS
        .iter()
        .find_map(|(layout, zone)| dates::read(layout, text.as_bytes(), *zone).map(|time| (layout, time)));
    match found {
        Some((layout, time)) if all_digits(&text, layout) => Ok(time.to_value()),
        _ => Err(format!("invalid datetime: {}", quote(text.as_bytes()))),
    }
}

/// Whether no number lacks its leading zero: then the marks between them stand where they do in the layout.
fn all_digits(text: &str, layout: &str) -> bool {
    let whole = layout.bytes().enumerate().take_while(|(_, byte)| !matches!(byte, b'.' | b'Z'));
    let mut marks = whole.filter(|(_, byte)| !byte.is_ascii_digit());
    marks.all(|(at, byte)| text.as_bytes().get(at) == Some(&byte))
}
