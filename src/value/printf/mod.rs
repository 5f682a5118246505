//! Go's `fmt.Sprintf`, whole: every verb, flag, width, precision and argument index, and the `%!verb(type=value)` forms
//! that stand for mistakes.

mod float;
mod layout;
mod verbs;

use tera::Value;

use super::{Error, Scope, kind, typed};
use layout::Layout;
use verbs::Printer;

/// Formats values as `fmt.Sprintf(format, args…)`. The result is a string, or [`typed::Type::Text`] where it is not UTF-8.
///
/// # Errors
/// Mistakes in the format are part of the text, as in Go. An error is a value that contains itself or nests too deep,
/// or a text beyond the scope's limit.
pub fn sprintf(scope: &Scope, format: &[u8], args: &[Value]) -> Result<Value, Error> {
    let mut printer = Printer::new(scope, format.len() + 16 * args.len());
    Format { format, at: 0, args, next: 0, reordered: false, good_index: true }.run(&mut printer)?;
    Ok(typed::text(printer.into_bytes()))
}

/// A format that is being worked through.
struct Format<'a> {
    format: &'a [u8],
    /// The byte of the format that is looked at.
    at: usize,
    args: &'a [Value],
    /// The argument that the next verb takes.
    next: usize,
    /// Whether any verb named its argument, so that none is missed at the end.
    reordered: bool,
    /// Whether the index that the present verb named exists.
    good_index: bool,
}

/// The largest width and precision that Go accepts.
const LARGEST: i64 = 1_000_000;

impl Format<'_> {
    fn run(&mut self, out: &mut Printer<'_>) -> Result<(), Error> {
        while self.at < self.format.len() {
            self.good_index = true;
            let rest = &self.format[self.at..];
            let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
            out.write(&rest[..plain]);
            self.at += plain;
            if self.at >= self.format.len() {
                break;
            }
            self.at += 1;
            if !self.verb(out)? {
                break;
            }
            out.check_length()?;
        }
        if !self.reordered && self.next < self.args.len() {
            out.layout = Layout::default();
            out.write(b"%!(EXTRA ");
            for (at, arg) in self.args[self.next..].iter().enumerate() {
                if at > 0 {
                    out.write(b", ");
                }
                if !(arg.is_none() || arg.is_undefined()) {
                    out.write(kind::type_of(out.scope, arg).as_bytes());
                    out.write(b"=");
                }
                out.argument(arg, 'v')?;
            }
            out.write(b")");
        }
        out.check_length()
    }

    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    /// Prints what follows a percent sign. False at the end of a format that lacks its verb.
    fn verb(&mut self, out: &mut Printer<'_>) -> Result<bool, Error> {
        out.layout = Layout::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => out.layout.sharp = true,
                b'0' => out.layout.zero = true,
                b'+' => out.layout.plus = true,
                b'-' => out.layout.minus = true,
                b' ' => out.layout.space = true,
                b'a'..=b'z' if self.next < self.args.len() => {
                    self.at += 1;
                    self.print(out, char::from(byte))?;
                    return Ok(true);
                }
                _ => break,
            }
            self.at += 1;
        }
        let mut after_index = self.index();
        after_index = self.width(out, after_index);
        // As in Go, a point that ends the format is no precision but the verb.
        if self.peek() == Some(b'.') && self.at + 1 < self.format.len() {
            after_index = self.precision(out, after_index);
        }
        if !after_index {
            self.index();
        }
        let Some(verb) = self.take_verb() else {
            out.write(b"%!(NOVERB)");
            return Ok(false);
        };
        if verb == '%' {
            out.write(b"%");
        } else if !self.good_index {
            out.mistake(verb, b"(BADINDEX)");
        } else if self.next >= self.args.len() {
            out.mistake(verb, b"(MISSING)");
        } else {
            self.print(out, verb)?;
        }
        Ok(true)
    }

    fn print(&mut self, out: &mut Printer<'_>, verb: char) -> Result<(), Error> {
        if matches!(verb, 'v' | 'w') {
            // `%#v` and `%+v` are verbs of their own: the flags do not reach what they print.
            out.layout.sharp_v = std::mem::take(&mut out.layout.sharp);
            out.layout.plus_v = std::mem::take(&mut out.layout.plus);
        }
        out.argument(&self.args[self.next], verb)?;
        self.next += 1;
        Ok(())
    }

    /// The verb: a character, or U+FFFD for a byte that is none.
    fn take_verb(&mut self) -> Option<char> {
        let rest = &self.format[self.at..];
        if rest.is_empty() {
            return None;
        }
        let chunk = &rest[..rest.len().min(4)];
        let first = chunk.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        self.at += first.map_or(1, char::len_utf8);
        Some(first.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn width(&mut self, out: &mut Printer<'_>, after_index: bool) -> bool {
        if self.peek() == Some(b'*') {
            self.at += 1;
            let width = self.number_argument();
            if width.is_none() {
                out.write(b"%!(BADWIDTH)");
            }
            if width.is_some_and(|width| width < 0) {
                out.layout.minus = true;
                // Zeros never stand at the right.
                out.layout.zero = false;
            }
            out.layout.width = width.map(magnitude);
            return false;
        }
        out.layout.width = self.number(self.format.len()).map(magnitude);
        if after_index && out.layout.width.is_some() {
            self.good_index = false;
        }
        after_index
    }

    fn precision(&mut self, out: &mut Printer<'_>, after_index: bool) -> bool {
        self.at += 1;
        if after_index {
            self.good_index = false;
        }
        let after_index = self.index();
        if self.peek() == Some(b'*') {
            self.at += 1;
            out.layout.precision = self.number_argument().filter(|precision| *precision >= 0).map(magnitude);
            if out.layout.precision.is_none() {
                out.write(b"%!(BADPREC)");
            }
            return false;
        }
        out.layout.precision = Some(self.number(self.format.len()).map_or(0, magnitude));
        after_index
    }

    /// Reads a decimal number that ends before `end`. One that is too large is none, and leaves nothing of the format.
    fn number(&mut self, end: usize) -> Option<i64> {
        let mut number = None;
        while self.at < end
            && let Some(digit @ b'0'..=b'9') = self.peek()
        {
            let before = number.unwrap_or(0);
            if before > LARGEST {
                self.at = end;
                return None;
            }
            number = Some(before * 10 + i64::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// Takes the next argument for a `*`.
    fn number_argument(&mut self) -> Option<i64> {
        let arg = self.args.get(self.next)?;
        self.next += 1;
        let number = typed::number(arg).or_else(|| arg.as_i64())?;
        (-LARGEST..=LARGEST).contains(&number).then_some(number)
    }

    /// Reads an argument index such as `[2]`. True when there was one, good or bad in its number but not in its form.
    fn index(&mut self) -> bool {
        if self.peek() != Some(b'[') {
            return false;
        }
        self.reordered = true;
        let (start, rest) = (self.at, &self.format[self.at..]);
        let close = if rest.len() < 3 { None } else { memchr::memchr(b']', rest) };
        let Some(close) = close else {
            self.at = start + 1;
            self.good_index = false;
            return false;
        };
        self.at = start + 1;
        let number = self.number(start + close).filter(|_| self.at == start + close);
        self.at = start + close + 1;
        let index = number.and_then(|number| usize::try_from(number - 1).ok());
        match index.filter(|index| *index < self.args.len()) {
            Some(index) => {
                self.next = index;
                true
            }
            None => {
                self.good_index = false;
                number.is_some()
            }
        }
    }
}

fn magnitude(number: i64) -> usize {
    usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::typed::{Time, Type, make};
    use tera::Map;

    fn text(format: &str, args: &[Value]) -> String {
        let printed = sprintf(&Scope::new(), format.as_bytes(), args).unwrap();
        typed::text_lossy(&printed).unwrap().into_owned()
    }

    fn map(key: &'static str, value: Value) -> Value {
        Value::from(Map::from_iter([(key.into(), value)]))
    }

    #[test]
    fn mistakes_are_part_of_the_text() {
        let (hi, one) = (Value::from("hi"), Value::from(1i64));
        for (format, args, expected) in [
            ("%d", vec![hi.clone()], "%!d(string=hi)"),
            ("%5d", vec![hi.clone()], "%!d(string=   hi)"),
            ("%s", vec![Value::none()], "%!s(<nil>)"),
            ("%v %v", vec![Value::none()], "<nil> %!v(MISSING)"),
            ("%d", vec![one.clone(), hi.clone()], "1%!(EXTRA string=hi)"),
            ("", vec![Value::none(), one.clone()], "%!(EXTRA <nil>, int=1)"),
            ("%", vec![one.clone()], "%!(NOVERB)%!(EXTRA int=1)"),
            ("%!", vec![one.clone()], "%!!(int=1)"),
            ("%[2]d", vec![one.clone()], "%!d(BADINDEX)"),
            ("%[x]d", vec![one.clone()], "%!d(BADINDEX)"),
            ("%*d", vec![hi.clone(), one.clone()], "%!(BADWIDTH)1"),
            ("%.*d", vec![hi.clone(), one.clone()], "%!(BADPREC)1"),
            ("%-*d|", vec![Value::from(-3i64), one.clone()], "1  |"),
            ("%99999999d", vec![one.clone()], "%!(NOVERB)%!(EXTRA int=1)"),
            (
                "%*w",
                vec![Value::none(), Value::from(Vec::<Value>::new())],
                "%!(BADWIDTH)%!w([]interface {}=[])",
            ),
            ("%x", vec![Value::from(vec![hi, one.clone()])], "[6869 1]"),
            ("%s", vec![map("a", one.clone())], "map[a:%!s(int=1)]"),
            ("%d", vec![map("a", one)], "map[%!d(string=a):1]"),
        ] {
            assert_eq!(text(format, &args), expected, "{format}");
        }
    }

    #[test]
    fn go_syntax_names_types() {
        let values =
            [Value::from("a"), Value::from(1.0), Value::none(), Value::from(7u64), Value::bytes(vec![1])];
        assert_eq!(
            text("%#v", &[map("k", Value::from(values.to_vec()))]),
            r#"map[string]interface {}{"k":[]interface {}{"a", 1, interface {}(nil), 0x7, []uint8{0x1}}}"#
        );
        assert_eq!(text("%#v %T", &[values[4].clone(), values[4].clone()]), "[]byte{0x1} []uint8");
        assert_eq!(text("%#w", &[Value::bytes(Vec::new())]), "[]uint8{}");
    }

    #[test]
    fn typed_values_show_their_structure_to_mistaken_verbs() {
        let (abbreviation, location) = ("UTC".to_owned(), "UTC".to_owned());
        let time = Time { seconds: 0, nanoseconds: 5, offset: 0, abbreviation, location, monotonic: None };
        let time = time.to_value();
        assert_eq!(
            text("%s|%d|%t", &[time.clone(), time.clone(), time.clone()]),
            "1970-01-01 00:00:00.000000005 +0000 UTC|{5 62135596800 0}|\
             {%!t(uint64=5) %!t(int64=62135596800) %!t(*time.Location=<nil>)}"
        );
        assert_eq!(
            text("%#w", &[Value::from(vec![time.clone()])]),
            "%!w([]interface {}=[]interface {}{time.Time{wall:0x5, ext:62135596800, loc:(*time.Location)(nil)}})"
        );
        assert_eq!(text("%#v", &[time]), "time.Date(1970, time.January, 1, 0, 0, 0, 5, time.UTC)");
        let month = make(Type::Month, [("value", Value::from(3i64))]);
        assert_eq!(text("%v %d %q %#v", &vec![month; 4]), r#"March 3 "March" 3"#);
    }

    #[test]
    fn what_go_bounds_stays_small() {
        assert_eq!(text("%.1000000f", &[Value::from(0.5)]).len(), 1_000_002);
        assert_eq!(text("%.1000000e", &[Value::from(0.5)]).len(), 1_000_006);
        assert_eq!(text("%.1000000g", &[Value::from(0.1)]).len(), 57);
        assert_eq!(text("%1000000.999999x", &[Value::from(1i64)]).len(), 1_000_000);
        assert_eq!(text("%.1000000U", &[Value::from(1i64)]).len(), 1_000_002);
    }

    #[test]
    fn a_text_beyond_the_limit_is_an_error() {
        let scope = Scope::new();
        scope.set_text_limit(1 << 20);
        let format = "%900000d".repeat(100);
        let args = vec![Value::from(1i64); 100];
        assert_eq!(sprintf(&scope, format.as_bytes(), &args), Err(Error::TooLong(1 << 20)));
        let wide = Value::from(vec![1i64; 10_000]);
        assert_eq!(sprintf(&scope, b"%900000d", &[wide]), Err(Error::TooLong(1 << 20)));
    }

    #[test]
    fn what_is_not_utf8_stays_as_it_is() {
        let half = typed::text(vec![0xe2, 0x82]);
        let printed = sprintf(&Scope::new(), b"\xff%s%q", &[half.clone(), half]).unwrap();
        assert_eq!(typed::text_bytes(&printed), Some(&b"\xff\xe2\x82\"\\xe2\\x82\""[..]));
    }
}
