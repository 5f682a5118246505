//! Reading TOML, with the errors of BurntSushi's library.

use tera::{Map, Value};

use super::{
    key::is_bare,
    number,
    scan::{END, Fault, Scanner, is_line_end, is_space, quoted},
    tables::{Node, Table, Tables, table_value},
};
use crate::{
    functions::{Call, Error, Outcome},
    value::{self, MAX_DEPTH, quote::quote},
};

/// Why reading ended.
enum Stop {
    Fault(Fault),
    TooDeep,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

type Read<T> = Result<T, Stop>;

/// The map of a TOML text.
pub(super) fn document(call: &Call<'_>) -> Outcome {
    let text = call.bytes(0);
    // A mark of the byte order is skipped, that of UTF-16 too.
    let text = [&b"\xff\xfe"[..], b"\xfe\xff", b"\xef\xbb\xbf"]
        .iter()
        .find_map(|mark| text.strip_prefix(*mark))
        .unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let why = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(Error::new(super::key::complaint(1, "", why)));
    }
    let mut reader = Reader { scan: Scanner::new(text), tables: Tables::default(), line: 0, call };
    match reader.top() {
        Ok(()) => Ok(table_value(reader.tables.root, call)),
        Err(Stop::Fault(fault)) => Err(Error::new(fault.complaint(&reader.tables.last_key()))),
        Err(Stop::TooDeep) => Err(value::Error::TooDeep(MAX_DEPTH).into()),
    }
}

struct Reader<'t> {
    scan: Scanner<'t>,
    tables: Tables,
    /// The line of the key that was read last.
    line: usize,
    call: &'t Call<'t>,
}

impl Reader<'_> {
    /// An error about a key that was read.
    fn clash(&self) -> impl Fn(String) -> Stop + use<> {
        let line = self.line;
        move |text| Stop::Fault(Fault { line, text })
    }

    fn top(&mut self) -> Read<()> {
        loop {
            let place = self.scan.place();
            match self.scan.next()? {
                c if self.is_blank(c)? => continue,
                '[' => self.header()?,
                END => return Ok(()),
                _ => {
                    self.scan.back_to(place);
                    self.entry(None, 0)?;
                }
            }
            if self.line_end()? {
                return Ok(());
            }
        }
    }

    /// Reads to the end of a line that holds nothing more; says whether the text ends there.
    fn line_end(&mut self) -> Read<bool> {
        loop {
            match self.scan.next()? {
                '#' => {
                    self.comment()?;
                    return Ok(false);
                }
                c if is_space(c) => {}
                c if is_line_end(c) => return Ok(false),
                END => return Ok(true),
                c => {
                    return Err(self
                        .scan
                        .fault(format!(
                            "expected a top-level item to end with a newline, comment, or EOF, but got {} instead",
                            quoted(c)
                        ))
                        .into());
                }
            }
        }
    }

    /// Whether a character that was read says nothing between two items: a space, the end of a line, or a comment, which is
    /// then read to its end.
    fn is_blank(&mut self, c: char) -> Read<bool> {
        if c == '#' {
            self.comment()?;
            return Ok(true);
        }
        Ok(is_space(c) || is_line_end(c))
    }

    fn comment(&mut self) -> Read<()> {
        Ok(self.scan.skip(|c| !is_line_end(c) && c != END)?)
    }

    /// Reads `[a.b]` or `[[a.b]]`, of which the first bracket is read.
    fn header(&mut self) -> Read<()> {
        let array = self.scan.accept('[')?;
        let mut path = Vec::new();
        loop {
            self.scan.skip(is_space)?;
            match self.scan.peek()? {
                ']' | END => {
                    let why = "unexpected end of table name (table names cannot be empty)";
                    return Err(self.scan.fault(why).into());
                }
                '.' => {
                    let why = "unexpected table separator (table names cannot be empty)";
                    return Err(self.scan.fault(why).into());
                }
                _ => {}
            }
            let first = path.is_empty();
            path.push(self.key_part(first)?);
            self.scan.skip(is_space)?;
            match self.scan.next()? {
                '.' => {}
                ']' => break,
                c => {
                    let text =
                        format!("expected '.' or ']' to end table name, but got {} instead", quoted(c));
                    return Err(self.scan.fault(text).into());
                }
            }
        }
        if array {
            let c = self.scan.next()?;
            if c != ']' {
                let c = quoted(c);
                let text = format!("expected end of table array name delimiter ']', but got {c} instead");
                return Err(self.scan.fault(text).into());
            }
        }
        self.tables.enter(&path, array).map_err(self.clash())?;
        self.tables.set_type("", false);
        Ok(())
    }

    /// Reads one part of a key; the line of the first is that of errors about the key.
    fn key_part(&mut self, first: bool) -> Read<String> {
        self.scan.begin();
        let place = self.scan.place();
        let part = match self.scan.next()? {
            '"' => self.string(first)?,
            '\'' => self.raw_string(first)?,
            _ => {
                self.scan.back_to(place);
                self.scan.skip(is_bare)?;
                if first {
                    self.line = self.scan.line;
                }
                self.scan.token_text()
            }
        };
        Ok(part)
    }

    /// Reads a key up to its `=`.
    fn key(&mut self) -> Read<Vec<String>> {
        self.scan.skip(is_space)?;
        match self.scan.peek()? {
            '=' | END => return Err(self.scan.fault("unexpected '=': key name appears blank").into()),
            '.' => return Err(self.scan.fault("unexpected '.': keys cannot start with a '.'").into()),
            _ => {}
        }
        let mut parts = Vec::new();
        loop {
            self.scan.skip(is_space)?;
            match self.scan.peek()? {
                '=' | END => return Err(self.scan.fault("unexpected '='").into()),
                '.' => return Err(self.scan.fault("unexpected '.'").into()),
                _ => {}
            }
            let first = parts.is_empty();
            parts.push(self.key_part(first)?);
            self.scan.skip(is_space)?;
            match self.scan.next()? {
                '.' => {}
                '=' => return Ok(parts),
                END => {
                    return Err(self.scan.fault("unexpected EOF; expected key separator '='").into());
                }
                c => {
                    let text = format!("expected '.' or '=', but got {} instead", quoted(c));
                    let fault = if c == '\n' { self.scan.fault_before(text) } else { self.scan.fault(text) };
                    return Err(fault.into());
                }
            }
        }
    }

    /// Reads a key and its value, into the inline table that is being read if there is one.
    fn entry(&mut self, inline: Option<&mut Table>, depth: usize) -> Read<()> {
        let outer = self.tables.context.clone();
        let mut path = self.key()?;
        let last = path.pop().unwrap_or_default();
        self.tables.current.clone_from(&last);
        self.tables.enter_implicit(&path).map_err(self.clash())?;
        let value = self.value(false, depth)?;
        self.tables.set(&last, Node::Leaf(value.clone())).map_err(self.clash())?;
        self.tables.set_type(&last, value.is_array());
        if let Some(mut table) = inline {
            for part in &path {
                let node = table.entry(part.clone()).or_insert_with(|| Node::Table(Table::new()));
                let context = &self.tables.context;
                let clash = || {
                    let parts: Vec<_> = context.iter().map(|part| quote(part.as_bytes())).collect();
                    format!("[{}] is not a table", parts.join(" "))
                };
                table = node.inline_table().ok_or_else(clash).map_err(self.clash())?;
            }
            table.insert(last, Node::Leaf(value));
        } else {
            self.tables.current.clear();
        }
        self.tables.context = outer;
        Ok(())
    }

    fn value(&mut self, in_array: bool, depth: usize) -> Read<Value> {
        if depth > MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.scan.skip(is_space)?;
        self.scan.begin();
        let place = self.scan.place();
        let c = self.scan.next()?;
        match c {
            '0'..='9' => {
                self.scan.back_to(place);
                return Ok(number::unsigned(&mut self.scan)?);
            }
            '[' => return self.array(depth),
            '{' => return self.inline_table(in_array, depth),
            '"' => {
                let after = self.scan.place();
                if self.scan.accept('"')? && self.scan.accept('"')? {
                    return Ok(Value::from(self.long_string()?));
                }
                self.scan.back_to(after);
                return Ok(Value::from(self.string(false)?));
            }
            '\'' => {
                let after = self.scan.place();
                if self.scan.accept('\'')? && self.scan.accept('\'')? {
                    return Ok(Value::from(self.long_raw_string()?));
                }
                self.scan.back_to(after);
                return Ok(Value::from(self.raw_string(false)?));
            }
            '.' => return Err(self.scan.fault("floats must start with a digit, not '.'").into()),
            '-' | '+' => return Ok(number::signed(&mut self.scan)?),
            'i' | 'n' => {
                if let Some(number) = number::special(&mut self.scan)? {
                    return Ok(number);
                }
            }
            _ => {}
        }
        if c.is_alphabetic() {
            // A letter that might have begun a number may have taken others with it.
            match c {
                'i' | 'n' => self.scan.step_back(),
                _ => self.scan.back_to(place),
            }
            return self.word();
        }
        let text = format!("expected value but found {} instead", quoted(c));
        Err(match c {
            END => self.scan.fault("unexpected EOF; expected value"),
            '\n' => self.scan.fault_before(text),
            _ => self.scan.fault(text),
        }
        .into())
    }

    fn word(&mut self) -> Read<Value> {
        self.scan.begin();
        self.scan.skip(char::is_alphabetic)?;
        match self.scan.token() {
            b"true" => Ok(Value::from(true)),
            b"false" => Ok(Value::from(false)),
            word => {
                let text = format!("expected value but found {} instead", quote(word));
                Err(self.scan.fault(text).into())
            }
        }
    }

    fn array(&mut self, depth: usize) -> Read<Value> {
        let current = self.tables.current.clone();
        self.tables.set_type(&current, true);
        let mut items = Vec::new();
        loop {
            let place = self.scan.place();
            match self.scan.next()? {
                c if self.is_blank(c)? => continue,
                ',' => return Err(self.scan.fault("unexpected comma").into()),
                ']' => break,
                _ => self.scan.back_to(place),
            }
            items.push(self.value(true, depth + 1)?);
            if self.after_item(']', "expected a comma (',') or array terminator (']'), but got ", "")? {
                break;
            }
        }
        Ok(if items.is_empty() { value::empty_list() } else { Value::from(items) })
    }

    /// Reads what follows an item; says whether that was the last.
    fn after_item(&mut self, end: char, wanted: &str, instead: &str) -> Read<bool> {
        loop {
            match self.scan.next()? {
                c if self.is_blank(c)? => {}
                ',' => return Ok(false),
                c if c == end => return Ok(true),
                c => {
                    let got = if c == END { "end of file".to_owned() } else { format!("'{c}'") };
                    return Err(self.scan.fault(format!("{wanted}{got}{instead}")).into());
                }
            }
        }
    }

    fn inline_table(&mut self, in_array: bool, depth: usize) -> Read<Value> {
        let outer = (self.tables.context.clone(), self.tables.current.clone());
        let key = std::mem::take(&mut self.tables.current);
        self.tables.context.push(key);
        self.tables.add_implicit();
        let context = self.tables.context.clone();
        self.tables.enter(&context, in_array).map_err(self.clash())?;
        let mut table = Table::new();
        let mut after_comma = false;
        loop {
            if after_comma {
                self.scan.skip(is_space)?;
            }
            let place = self.scan.place();
            match self.scan.next()? {
                c if self.is_blank(c)? => {
                    after_comma = false;
                    continue;
                }
                ',' => return Err(self.scan.fault("unexpected comma").into()),
                '}' => break,
                _ => self.scan.back_to(place),
            }
            self.entry(Some(&mut table), depth + 1)?;
            let wanted = "expected a comma or an inline table terminator '}', but got ";
            if self.after_item('}', wanted, " instead")? {
                break;
            }
            after_comma = true;
        }
        (self.tables.context, self.tables.current) = outer;
        let map: Map =
            table.into_iter().map(|(key, node)| (key.into(), node.into_value(self.call))).collect();
        Ok(Value::from(map))
    }

    fn raw_string(&mut self, first: bool) -> Read<String> {
        self.scan.begin();
        loop {
            match self.scan.next()? {
                END => return Err(self.scan.fault("unexpected EOF; expected \"'\"").into()),
                c if is_line_end(c) => {
                    return Err(self.scan.fault_before("strings cannot contain newlines").into());
                }
                '\'' => {
                    if first {
                        self.line = self.scan.line;
                    }
                    return Ok(self.scan.token_without(1));
                }
                _ => {}
            }
        }
    }

    fn string(&mut self, first: bool) -> Read<String> {
        self.scan.begin();
        loop {
            match self.scan.next()? {
                END => return Err(self.scan.fault("unexpected EOF; expected '\"'").into()),
                c if is_line_end(c) => {
                    return Err(self.scan.fault_before("strings cannot contain newlines").into());
                }
                '\\' => self.escape()?,
                '"' => {
                    if first {
                        self.line = self.scan.line;
                    }
                    return self.unescaped(&self.scan.token_without(1));
                }
                _ => {}
            }
        }
    }

    /// Checks an escape whose backslash is read.
    fn escape(&mut self) -> Read<()> {
        let (count, wanted) = match self.scan.next()? {
            'e' | 'b' | 't' | 'n' | 'f' | 'r' | '"' | ' ' | '\t' | '\\' => return Ok(()),
            'x' => (2, "two hexadecimal digits after '\\x'"),
            'u' => (4, "four hexadecimal digits after '\\u'"),
            'U' => (8, "eight hexadecimal digits after '\\U'"),
            c => return Err(self.scan.fault_or_before(format!("invalid escape in string '\\{c}'")).into()),
        };
        for _ in 0..count {
            if !self.scan.next()?.is_ascii_hexdigit() {
                let text = format!("expected {wanted}, but got {} instead", quote(self.scan.token()));
                return Err(self.scan.fault(text).into());
            }
        }
        Ok(())
    }

    /// A string whose escapes were checked, without them.
    fn unescaped(&self, text: &str) -> Read<String> {
        let fault = |text| Stop::Fault(Fault { line: self.scan.line, text });
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let mut chars = rest.chars();
            let kind = chars.next().unwrap_or_default();
            rest = chars.as_str();
            let count = match kind {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                _ => 0,
            };
            if count > 0 {
                let (digits, after) = rest.split_at_checked(count).unwrap_or((rest, ""));
                let c = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let wrong = || fault(format!("Escaped character '\\u{digits}' is not valid UTF-8."));
                out.push(c.ok_or_else(wrong)?);
                rest = after;
                continue;
            }
            out.push(match kind {
                'b' => '\x08',
                't' => '\t',
                'n' => '\n',
                'f' => '\x0c',
                'r' => '\r',
                'e' => '\x1b',
                ' ' | '\t' => return Err(fault(format!("invalid escape: '\\{kind}'"))),
                other => other,
            });
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Reads on to the three quotes that end a string of several lines.
    fn until_long_end(&mut self, mark: char) -> Read<String> {
        self.scan.begin();
        loop {
            let c = self.scan.next()?;
            if c == END {
                let (around, mark) = if mark == '"' { ('\'', "\"\"\"") } else { ('"', "'''") };
                return Err(self
                    .scan
                    .fault(format!("unexpected EOF; expected {around}{mark}{around}"))
                    .into());
            }
            if c == '\\' && mark == '"' {
                let place = self.scan.place();
                if !is_line_end(self.scan.next()?) {
                    self.scan.back_to(place);
                    self.escape()?;
                }
                continue;
            }
            if c != mark {
                continue;
            }
            let after = self.scan.place();
            if !self.scan.accept(mark)? || !self.scan.accept(mark)? {
                self.scan.back_to(after);
                continue;
            }
            if self.scan.peek()? != mark {
                return Ok(self.scan.token_without(3));
            }
            // Two quotes may stand before the three that end it, but no more.
            let token = self.scan.token();
            let five = token.ends_with(&[mark as u8; 5]);
            if five && !(mark == '"' && token.ends_with(b"\\\"\"\"\"\"")) {
                let text = if mark == '"' { "unexpected '\"\"\"\"\"\"'" } else { "unexpected \"''''''\"" };
                return Err(self.scan.fault(text).into());
            }
            self.scan.back_to(after);
        }
    }

    fn long_raw_string(&mut self) -> Read<String> {
        let text = self.until_long_end('\'')?;
        Ok(without_first_line_end(&text).to_owned())
    }

    fn long_string(&mut self) -> Read<String> {
        let text = self.until_long_end('"')?;
        self.unescaped(&without_escaped_line_ends(without_first_line_end(&text)))
    }
}

fn without_first_line_end(text: &str) -> &str {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n")).unwrap_or(text)
}

/// Takes out each backslash that only white space follows to the end of its line, and all white space after it.
fn without_escaped_line_ends(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let after = &rest[at + 1..];
        let next = after.trim_start_matches([' ', '\t', '\r', '\n']);
        let space = &after[..after.len() - next.len()];
        if space.contains('\n') {
            out.push_str(&rest[..at]);
            rest = next;
            continue;
        }
        // The backslash stays, and the one that it may escape.
        let end = at + 1 + usize::from(after.starts_with('\\'));
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out + rest
}
