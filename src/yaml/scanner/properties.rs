//! Anchors, aliases, tags and directives.

use std::borrow::Cow;

use super::{super::error::Step, Kind, Scanner};

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

impl<'a> Scanner<'a> {
    /// A run of letters, digits, `_` and `-`.
    fn word(&mut self) -> Step<&'a str> {
        let start = self.cursor.pos;
        while is_word(self.cursor.at(0)) {
            self.cursor.skip_ascii(1);
            self.cursor.need(1)?;
        }
        Ok(&self.cursor.text[start..self.cursor.pos])
    }

    pub(super) fn anchor(&mut self, anchor: bool) -> Step<()> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.cursor.line;
        self.cursor.skip_ascii(1);
        self.cursor.need(1)?;
        let name = self.word()?;
        let ended = self.cursor.is_blank_or_end(0)
            || matches!(self.cursor.at(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ended {
            return Err(self.problem("did not find expected alphabetic or numeric character"));
        }
        self.push(if anchor { Kind::Anchor(name) } else { Kind::Alias(name) }, line);
        Ok(())
    }

    pub(super) fn tag(&mut self) -> Step<()> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.cursor.line;
        self.cursor.need(2)?;
        let (handle, suffix) = if self.cursor.at(1) == b'<' {
            self.cursor.skip_ascii(2);
            let uri = self.tag_uri("")?;
            if self.cursor.at(0) != b'>' {
                return Err(self.problem("did not find the expected '>'"));
            }
            self.cursor.skip_ascii(1);
            ("", uri)
        } else {
            let handle = self.tag_handle(false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                (handle, self.tag_uri("")?)
            } else {
                let suffix = self.tag_uri(handle)?;
                if suffix.is_empty() { ("", Cow::Borrowed("!")) } else { ("!", suffix) }
            }
        };
        self.cursor.need(1)?;
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.problem("did not find expected whitespace or line break"));
        }
        self.push(Kind::Tag(Box::new((Cow::Borrowed(handle), suffix))), line);
        Ok(())
    }

    /// `!`, `!!` or `!name!`; outside of a directive also the `!name` that begins a local tag.
    fn tag_handle(&mut self, directive: bool) -> Step<&'a str> {
        self.cursor.need(1)?;
        if self.cursor.at(0) != b'!' {
            return Err(self.problem("did not find expected '!'"));
        }
        let start = self.cursor.pos;
        self.cursor.skip_ascii(1);
        self.cursor.need(1)?;
        self.word()?;
        if self.cursor.at(0) == b'!' {
            self.cursor.skip_ascii(1);
        } else if directive && self.cursor.pos - start > 1 {
            return Err(self.problem("did not find expected '!'"));
        }
        Ok(&self.cursor.text[start..self.cursor.pos])
    }

    /// The rest of a tag. `head` is what was taken for its handle but belongs to it.
    fn tag_uri(&mut self, head: &'a str) -> Step<Cow<'a, str>> {
        let mut uri = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut found = !head.is_empty();
        self.cursor.need(1)?;
        loop {
            match self.cursor.at(0) {
                b'%' => self.uri_escapes(&mut uri)?,
                b if is_word(b) || b";/?:@&=+$,.!~*'()[]".contains(&b) => {
                    uri.push(b);
                    self.cursor.skip_ascii(1);
                }
                _ => break,
            }
            self.cursor.need(1)?;
            found = true;
        }
        if !found {
            return Err(self.problem("did not find expected tag URI"));
        }
        Ok(Cow::Owned(String::from_utf8_lossy(&uri).into_owned()))
    }

    /// A character written as `%XX` for each of its bytes.
    fn uri_escapes(&mut self, uri: &mut Vec<u8>) -> Step<()> {
        let mut width = None;
        loop {
            self.cursor.need(3)?;
            let digit = |n| char::from(self.cursor.at(n)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.cursor.at(0), digit(1), digit(2)) else {
                return Err(self.problem("did not find URI escaped octet"));
            };
            let octet = u8::try_from(high << 4 | low).unwrap_or(0);
            let left = match width {
                None => match octet {
                    0..0x80 => 1,
                    0xC0..0xE0 => 2,
                    0xE0..0xF0 => 3,
                    0xF0..0xF8 => 4,
                    _ => return Err(self.problem("found an incorrect leading UTF-8 octet")),
                },
                Some(_) if octet & 0xC0 != 0x80 => {
                    return Err(self.problem("found an incorrect trailing UTF-8 octet"));
                }
                Some(left) => left,
            };
            uri.push(octet);
            self.cursor.skip_ascii(3);
            if left == 1 {
                return Ok(());
            }
            width = Some(left - 1);
        }
    }

    pub(super) fn directive(&mut self) -> Step<()> {
        self.reset_line_context()?;
        let line = self.cursor.line;
        self.cursor.skip_ascii(1);
        self.cursor.need(1)?;
        let name = self.word()?;
        if name.is_empty() {
            return Err(self.problem("could not find expected directive name"));
        }
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.problem("found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => self.version()?,
            "TAG" => self.tag_directive()?,
            _ => return Err(self.problem("found unknown directive name")),
        };
        self.cursor.need(1)?;
        self.cursor.skip_blanks()?;
        self.cursor.skip_comment()?;
        if !self.cursor.is_break_or_end(0) {
            return Err(self.problem("did not find expected comment or line break"));
        }
        if self.cursor.is_break(0) {
            self.cursor.need(2)?;
            self.cursor.skip_line();
        }
        self.push(kind, line);
        Ok(())
    }

    fn version(&mut self) -> Step<Kind<'a>> {
        self.cursor.need(1)?;
        self.cursor.skip_blanks()?;
        let major = self.version_number()?;
        if self.cursor.at(0) != b'.' {
            return Err(self.problem("did not find expected digit or '.' character"));
        }
        self.cursor.skip_ascii(1);
        Ok(Kind::Version(major, self.version_number()?))
    }

    fn version_number(&mut self) -> Step<u8> {
        self.cursor.need(1)?;
        let (mut number, mut length) = (0, 0);
        while self.cursor.at(0).is_ascii_digit() {
            length += 1;
            if length > 2 {
                return Err(self.problem("found extremely long version number"));
            }
            number = number * 10 + (self.cursor.at(0) - b'0');
            self.cursor.skip_ascii(1);
            self.cursor.need(1)?;
        }
        if length == 0 {
            return Err(self.problem("did not find expected version number"));
        }
        Ok(number)
    }

    fn tag_directive(&mut self) -> Step<Kind<'a>> {
        self.cursor.need(1)?;
        self.cursor.skip_blanks()?;
        let handle = self.tag_handle(true)?;
        self.cursor.need(1)?;
        if !self.cursor.is_blank(0) {
            return Err(self.problem("did not find expected whitespace"));
        }
        self.cursor.skip_blanks()?;
        let prefix = self.tag_uri("")?;
        self.cursor.need(1)?;
        if !self.cursor.is_blank_or_end(0) {
            return Err(self.problem("did not find expected whitespace or line break"));
        }
        Ok(Kind::TagDirective(Box::new((Cow::Borrowed(handle), prefix))))
    }
}
