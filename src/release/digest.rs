//! Digests: small ones that live in memory per member, long ones that live in status.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use sha2::{Digest as _, Sha256};

/// FNV-1a, 64 bits. Not against malice: it compares what the API server says now with what it said before.
#[derive(Debug, Clone, Copy)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Takes bytes in.
    pub fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes a text in, such that two texts never look like one.
    pub fn text(&mut self, text: &str) {
        self.write(&(text.len() as u64).to_le_bytes());
        self.write(text.as_bytes());
    }

    /// The hash of what was written.
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// The first eight bytes of a text's SHA-256: the in-memory digest of a desired object.
pub fn short(bytes: &[u8]) -> u64 {
    let hash = Sha256::digest(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

/// A SHA-256 over a sequence of texts, printed as `sha256:<hex>`.
#[derive(Default)]
pub struct Long(Sha256);

impl Long {
    /// Takes a text in, such that `a`, `bc` and `ab`, `c` differ.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Takes bytes in, told apart as texts are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Takes a number in.
    pub fn number(&mut self, n: u64) -> &mut Self {
        self.0.update(n.to_le_bytes());
        self
    }

    /// The digest of what was taken in.
    pub fn finish(self) -> String {
        format!("sha256:{}", data_encoding::HEXLOWER.encode(&self.0.finalize()))
    }
}

/// The hash of a JSON value of any shape, computed while it is parsed: nothing is kept of it.
///
/// The order of keys counts. The API server writes `fieldsV1` in one order, and a changed order would cost one apply
/// that changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TreeHash(pub u64);

impl<'de> Deserialize<'de> for TreeHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(TreeHash)
    }
}

struct TreeVisitor;

fn scalar(tag: u8, bytes: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    hash.write(&[tag]);
    hash.write(bytes);
    hash.finish()
}

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(scalar(b'n', &[]))
    }

    fn visit_bool<E>(self, v: bool) -> Result<u64, E> {
        Ok(scalar(b'b', &[u8::from(v)]))
    }

    fn visit_i64<E>(self, v: i64) -> Result<u64, E> {
        Ok(scalar(b'i', &v.to_le_bytes()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<u64, E> {
        Ok(scalar(b'i', &v.to_le_bytes()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<u64, E> {
        Ok(scalar(b'f', &v.to_bits().to_le_bytes()))
    }

    fn visit_str<E>(self, v: &str) -> Result<u64, E> {
        Ok(scalar(b's', v.as_bytes()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u64, A::Error> {
        let mut hash = Fnv::default();
        hash.write(b"{");
        while let Some(key) = map.next_key::<TreeHash>()? {
            hash.write(&key.0.to_le_bytes());
            hash.write(&map.next_value::<TreeHash>()?.0.to_le_bytes());
        }
        hash.write(b"}");
        Ok(hash.finish())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<u64, A::Error> {
        let mut hash = Fnv::default();
        hash.write(b"[");
        while let Some(item) = seq.next_element::<TreeHash>()? {
            hash.write(&item.0.to_le_bytes());
        }
        hash.write(b"]");
        Ok(hash.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(json: &str) -> u64 {
        serde_json::from_str::<TreeHash>(json).unwrap().0
    }

    #[test]
    fn a_tree_hash_sees_every_key_and_value() {
        let base = hash(r#"{"f:spec":{"f:replicas":{}}}"#);
        assert_eq!(base, hash("{\"f:spec\": {\"f:replicas\": {}}}"));
        for other in [
            r#"{"f:spec":{}}"#,
            r#"{"f:spec":{"f:replicas":{},"f:paused":{}}}"#,
            r#"{"f:spec":{"f:replicas":[]}}"#,
            r#"{"f:spec":{},"f:replicas":{}}"#,
        ] {
            assert_ne!(base, hash(other), "{other}");
        }
    }

    #[test]
    fn long_digests_tell_texts_apart() {
        let of = |texts: &[&str]| {
            let mut d = Long::default();
            for t in texts {
                d.text(t);
            }
            d.finish()
        };
        assert_ne!(of(&["a", "bc"]), of(&["ab", "c"]));
        assert!(of(&[]).starts_with("sha256:"));
    }
}
