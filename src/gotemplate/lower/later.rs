//! Blocks that may never be reached become templates of their own, so that they are compiled only if they are.
//!
//! Such a block runs apart from the template around it: it is given the variables that it reads, and must assign none of
//! them. It may declare its own, since no variable of a block is seen after it.

use std::collections::HashSet;

use super::{
    Later, Outlined,
    emit::Out,
    ir::{Ir, Place},
    names::list_assigned,
    stmt::Lowering,
};
use crate::gotemplate::ast::{Branch, List};

/// What is shorter in the Go source than this is not worth a template of its own.
const LONG: usize = 300;
/// The same within a block that is one already.
const LONG_INSIDE: usize = 1500;

impl<'a> Lowering<'a, '_, '_> {
    /// Lowers what a condition guards: the nodes between two byte offsets of the Go source.
    pub(super) fn guarded(&mut self, list: &List<'a>, start: usize, end: usize) {
        if self.is_for_later(list, end.saturating_sub(start)) {
            self.later(list);
        } else {
            self.list(list);
        }
    }

    fn is_for_later(&self, list: &List<'a>, length: usize) -> bool {
        let long = if self.blocks.within_later { LONG_INSIDE } else { LONG };
        if length < long || !self.is_file || self.deep || self.blocks.loops > 0 {
            return false;
        }
        if !self.names.any_may_change() {
            return true;
        }
        let mut assigned = HashSet::new();
        list_assigned(list, &mut assigned);
        assigned.into_iter().all(|name| self.names.find(name).is_none())
    }

    fn later(&mut self, list: &List<'a>) {
        self.flush();
        let number = self.blocks.outlined.len();
        // Holds the number while the block may split off others.
        self.blocks.outlined.push(Outlined::default());
        let inner = Out::within(self.names.next());
        let outer = std::mem::replace(&mut self.out, inner);
        let tables = std::mem::take(self.tables);
        let depth = std::mem::replace(&mut self.blocks.depth, 0);
        let within = std::mem::replace(&mut self.blocks.within_later, true);
        self.list(list);
        self.flush();
        self.blocks.within_later = within;
        self.blocks.depth = depth;
        let tables = std::mem::replace(self.tables, tables);
        let inner = std::mem::replace(&mut self.out, outer);

        let places = inner.captured;
        let names = places.iter().map(Place::to_string).collect();
        self.blocks.outlined[number] =
            Outlined { source: inner.source, map: inner.map, later: Some(Later { tables, names }) };
        let mut args = vec![self.leaf(Ir::Int(i64::try_from(number).unwrap_or(i64::MAX)))];
        args.extend(places.into_iter().map(|place| self.leaf(Ir::Place(place))));
        self.print_later(&args);
    }
}

/// Where a guarded list begins and ends: after the `{{if}}`, before the `{{else}}` or `{{end}}`.
pub(super) fn then_span(branch: &Branch<'_>) -> (usize, usize) {
    (branch.open.end, branch.middle.unwrap_or(branch.close).start)
}
