//! A tree to values, as go-yaml's decoder does when it knows no type to decode into.

use std::{borrow::Cow, collections::HashSet};

use base64::{
    Engine as _,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    error::{Problem, Step},
    govalue::GoValue,
    parser::Tag,
    resolve::{Scalar, resolve},
    tree::{Content, Tree},
};

/// How deeply the values of a document may be nested. go-yaml goes to 10,000, which no document for people needs, and
/// which would ask for more stack than threads have from whatever walks, prints or frees the value.
pub(super) const MAX_DEPTH: usize = 1_000;

/// The place of a value that is left out.
const NOWHERE: u32 = u32::MAX;

/// A key of a mapping. go-yaml keeps keys of different types apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Key<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Str(Cow<'t, str>),
    /// A string that is not UTF-8.
    Binary(Vec<u8>),
}

impl Key<'_> {
    /// Whether it is text with bytes that are not UTF-8, or with what stands for them.
    fn is_damaged(&self) -> bool {
        match self {
            Self::Binary(_) => true,
            Self::Str(text) => !text.is_ascii() && text.contains(char::REPLACEMENT_CHARACTER),
            _ => false,
        }
    }

    /// The bytes of a text.
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
            _ => &[],
        }
    }

    /// A text that is equal for equal keys; none for NaN, which equals nothing.
    pub(super) fn identity(&self) -> Option<String> {
        Some(match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("bool {value}"),
            Self::Int(value) => format!("int {value}"),
            Self::Uint(value) => format!("uint64 {value}"),
            Self::Float(value) if value.is_nan() => return None,
            Self::Float(value) => format!("float64 {}", value + 0.0),
            Self::Str(value) => format!("string {value}"),
            Self::Binary(value) => format!("bytes {}", value.escape_ascii()),
        })
    }
}

/// What values are made of.
pub(super) trait Sink {
    type Value;
    type Map;
    fn null(&mut self) -> Self::Value;
    fn bool(&mut self, value: bool) -> Self::Value;
    fn int(&mut self, value: i64) -> Self::Value;
    fn uint(&mut self, value: u64) -> Self::Value;
    fn float(&mut self, value: f64) -> Self::Value;
    fn text(&mut self, value: &str) -> Self::Value;
    fn list(&mut self, items: Vec<Self::Value>) -> Self::Value;
    /// A map that is about to get so many entries.
    fn map(&mut self, entries: usize) -> Self::Map;
    /// Sets an entry, over an earlier one of the same key.
    fn insert(&mut self, map: &mut Self::Map, key: Key<'_>, value: Self::Value);
    fn finish(&mut self, map: Self::Map) -> Self::Value;
}

/// The decoder of one tree.
pub(super) struct Decoder<'t, 's, S> {
    tree: &'t Tree<'t>,
    sink: &'s mut S,
    /// Whether a key that is set twice is an error.
    strict: bool,
    /// Which entries of the mapping at the top have values, if not all.
    wanted: Option<&'s dyn Fn(&str) -> bool>,
    /// The errors that let decoding go on.
    duplicates: Vec<String>,
    /// The aliases whose nodes are being decoded.
    aliases: Vec<u32>,
    decoded: u64,
    decoded_in_aliases: u64,
    depth: usize,
}

/// The identities of the keys of a mapping so far, where they matter.
type Seen = HashSet<String>;

impl<'t, 's, S: Sink> Decoder<'t, 's, S> {
    pub(super) fn new(tree: &'t Tree<'t>, sink: &'s mut S, strict: bool) -> Self {
        Self {
            tree,
            sink,
            strict,
            wanted: None,
            duplicates: Vec::new(),
            aliases: Vec::new(),
            // go-yaml counts the document too.
            decoded: 1,
            decoded_in_aliases: 0,
            depth: 0,
        }
    }

    /// Leaves out the values of some entries of the mapping at the top.
    pub(super) fn only(mut self, wanted: Option<&'s dyn Fn(&str) -> bool>) -> Self {
        self.wanted = wanted;
        self
    }

    /// Decodes the document.
    ///
    /// # Errors
    /// A tag that does not fit, a key that is a collection, a merge of something else than mappings, an alias inside of
    /// what it names, too many aliases, too deep nesting; and, if strict, keys that are set twice.
    pub(super) fn document(mut self) -> Step<S::Value> {
        if self.tree.nodes.is_empty() {
            return Ok(self.sink.null());
        }
        let value = self.value(0)?;
        if self.duplicates.is_empty() {
            Ok(value)
        } else {
            Err(Problem::new(format!("unmarshal errors:\n  {}", self.duplicates.join("\n  "))))
        }
    }

    /// Counts a step. A document must not live off its aliases: go-yaml's measure against exponential growth.
    fn count(&mut self) -> Step<()> {
        self.decoded += 1;
        if !self.aliases.is_empty() {
            self.decoded_in_aliases += 1;
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let (all, aliased) = (self.decoded as f64, self.decoded_in_aliases as f64);
            let allowed = 0.99 - 0.89 * ((all - 400_000.0) / 3_600_000.0).clamp(0.0, 1.0);
            if self.decoded_in_aliases > 100 && self.decoded > 1000 && aliased / all > allowed {
                return Err(Problem::new("document contains excessive aliasing"));
            }
        }
        Ok(())
    }

    fn value(&mut self, at: u32) -> Step<S::Value> {
        if at == NOWHERE {
            return Ok(self.sink.null());
        }
        self.count()?;
        match &self.tree.nodes[at as usize].content {
            Content::Scalar { .. } => Ok(match self.scalar(at)? {
                Key::Null => self.sink.null(),
                Key::Bool(value) => self.sink.bool(value),
                Key::Int(value) => self.sink.int(value),
                Key::Uint(value) => self.sink.uint(value),
                Key::Float(value) => self.sink.float(value),
                Key::Str(value) => self.sink.text(&value),
                Key::Binary(value) => self.sink.text(&replaced(&value)),
            }),
            Content::Alias { .. } => {
                let target = self.enter_alias(at)?;
                let value = self.value(target)?;
                self.aliases.pop();
                Ok(value)
            }
            &Content::Sequence { children, end } => {
                self.deepen()?;
                let mut items = Vec::with_capacity(children as usize);
                let mut child = at + 1;
                while child < end {
                    items.push(self.value(child)?);
                    child = self.tree.after(child);
                }
                self.depth -= 1;
                Ok(self.sink.list(items))
            }
            &Content::Mapping { children, .. } => {
                let mut map = self.sink.map(children as usize / 2);
                self.mapping(at, &mut map, &mut Seen::default())?;
                Ok(self.sink.finish(map))
            }
        }
    }

    fn deepen(&mut self) -> Step<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Problem::new(format!("exceeded max depth of {MAX_DEPTH}")));
        }
        Ok(())
    }

    fn enter_alias(&mut self, at: u32) -> Step<u32> {
        let node = &self.tree.nodes[at as usize];
        let Content::Alias { name, target } = node.content else {
            return Ok(at);
        };
        if self.aliases.contains(&at) {
            return Err(Problem::at(format!("anchor '{name}' value contains itself"), node.line));
        }
        self.aliases.push(at);
        Ok(target)
    }

    fn scalar(&mut self, at: u32) -> Step<Key<'t>> {
        let node = &self.tree.nodes[at as usize];
        let Content::Scalar { value, tag, implicit } = &node.content else {
            return Ok(Key::Null);
        };
        if *tag == Tag::Absent && !implicit {
            return Ok(Key::Str(Cow::Borrowed(value)));
        }
        if *tag == Tag::Binary {
            let bytes = binary(value)
                .ok_or_else(|| Problem::at("!!binary value contains invalid base64 data", node.line))?;
            return Ok(match String::from_utf8(bytes) {
                Ok(text) => Key::Str(Cow::Owned(text)),
                Err(error) => Key::Binary(error.into_bytes()),
            });
        }
        Ok(match resolve(*tag, value, node.line)? {
            Scalar::Null => Key::Null,
            Scalar::Bool(value) => Key::Bool(value),
            Scalar::Int(value) => Key::Int(value),
            Scalar::Uint(value) => Key::Uint(value),
            Scalar::Float(value) => Key::Float(value),
            Scalar::Str(value) => Key::Str(Cow::Borrowed(value)),
        })
    }

    /// Decodes the entries of a mapping in their order. A merge is an entry like any other: it sets over what came
    /// before it, and what comes after sets over it.
    fn mapping(&mut self, at: u32, map: &mut S::Map, seen: &mut Seen) -> Step<()> {
        let Content::Mapping { end, .. } = self.tree.nodes[at as usize].content else {
            return Ok(());
        };
        self.deepen()?;
        let mut child = at + 1;
        // Keys that may become the same text: Go sets them in the order of their bytes.
        let mut damaged: Vec<(Key<'t>, S::Value)> = Vec::new();
        while child < end {
            let value_at = self.tree.after(child);
            if self.is_merge(child) {
                self.merge(value_at, map, seen)?;
            } else {
                let key = self.key(child)?;
                let part = if self.wanted.is_some() { self.part(&key, value_at)? } else { value_at };
                let value = self.value(part)?;
                self.entry(map, seen, &mut damaged, (key, value, value_at));
            }
            child = self.tree.after(value_at);
        }
        damaged.sort_by(|(a, _), (b, _)| a.bytes().cmp(b.bytes()));
        for (key, value) in damaged {
            self.sink.insert(map, key, value);
        }
        self.depth -= 1;
        Ok(())
    }

    fn is_merge(&self, key: u32) -> bool {
        match &self.tree.nodes[key as usize].content {
            Content::Scalar { value, tag, implicit } => value == "<<" && (*implicit || *tag == Tag::Merge),
            _ => false,
        }
    }

    /// Sets an entry, or notes it for later. Apart from [`Self::mapping`], whose every local counts a thousand times.
    fn entry(
        &mut self,
        map: &mut S::Map,
        seen: &mut Seen,
        damaged: &mut Vec<(Key<'t>, S::Value)>,
        (key, value, value_at): (Key<'t>, S::Value, u32),
    ) {
        if self.strict && !self.is_new(&key, value_at, seen) {
            // It is noted.
        } else if key.is_damaged() {
            damaged.push((key, value));
        } else {
            self.sink.insert(map, key, value);
        }
    }

    /// Where the value of an entry is, or [`NOWHERE`] if it is not wanted. Then what is wrong in it is found here.
    fn part(&mut self, key: &Key<'_>, at: u32) -> Step<u32> {
        match (&self.wanted, key) {
            (Some(wanted), Key::Str(key)) if self.depth == 1 && !wanted(key) => {}
            _ => return Ok(at),
        }
        let mut sink = super::sinks::Nothing::default();
        let mut decoder = Decoder::new(self.tree, &mut sink, self.strict);
        decoder.take_over(self);
        let result = decoder.value(at);
        (self.decoded, self.decoded_in_aliases) = (decoder.decoded, decoder.decoded_in_aliases);
        result?;
        if sink.odd {
            // The one number that JSON cannot hold stands for whatever it was.
            let _ = self.sink.float(f64::NAN);
        }
        Ok(NOWHERE)
    }

    /// Goes on where another decoder is.
    fn take_over<T>(&mut self, other: &Decoder<'t, '_, T>) {
        (self.depth, self.aliases) = (other.depth, other.aliases.clone());
        (self.decoded, self.decoded_in_aliases) = (other.decoded, other.decoded_in_aliases);
    }

    fn key(&mut self, at: u32) -> Step<Key<'t>> {
        self.count()?;
        let (scalar, aliased) = match self.tree.nodes[at as usize].content {
            Content::Alias { .. } => (self.enter_alias(at)?, true),
            _ => (at, false),
        };
        if aliased {
            self.count()?;
        }
        if !matches!(self.tree.nodes[scalar as usize].content, Content::Scalar { .. }) {
            // What is wrong inside of it is said first. This takes more stack than other levels do.
            self.deepen()?;
            let mut sink = super::govalue::GoSink;
            let mut decoder = Decoder::new(self.tree, &mut sink, self.strict);
            decoder.take_over(self);
            let value: GoValue = decoder.value(scalar)?;
            let line = self.tree.nodes[at as usize].line;
            return Err(Problem::at(format!("invalid map key: {}", value.syntax()), line));
        }
        let key = self.scalar(scalar)?;
        if aliased {
            self.aliases.pop();
        }
        Ok(key)
    }

    fn merge(&mut self, at: u32, map: &mut S::Map, seen: &mut Seen) -> Step<()> {
        let line = self.tree.nodes[at as usize].line;
        let unfit = || Problem::at("map merge requires map or sequence of maps as the value", line);
        let sources = match &self.tree.nodes[at as usize].content {
            &Content::Sequence { end, .. } => {
                let mut children = Vec::new();
                let mut child = at + 1;
                while child < end {
                    children.push(child);
                    child = self.tree.after(child);
                }
                // Earlier ones take precedence.
                children.reverse();
                children
            }
            _ => vec![at],
        };
        for source in sources {
            match self.tree.nodes[source as usize].content {
                Content::Mapping { .. } => {
                    self.count()?;
                    self.mapping(source, map, seen)?;
                }
                Content::Alias { target, .. }
                    if matches!(self.tree.nodes[target as usize].content, Content::Mapping { .. }) =>
                {
                    self.count()?;
                    self.enter_alias(source)?;
                    self.count()?;
                    self.mapping(target, map, seen)?;
                    self.aliases.pop();
                }
                _ => return Err(unfit()),
            }
        }
        Ok(())
    }

    /// Whether a key is not set yet, for the strict reading; remembers it, or the error.
    fn is_new(&mut self, key: &Key<'_>, value_at: u32, seen: &mut Seen) -> bool {
        let new = key.identity().is_none_or(|identity| seen.insert(identity));
        if !new {
            let line = self.tree.nodes[value_at as usize].line + 1;
            let key = GoValue::from_key(key).syntax();
            self.duplicates.push(format!("line {line}: key {key} already set in map"));
        }
        new
    }
}

/// What base64 stands for.
fn binary(text: &str) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    );
    let joined: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    ENGINE.decode(joined).ok()
}

/// Text in which bytes that are not UTF-8 became U+FFFD one by one, as encoding/json has it.
pub(super) fn replaced(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
