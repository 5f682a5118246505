//! ASN.1 in DER: as much of it as keys and certificates need.

/// The tags of what is read and written here.
pub(super) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const NULL: u8 = 0x05;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const UTF8_STRING: u8 = 0x0C;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;

    /// `[n]` around something.
    pub(crate) const fn explicit(n: u8) -> u8 {
        0xA0 | n
    }

    /// `[n]` in place of a simple type's own tag.
    pub(crate) const fn implicit(n: u8) -> u8 {
        0x80 | n
    }
}

/// A tag, a length and the contents, which are joined.
pub(super) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length + 6);
    out.push(tag);
    if length < 0x80 {
        out.extend(u8::try_from(length));
    } else {
        let bytes = length.to_be_bytes();
        let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
        out.extend(u8::try_from(0x80 | bytes.len()));
        out.extend_from_slice(bytes);
    }
    for part in parts {
        out.extend_from_slice(part);
    }
    out
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(tag::SEQUENCE, parts)
}

/// A number that is not negative, from its big-endian bytes.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    match bytes.first() {
        None => tlv(tag::INTEGER, &[&[0]]),
        Some(0x80..) => tlv(tag::INTEGER, &[&[0], bytes]),
        Some(_) => tlv(tag::INTEGER, &[bytes]),
    }
}

/// A string of whole bytes.
pub(super) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    tlv(tag::BIT_STRING, &[&[0], bytes])
}

/// What is left to read of a sequence of elements.
#[derive(Clone, Copy)]
pub(super) struct Reader<'d> {
    rest: &'d [u8],
}

/// One element.
#[derive(Clone, Copy)]
pub(super) struct Element<'d> {
    pub(super) tag: u8,
    pub(super) content: &'d [u8],
    /// The element with its tag and length.
    pub(super) whole: &'d [u8],
}

impl<'d> Reader<'d> {
    pub(super) const fn new(bytes: &'d [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next element; none where there is none, or it is not DER.
    pub(super) fn next(&mut self) -> Option<Element<'d>> {
        let (&tag, &first) = (self.rest.first()?, self.rest.get(1)?);
        // Tags of several bytes occur nowhere here.
        if tag & 0x1F == 0x1F {
            return None;
        }
        let (header, length) = match first {
            0..=0x7F => (2, usize::from(first)),
            0x81..=0x84 => {
                let count = usize::from(first & 0x7F);
                let bytes = self.rest.get(2..2 + count)?;
                let length = bytes.iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
                // The shortest form alone is DER.
                if length < 0x80 || bytes[0] == 0 {
                    return None;
                }
                (2 + count, length)
            }
            _ => return None,
        };
        let (whole, rest) = self.rest.split_at_checked(header.checked_add(length)?)?;
        self.rest = rest;
        Some(Element { tag, content: &whole[header..], whole })
    }

    /// The next element, if it has this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<Element<'d>> {
        let mut ahead = *self;
        let element = ahead.next().filter(|element| element.tag == tag)?;
        *self = ahead;
        Some(element)
    }

    /// What is inside the next element, if it has this tag.
    pub(super) fn enter(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(|element| Self::new(element.content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = vec![7; 300];
        let bytes = sequence(&[&unsigned(&[0, 0x80]), &unsigned(&[]), &bit_string(&long)]);
        let mut reader = Reader::new(&bytes);
        let mut inner = reader.enter(tag::SEQUENCE).unwrap();
        assert!(reader.is_empty() && inner.take(tag::NULL).is_none());
        assert_eq!(inner.take(tag::INTEGER).unwrap().content, [0, 0x80]);
        assert_eq!(inner.take(tag::INTEGER).unwrap().whole, [2, 1, 0]);
        assert_eq!(inner.take(tag::BIT_STRING).unwrap().content.len(), 301);
        assert!(inner.is_empty() && inner.next().is_none());
    }

    #[test]
    fn what_is_not_der_is_not_read() {
        for bytes in [
            &[0x30][..],
            &[0x30, 0x80],
            &[0x30, 2, 0],
            &[0x30, 0x81, 1, 0],
            &[0x1F, 1, 0],
            &[0x30, 0x84, 255, 255, 255, 255],
        ] {
            assert!(Reader::new(bytes).next().is_none(), "{bytes:?}");
        }
    }
}
