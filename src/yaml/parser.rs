//! Tokens to events, as libyaml's parser does: a state machine over the grammar of YAML 1.1.

use std::borrow::Cow;

use super::{
    error::{Problem, Step},
    reader::Source,
    scanner::{Kind, Scanner},
};

/// What a tag says of a scalar, as far as go-yaml cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// None at all.
    Absent,
    /// `!`: a string, whatever it looks like.
    NonSpecific,
    Str,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    /// Any other: the scalar is a string.
    Other,
}

impl Tag {
    fn of(tag: &str) -> Self {
        match tag.strip_prefix("tag:yaml.org,2002:") {
            _ if tag == "!" => Self::NonSpecific,
            Some("str") => Self::Str,
            Some("bool") => Self::Bool,
            Some("int") => Self::Int,
            Some("float") => Self::Float,
            Some("null") => Self::Null,
            Some("timestamp") => Self::Timestamp,
            Some("binary") => Self::Binary,
            Some("merge") => Self::Merge,
            _ => Self::Other,
        }
    }

    /// The tag as go-yaml shortens it in messages.
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::NonSpecific | Self::Other => "!",
            Self::Str => "!!str",
            Self::Bool => "!!bool",
            Self::Int => "!!int",
            Self::Float => "!!float",
            Self::Null => "!!null",
            Self::Timestamp => "!!timestamp",
            Self::Binary => "!!binary",
            Self::Merge => "!!merge",
        }
    }
}

/// A step in the document's structure.
#[derive(Debug, Clone)]
pub(super) enum Event<'a> {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(&'a str),
    Scalar {
        anchor: Option<&'a str>,
        tag: Tag,
        value: Cow<'a, str>,
        /// Whether the value may be something else than a string.
        implicit: bool,
    },
    SequenceStart(Option<&'a str>),
    SequenceEnd,
    MappingStart(Option<&'a str>),
    MappingEnd,
}

#[derive(Debug, Clone, Copy)]
enum State {
    StreamStart,
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequenceFirst,
    BlockSequenceEntry,
    IndentlessSequenceEntry,
    BlockMappingFirst,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirst,
    FlowSequenceEntry,
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMappingFirst,
    FlowMappingKey,
    FlowMappingValue,
    FlowMappingEmptyValue,
    End,
}

/// The parser of one text.
pub(super) struct Parser<'a> {
    pub(super) scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    /// The handles and prefixes of the present document's `%TAG` directives, the two that are always there included.
    tags: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a Source<'_>) -> Self {
        Self {
            scanner: Scanner::new(source),
            state: State::StreamStart,
            states: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// The next event and the zero-based line where it begins.
    ///
    /// # Errors
    /// The first problem of the text up to there.
    pub(super) fn next(&mut self) -> Step<(Event<'a>, u32)> {
        match self.state {
            State::StreamStart => {
                let line = self.take_line()?;
                self.state = State::ImplicitDocumentStart;
                Ok((Event::StreamStart, line))
            }
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(true, false),
            State::BlockSequenceFirst => {
                self.take_line()?;
                self.block_sequence_entry()
            }
            State::BlockSequenceEntry => self.block_sequence_entry(),
            State::IndentlessSequenceEntry => self.indentless_sequence_entry(),
            State::BlockMappingFirst => {
                self.take_line()?;
                self.block_mapping_key()
            }
            State::BlockMappingKey => self.block_mapping_key(),
            State::BlockMappingValue => self.block_mapping_value(),
            State::FlowSequenceFirst => {
                self.take_line()?;
                self.flow_sequence_entry(true)
            }
            State::FlowSequenceEntry => self.flow_sequence_entry(false),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => {
                let line = self.line()?;
                self.state = State::FlowSequenceEntry;
                Ok((Event::MappingEnd, line))
            }
            State::FlowMappingFirst => {
                self.take_line()?;
                self.flow_mapping_key(true)
            }
            State::FlowMappingKey => self.flow_mapping_key(false),
            State::FlowMappingValue => self.flow_mapping_value(false),
            State::FlowMappingEmptyValue => self.flow_mapping_value(true),
            State::End => Ok((Event::StreamEnd, 0)),
        }
    }

    #[inline]
    fn kind(&mut self) -> Step<&Kind<'a>> {
        Ok(&self.scanner.peek()?.kind)
    }

    fn line(&mut self) -> Step<u32> {
        Ok(self.scanner.peek()?.line)
    }

    /// Takes the next token, whatever it is, and returns its line.
    fn take_line(&mut self) -> Step<u32> {
        let line = self.line()?;
        self.scanner.take();
        Ok(line)
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    fn unexpected<T>(&mut self, message: &'static str) -> Step<T> {
        Err(Problem::parser(message, self.line()?))
    }

    /// An empty scalar, which stands where a node was left out.
    fn empty(&mut self, line: u32, next: State) -> (Event<'a>, u32) {
        self.state = next;
        (Event::Scalar { anchor: None, tag: Tag::Absent, value: Cow::Borrowed(""), implicit: true }, line)
    }

    fn end_collection(&mut self, event: Event<'a>) -> Step<(Event<'a>, u32)> {
        let line = self.take_line()?;
        self.pop_state();
        Ok((event, line))
    }

    fn document_start(&mut self, implicit: bool) -> Step<(Event<'a>, u32)> {
        if !implicit {
            while matches!(self.kind()?, Kind::DocumentEnd) {
                self.scanner.take();
            }
        }
        let line = self.line()?;
        match self.kind()? {
            Kind::StreamEnd => {
                self.scanner.take();
                self.state = State::End;
                return Ok((Event::StreamEnd, line));
            }
            Kind::Version(..) | Kind::TagDirective(_) | Kind::DocumentStart => {}
            _ if implicit => {
                self.directives()?;
                self.states.push(State::DocumentEnd);
                self.state = State::BlockNode;
                return Ok((Event::DocumentStart, line));
            }
            _ => {}
        }
        self.directives()?;
        if !matches!(self.kind()?, Kind::DocumentStart) {
            return self.unexpected("did not find expected <document start>");
        }
        self.scanner.take();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        Ok((Event::DocumentStart, line))
    }

    fn directives(&mut self) -> Step<()> {
        let mut versioned = false;
        loop {
            let line = self.line()?;
            match self.kind()? {
                &Kind::Version(major, minor) => {
                    if versioned {
                        return Err(Problem::parser("found duplicate %YAML directive", line));
                    }
                    if (major, minor) != (1, 1) {
                        return Err(Problem::parser("found incompatible YAML document", line));
                    }
                    versioned = true;
                }
                Kind::TagDirective(directive) => {
                    let (handle, prefix) = *directive.clone();
                    if self.tags.iter().any(|(known, _)| *known == handle) {
                        return Err(Problem::parser("found duplicate %TAG directive", line));
                    }
                    self.tags.push((handle, prefix));
                }
                _ => break,
            }
            self.scanner.take();
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tags.iter().any(|(known, _)| known == handle) {
                self.tags.push((handle.into(), prefix.into()));
            }
        }
        Ok(())
    }

    fn document_content(&mut self) -> Step<(Event<'a>, u32)> {
        match self.kind()? {
            Kind::Version(..)
            | Kind::TagDirective(_)
            | Kind::DocumentStart
            | Kind::DocumentEnd
            | Kind::StreamEnd => {
                let line = self.line()?;
                let event = self.empty(line, State::End);
                self.pop_state();
                Ok(event)
            }
            _ => self.node(true, false),
        }
    }

    fn document_end(&mut self) -> Step<(Event<'a>, u32)> {
        let line = self.line()?;
        if matches!(self.kind()?, Kind::DocumentEnd) {
            self.scanner.take();
        }
        self.tags.clear();
        self.state = State::DocumentStart;
        Ok((Event::DocumentEnd, line))
    }

    /// A node: an alias, or properties and content, either of which may be missing.
    fn node(&mut self, block: bool, indentless: bool) -> Step<(Event<'a>, u32)> {
        let token = self.scanner.peek()?;
        let line = token.line;
        let (mut anchor, mut tag) = (None, None);
        match token.kind {
            Kind::Alias(name) => {
                self.scanner.take();
                self.pop_state();
                return Ok((Event::Alias(name), line));
            }
            Kind::Anchor(name) => {
                anchor = Some(name);
                self.scanner.take();
                if matches!(self.kind()?, Kind::Tag(_)) {
                    tag = self.scanner.take();
                }
            }
            Kind::Tag(_) => {
                tag = self.scanner.take();
                if let &Kind::Anchor(name) = self.kind()? {
                    anchor = Some(name);
                    self.scanner.take();
                }
            }
            _ => {}
        }
        // Go reads on before it looks the handle up.
        self.scanner.peek()?;
        let tag = match tag {
            Some(token) => match token.kind {
                Kind::Tag(parts) => self.resolve(&parts.0, &parts.1, token.line)?,
                _ => Tag::Absent,
            },
            None => Tag::Absent,
        };
        let (event, first) = match self.kind()? {
            Kind::Scalar(_, plain) => {
                let implicit = *plain && tag == Tag::Absent || tag == Tag::NonSpecific;
                let Some(Kind::Scalar(value, _)) = self.scanner.take().map(|t| t.kind) else {
                    return self.unexpected("did not find expected node content");
                };
                self.pop_state();
                return Ok((Event::Scalar { anchor, tag, value, implicit }, line));
            }
            Kind::BlockEntry if indentless => (Event::SequenceStart(anchor), State::IndentlessSequenceEntry),
            Kind::FlowSequenceStart => (Event::SequenceStart(anchor), State::FlowSequenceFirst),
            Kind::FlowMappingStart => (Event::MappingStart(anchor), State::FlowMappingFirst),
            Kind::BlockSequenceStart if block => (Event::SequenceStart(anchor), State::BlockSequenceFirst),
            Kind::BlockMappingStart if block => (Event::MappingStart(anchor), State::BlockMappingFirst),
            _ if anchor.is_some() || tag != Tag::Absent => {
                self.pop_state();
                let implicit = tag == Tag::Absent;
                return Ok((Event::Scalar { anchor, tag, value: Cow::Borrowed(""), implicit }, line));
            }
            _ => return self.unexpected("did not find expected node content"),
        };
        self.state = first;
        Ok((event, line))
    }

    fn resolve(&self, handle: &str, suffix: &str, line: u32) -> Step<Tag> {
        if handle.is_empty() {
            return Ok(Tag::of(suffix));
        }
        match self.tags.iter().find(|(known, _)| known == handle) {
            Some((_, prefix)) if !(prefix.is_empty() && suffix.is_empty()) => {
                Ok(Tag::of(&format!("{prefix}{suffix}")))
            }
            _ => Err(Problem::parser("found undefined tag handle", line)),
        }
    }

    /// The node after an indicator on `line`, or an empty scalar if `ends` says that there is none.
    fn node_or_empty(
        &mut self,
        line: u32,
        after: State,
        indentless: bool,
        ends: fn(&Kind<'_>) -> bool,
    ) -> Step<(Event<'a>, u32)> {
        if ends(self.kind()?) {
            Ok(self.empty(line, after))
        } else {
            self.states.push(after);
            self.node(true, indentless)
        }
    }

    fn block_sequence_entry(&mut self) -> Step<(Event<'a>, u32)> {
        match self.kind()? {
            Kind::BlockEntry => {
                let line = self.take_line()?;
                self.node_or_empty(line, State::BlockSequenceEntry, false, |kind| {
                    matches!(kind, Kind::BlockEntry | Kind::BlockEnd)
                })
            }
            Kind::BlockEnd => self.end_collection(Event::SequenceEnd),
            _ => self.unexpected("did not find expected '-' indicator"),
        }
    }

    /// An entry of a sequence that is as deep as the mapping it is a value of.
    fn indentless_sequence_entry(&mut self) -> Step<(Event<'a>, u32)> {
        if matches!(self.kind()?, Kind::BlockEntry) {
            let line = self.take_line()?;
            return self.node_or_empty(line, State::IndentlessSequenceEntry, false, |kind| {
                matches!(kind, Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd)
            });
        }
        let line = self.line()?;
        self.pop_state();
        Ok((Event::SequenceEnd, line))
    }

    fn block_mapping_key(&mut self) -> Step<(Event<'a>, u32)> {
        match self.kind()? {
            Kind::Key => {
                let line = self.take_line()?;
                self.node_or_empty(line, State::BlockMappingValue, true, |kind| {
                    matches!(kind, Kind::Key | Kind::Value | Kind::BlockEnd)
                })
            }
            Kind::BlockEnd => self.end_collection(Event::MappingEnd),
            _ => self.unexpected("did not find expected key"),
        }
    }

    fn block_mapping_value(&mut self) -> Step<(Event<'a>, u32)> {
        let line = self.line()?;
        if !matches!(self.kind()?, Kind::Value) {
            return Ok(self.empty(line, State::BlockMappingKey));
        }
        self.scanner.take();
        self.node_or_empty(line, State::BlockMappingKey, true, |kind| {
            matches!(kind, Kind::Key | Kind::Value | Kind::BlockEnd)
        })
    }

    fn flow_sequence_entry(&mut self, first: bool) -> Step<(Event<'a>, u32)> {
        if !first && !matches!(self.kind()?, Kind::FlowSequenceEnd) {
            if !matches!(self.kind()?, Kind::FlowEntry) {
                return self.unexpected("did not find expected ',' or ']'");
            }
            self.scanner.take();
        }
        match self.kind()? {
            Kind::FlowSequenceEnd => self.end_collection(Event::SequenceEnd),
            Kind::Key => {
                let line = self.take_line()?;
                self.state = State::FlowPairKey;
                Ok((Event::MappingStart(None), line))
            }
            _ => {
                self.states.push(State::FlowSequenceEntry);
                self.node(false, false)
            }
        }
    }

    /// The key of a pair that is an entry of a flow sequence: `[key: value]`.
    fn flow_pair_key(&mut self) -> Step<(Event<'a>, u32)> {
        if matches!(self.kind()?, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            let line = self.take_line()?;
            return Ok(self.empty(line, State::FlowPairValue));
        }
        self.states.push(State::FlowPairValue);
        self.node(false, false)
    }

    fn flow_pair_value(&mut self) -> Step<(Event<'a>, u32)> {
        let line = self.line()?;
        if matches!(self.kind()?, Kind::Value) {
            self.scanner.take();
            if !matches!(self.kind()?, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                self.states.push(State::FlowPairEnd);
                return self.node(false, false);
            }
        }
        Ok(self.empty(line, State::FlowPairEnd))
    }

    fn flow_mapping_key(&mut self, first: bool) -> Step<(Event<'a>, u32)> {
        if !first && !matches!(self.kind()?, Kind::FlowMappingEnd) {
            if !matches!(self.kind()?, Kind::FlowEntry) {
                return self.unexpected("did not find expected ',' or '}'");
            }
            self.scanner.take();
        }
        match self.kind()? {
            Kind::FlowMappingEnd => self.end_collection(Event::MappingEnd),
            Kind::Key => {
                self.scanner.take();
                if matches!(self.kind()?, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                    let line = self.line()?;
                    return Ok(self.empty(line, State::FlowMappingValue));
                }
                self.states.push(State::FlowMappingValue);
                self.node(false, false)
            }
            _ => {
                self.states.push(State::FlowMappingEmptyValue);
                self.node(false, false)
            }
        }
    }

    fn flow_mapping_value(&mut self, empty: bool) -> Step<(Event<'a>, u32)> {
        if !empty && matches!(self.kind()?, Kind::Value) {
            self.scanner.take();
            if !matches!(self.kind()?, Kind::FlowEntry | Kind::FlowMappingEnd) {
                self.states.push(State::FlowMappingKey);
                return self.node(false, false);
            }
        }
        let line = self.line()?;
        Ok(self.empty(line, State::FlowMappingKey))
    }
}
