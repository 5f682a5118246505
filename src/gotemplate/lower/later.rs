//! Blocks that may never be reached become templates of their own, so that they are compiled only if they are.
//!
//! Such a block is in no loop, so that all that it needs is the dot of the template around it and its cells.

use super::{Outlined, stmt::Lowering};
use crate::gotemplate::ast::{Branch, Command, Identifier, List, Operand, Pipe};

/// What is shorter in the Go source than this is not worth a template of its own.
const LONG: usize = 300;
/// The same within a block that is one already.
const LONG_INSIDE: usize = 1500;
/// The same for one there that is reached unless something holds, which mostly is some switch that turns it off.
const LONG_UNLESS: usize = 6000;

impl<'a> Lowering<'a, '_, '_> {
    /// Lowers what a condition guards: the nodes between two byte offsets of the Go source.
    pub(super) fn guarded(&mut self, list: &List<'a>, unless: bool, (start, end): (usize, usize)) {
        let long = match self.blocks.within_later {
            true if unless => LONG_UNLESS,
            true => LONG_INSIDE,
            false => LONG,
        };
        let fits = self.is_file && !self.deep && self.blocks.loops == 0;
        if fits && end.saturating_sub(start) >= long {
            self.later(list);
        } else {
            self.list(list);
        }
    }

    fn later(&mut self, list: &List<'a>) {
        self.flush();
        let number = self.blocks.outlined.len();
        // Holds the number while the block may split off others.
        self.blocks.outlined.push(Outlined::default());
        let outer = std::mem::take(&mut self.out);
        let tables = std::mem::take(self.tables);
        let depth = std::mem::replace(&mut self.blocks.depth, 0);
        let within = std::mem::replace(&mut self.blocks.within_later, true);
        self.list(list);
        self.flush();
        self.blocks.within_later = within;
        self.blocks.depth = depth;
        let tables = std::mem::replace(self.tables, tables);
        let inner = std::mem::replace(&mut self.out, outer);
        self.blocks.outlined[number] = Outlined { source: inner.source, map: inner.map, later: Some(tables) };
        self.call_outlined(number);
    }
}

/// Whether a condition begins with `not`.
pub(super) fn is_negated(pipe: &Pipe<'_>) -> bool {
    matches!(pipe.cmds, [Command { args: [Operand::Identifier(Identifier { name: "not", .. }), ..], .. }])
}

/// Where a guarded list begins and ends: after the `{{if}}`, before the `{{else}}` or `{{end}}`.
pub(super) fn then_span(branch: &Branch<'_>) -> (usize, usize) {
    (branch.open.end, branch.middle.unwrap_or(branch.close).start)
}
