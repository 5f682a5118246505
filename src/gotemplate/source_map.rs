//! From lowered Tera source back to the nodes of the Go template.

use super::ast::NodeRef;

/// What a place in the lowered source is in the Go template.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// The node that Go's error would point at when what stands here fails.
    pub node: NodeRef<'a>,
    /// The node that Go looked at before it evaluated any arguments: what it finds wrong then is reported there.
    pub before: NodeRef<'a>,
    /// The arguments, when it is a call.
    pub args: Vec<ArgSite<'a>>,
    /// The Go type of what the node takes fields from, where that is known and is no `interface {}`.
    pub base: Option<&'static str>,
}

/// What a nil is in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nil {
    /// No value at all.
    Untyped,
    /// An `interface {}` that is nil, as the entries of maps are.
    Interface,
    /// A field of the template's dot: no value at all if that dot is none, an `interface {}` otherwise.
    OfDot,
    /// A field of what a cell holds: no value at all if that is none, an `interface {}` otherwise.
    OfCell(u32),
}

impl<'a> Site<'a> {
    /// The site of a node without arguments.
    pub(super) fn of(node: NodeRef<'a>) -> Self {
        Self { node, before: node, args: Vec::new(), base: None }
    }
}

/// The sites of a template, by number. They are only counted where nobody will ask for them.
#[derive(Debug)]
pub(super) struct Sites<'a> {
    kept: Option<Vec<Site<'a>>>,
    count: u32,
}

impl<'a> Sites<'a> {
    /// No sites yet; whether those that come are kept.
    pub(super) fn new(keep: bool) -> Self {
        Self { kept: keep.then(Vec::new), count: 0 }
    }

    /// Whether they are kept.
    pub(super) fn are_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Adds one; its number.
    pub(super) fn add(&mut self, site: Site<'a>) -> u32 {
        if let Some(kept) = &mut self.kept {
            kept.push(site);
        }
        self.count += 1;
        self.count - 1
    }

    /// Those that were kept.
    pub(super) fn into_kept(self) -> Vec<Site<'a>> {
        self.kept.unwrap_or_default()
    }
}

/// A node that is one of several: where `and` and `or` stop shows only when they run.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// The cell that holds which one it was.
    pub cell: u32,
    /// The nodes, the last one standing for all.
    pub nodes: Vec<NodeRef<'a>>,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub struct ArgSite<'a> {
    /// The node that Go's error would point at when the argument has a wrong type: the one that Go looked at last.
    pub node: NodeRef<'a>,
    /// The node that it would point at when the argument is no value at all: a method of nil has its arguments not looked at.
    pub absent: NodeRef<'a>,
    /// What a nil here is.
    pub nil: Nil,
    /// Whether it is a constant, which Go makes what the parameter is, if it can.
    pub constant: bool,
}

/// Where the nodes of one template are in its lowered source.
///
/// What stands there is numbered from 0 in the order of the lowered source. Lowering is deterministic: whoever keeps only
/// [`SourceMap::offsets`] finds the node by lowering the same template again.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    offsets: Vec<u32>,
    /// Which of the sites of the template each is.
    sites: Vec<u32>,
}

impl SourceMap {
    /// Adds the site that begins at a byte offset of the lowered source. Offsets must not decrease.
    pub(super) fn push(&mut self, offset: usize, site: u32) {
        self.offsets.push(u32::try_from(offset).unwrap_or(u32::MAX));
        self.sites.push(site);
    }

    /// The byte offsets of the sites in the lowered source.
    #[must_use]
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The number of the site at a byte offset of the lowered source: the last one that begins there or before.
    #[must_use]
    pub fn number(offsets: &[u32], offset: usize) -> Option<usize> {
        let offset = u32::try_from(offset).ok()?;
        offsets.partition_point(|start| *start <= offset).checked_sub(1)
    }

    /// The site of a number, out of the sites of the template.
    #[must_use]
    pub fn site<'s, 'a>(&self, number: usize, sites: &'s [Site<'a>]) -> Option<&'s Site<'a>> {
        sites.get(*self.sites.get(number)? as usize)
    }
}
