//! What the scanner finds.

use std::borrow::Cow;

/// The kind of a token, with what it carries.
#[derive(Debug, Clone)]
pub(in super::super) enum Kind<'a> {
    StreamStart,
    StreamEnd,
    /// `%YAML 1.1`.
    Version(u8, u8),
    /// `%TAG handle prefix`.
    TagDirective(Box<(Cow<'a, str>, Cow<'a, str>)>),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    /// A tag's handle and suffix.
    Tag(Box<(Cow<'a, str>, Cow<'a, str>)>),
    /// A scalar, and whether it was plain.
    Scalar(Cow<'a, str>, bool),
}

/// A token and the line, from zero, where it begins.
#[derive(Debug, Clone)]
pub(in super::super) struct Token<'a> {
    pub(in super::super) kind: Kind<'a>,
    pub(in super::super) line: u32,
}
