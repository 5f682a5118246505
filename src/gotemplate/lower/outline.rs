//! Blocks that nest deeper than Tera allows become templates of their own.
//!
//! Tera's `include` would lose what the block assigns and cannot leave a loop around it. So such a block is rendered by a
//! filter, `3|_outline`, what loops are at is held in cells throughout the template, as variables are, and a jump out of the block
//! ends it early (`_leave`), which the caller asks for afterwards (`_left`) and then jumps itself.

use super::{Construct, Outlined, ir::Ir, stmt::Lowering};
use crate::gotemplate::ast::{List, Node};

/// How deep blocks may nest in one lowered template. Tera allows 40; conditions that `and` and `or` need take some.
pub(super) const MAX_BLOCKS: usize = 32;

/// The blocks that are open, and those that were split off.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// How many are open in the present template.
    pub depth: usize,
    /// How many of them are loops.
    pub loops: usize,
    /// Whether the present template is a block that is compiled later.
    pub within_later: bool,
    /// The templates that were split off.
    pub outlined: Vec<Outlined>,
    /// Whether the present block was left by a jump somewhere.
    jumps: Vec<&'static str>,
}

impl Blocks {
    /// Whether no further block may be opened in the present template.
    pub(super) fn is_full(&self) -> bool {
        self.depth >= MAX_BLOCKS
    }
}

impl<'a> Lowering<'a, '_, '_> {
    /// Lowers the `{{else}}` of a `range` that has a `{{break}}`. The parser lets it break from a loop around, but when it runs,
    /// Go ends the loop that the `else` belongs to.
    pub(super) fn outline_else(&mut self, list: &List<'a>) {
        self.outline_until(Some("break"), |this| this.list(list));
    }

    /// Lowers a block into a template of its own, and calls that.
    pub(super) fn outline(&mut self, lower: impl FnOnce(&mut Self)) {
        self.outline_until(None, lower);
    }

    /// Lowers a block into a template of its own, and calls that. A jump of the kind `ends` leads no further than to its end.
    fn outline_until(&mut self, ends: Option<&str>, lower: impl FnOnce(&mut Self)) {
        self.flush();
        let number = self.blocks.outlined.len();
        // Holds the number while the block may split off others.
        self.blocks.outlined.push(Outlined::default());
        let outer = std::mem::take(&mut self.out);
        let (depth, loops) = (self.blocks.depth, self.blocks.loops);
        let jumps = std::mem::take(&mut self.blocks.jumps);
        (self.blocks.depth, self.blocks.loops) = (1, 0);
        lower(self);
        self.flush();
        let inner = std::mem::replace(&mut self.out, outer);
        let left = std::mem::replace(&mut self.blocks.jumps, jumps);
        (self.blocks.depth, self.blocks.loops) = (depth, loops);
        self.blocks.outlined[number] = Outlined { source: inner.source, map: inner.map, later: None };

        self.call_outlined(number);
        for keyword in left {
            let base = self.leaf(Ir::Text(keyword));
            let condition = self.around(Ir::Filter { base, construct: Construct::Left, site: None }, &[base]);
            self.tag("if ", &[], Some(condition), "");
            if ends == Some(keyword) {
                // The question has taken the jump back.
            } else if self.blocks.loops == 0 {
                self.leave(keyword);
            } else {
                self.tag(keyword, &[], None, "");
            }
            self.tag("endif", &[], None, "");
        }
    }

    /// Runs a block that was split off.
    pub(super) fn call_outlined(&mut self, number: usize) {
        let base = self.leaf(Ir::Int(i64::try_from(number).unwrap_or(i64::MAX)));
        let call = Ir::Filter { base, construct: Construct::Outline, site: None };
        let call = self.around(call, &[base]);
        self.print(&[], Some(call));
    }

    /// A jump to a loop of another template.
    pub(super) fn leave(&mut self, keyword: &'static str) {
        if !self.blocks.jumps.contains(&keyword) {
            self.blocks.jumps.push(keyword);
        }
        let base = self.leaf(Ir::Text(keyword));
        let ex = self.around(Ir::Filter { base, construct: Construct::Leave, site: None }, &[base]);
        self.print(&[], Some(ex));
    }
}

/// Whether a list breaks from a loop around it.
pub(super) fn breaks(list: &List<'_>) -> bool {
    list.nodes.iter().any(|node| match node {
        Node::Break(_) => true,
        Node::If(branch) | Node::With(branch) => {
            breaks(&branch.list) || branch.else_list.as_ref().is_some_and(breaks)
        }
        // Its own breaks end it, those in its `else` too.
        _ => false,
    })
}

/// Whether the `{{else}}` of some `range` breaks, so that it must become a template of its own.
pub(super) fn has_else_that_breaks(list: &List<'_>) -> bool {
    list.nodes.iter().any(|node| match node {
        Node::If(branch) | Node::With(branch) | Node::Range(branch) => {
            let other = branch.else_list.as_ref();
            (matches!(node, Node::Range(_)) && other.is_some_and(breaks))
                || has_else_that_breaks(&branch.list)
                || other.is_some_and(has_else_that_breaks)
        }
        _ => false,
    })
}
