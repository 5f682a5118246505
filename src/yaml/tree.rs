//! Events to a tree: the first document of a text, with its aliases resolved to the nodes they name.

use std::{borrow::Cow, collections::HashMap};

use super::{
    error::{Problem, Step},
    parser::{Event, Parser, Tag},
};

/// What a node is.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Scalar {
        value: Cow<'a, str>,
        tag: Tag,
        /// Whether the value may be something else than a string.
        implicit: bool,
    },
    /// `children` nodes follow this one in the tree, each with its own children after it; they end before `end`.
    Sequence { children: u32, end: u32 },
    /// As a sequence of keys and values in turn.
    Mapping { children: u32, end: u32 },
    /// The name of an anchor and the node that has it.
    Alias { name: &'a str, target: u32 },
}

/// A node and the zero-based line where it begins.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) content: Content<'a>,
    pub(super) line: u32,
}

/// The nodes of a document, each before its children. Empty if the text has no document.
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    /// Reads the first document of a text; what comes after it is not looked at.
    ///
    /// # Errors
    /// The first problem up to the end of the document, or a name that no anchor before it has.
    pub(super) fn read(mut parser: Parser<'a>) -> Step<Self> {
        let mut nodes: Vec<Node<'a>> = Vec::new();
        let mut anchors: HashMap<&'a str, u32> = HashMap::new();
        // The collections that are open.
        let mut open: Vec<usize> = Vec::new();
        loop {
            let (event, line) = parser.next()?;
            let here = u32::try_from(nodes.len()).map_err(|_| Problem::new("document has too many nodes"))?;
            let (anchor, content) = match event {
                Event::StreamStart | Event::DocumentStart => continue,
                Event::StreamEnd | Event::DocumentEnd => return Ok(Self { nodes }),
                Event::SequenceEnd | Event::MappingEnd => {
                    if let Some(Content::Sequence { end, .. } | Content::Mapping { end, .. }) =
                        open.pop().and_then(|at| nodes.get_mut(at)).map(|node| &mut node.content)
                    {
                        *end = here;
                    }
                    continue;
                }
                Event::Alias(name) => {
                    let Some(&target) = anchors.get(name) else {
                        return Err(Problem::at(format!("unknown anchor '{name}' referenced"), line));
                    };
                    (None, Content::Alias { name, target })
                }
                Event::Scalar { anchor, tag, value, implicit } => {
                    (anchor, Content::Scalar { value, tag, implicit })
                }
                Event::SequenceStart(anchor) => (anchor, Content::Sequence { children: 0, end: 0 }),
                Event::MappingStart(anchor) => (anchor, Content::Mapping { children: 0, end: 0 }),
            };
            if let Some(anchor) = anchor {
                anchors.insert(anchor, here);
            }
            if let Some(&at) = open.last()
                && let Content::Sequence { children, .. } | Content::Mapping { children, .. } =
                    &mut nodes[at].content
            {
                *children += 1;
            }
            if matches!(content, Content::Sequence { .. } | Content::Mapping { .. }) {
                open.push(nodes.len());
            }
            nodes.push(Node { content, line });
        }
    }

    /// The node that follows `at` and all its children.
    pub(super) fn after(&self, at: u32) -> u32 {
        match self.nodes[at as usize].content {
            Content::Sequence { end, .. } | Content::Mapping { end, .. } => end,
            _ => at + 1,
        }
    }
}
