//! Go's variables and dots, and where the lowered template holds them.

use std::collections::HashSet;

use crate::gotemplate::ast::{Command, List, Node, Operand, Pipe, Tree};

use super::ir::Place;

/// What a variable or the dot stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    /// Where it is held.
    pub place: Place,
    /// Whether it is an element of a list or map as `range` gives it: a nil there is an `interface {}` that is nil.
    pub element: bool,
    /// Whether it is declared where Go may not get to, so that it may be undefined when it is used.
    pub doubtful: bool,
    /// Its Go type, if that is known and no `interface {}`.
    pub of: Option<&'static str>,
    /// The Go type of its elements, if that is known and no `interface {}`.
    pub items: Option<&'static str>,
}

impl Binding {
    /// Something held at a place.
    pub(super) fn at(place: Place) -> Self {
        Self { place, element: false, doubtful: false, of: None, items: None }
    }

    /// An element that `range` gives.
    pub(super) fn element(place: Place, of: Option<&'static str>) -> Self {
        Self { place, element: true, doubtful: false, of, items: None }
    }
}

/// The variables in scope, innermost last.
#[derive(Debug)]
pub(super) struct Names<'a> {
    variables: Vec<(&'a str, Binding)>,
    /// The names that the template assigns somewhere (`$x = …`).
    assigned: HashSet<&'a str>,
    next: u32,
}

impl<'a> Names<'a> {
    /// The variables of a template before its first action: `$` alone.
    pub(super) fn new(tree: &Tree<'a>) -> Self {
        let mut assigned = HashSet::new();
        list_assigned(&tree.root, &mut assigned);
        Self { variables: vec![("$", Binding::at(Place::Dot))], assigned, next: 1 }
    }

    /// A number that no other place of the template has.
    pub(super) fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// Whether a variable of this name is assigned anywhere, so that it must not share its place with something else.
    pub(super) fn is_assigned(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }

    /// Whether a variable that is assigned somewhere is held at this place.
    pub(super) fn may_change(&self, place: Place) -> bool {
        self.variables.iter().any(|(name, binding)| binding.place == place && self.is_assigned(name))
    }

    /// Brings a variable into scope.
    pub(super) fn declare(&mut self, name: &'a str, binding: Binding) {
        self.variables.push((name, binding));
    }

    /// Notes of what Go type the elements of a variable are.
    pub(super) fn set_items(&mut self, name: &str, items: Option<&'static str>) {
        if let Some((_, binding)) = self.variables.iter_mut().rev().find(|(known, _)| *known == name) {
            binding.items = items;
        }
    }

    /// The variable of a name.
    pub(super) fn find(&self, name: &str) -> Option<Binding> {
        self.variables.iter().rev().find(|(known, _)| *known == name).map(|(_, binding)| *binding)
    }

    /// What is in scope now, to return to.
    pub(super) fn mark(&self) -> usize {
        self.variables.len()
    }

    /// Leaves a scope.
    pub(super) fn leave(&mut self, mark: usize) {
        self.variables.truncate(mark);
    }
}

/// The names that a list of nodes assigns somewhere.
fn list_assigned<'a>(list: &List<'a>, into: &mut HashSet<&'a str>) {
    for node in list.nodes {
        match node {
            Node::Action(action) => pipe_assigned(action.pipe, into),
            Node::If(branch) | Node::Range(branch) | Node::With(branch) => {
                pipe_assigned(branch.pipe, into);
                list_assigned(&branch.list, into);
                if let Some(list) = &branch.else_list {
                    list_assigned(list, into);
                }
            }
            Node::Template(call) => {
                if let Some(pipe) = call.pipe {
                    pipe_assigned(pipe, into);
                }
            }
            Node::Text(_) | Node::Comment(_) | Node::Break(_) | Node::Continue(_) => {}
        }
    }
}

fn pipe_assigned<'a>(pipe: &Pipe<'a>, into: &mut HashSet<&'a str>) {
    if pipe.is_assign {
        into.extend(pipe.decl.iter().map(|variable| variable.name()));
    }
    for Command { args, .. } in pipe.cmds {
        for operand in *args {
            operand_assigned(operand, into);
        }
    }
}

fn operand_assigned<'a>(operand: &Operand<'a>, into: &mut HashSet<&'a str>) {
    match operand {
        Operand::Pipe(pipe) => pipe_assigned(pipe, into),
        Operand::Chain(chain) => operand_assigned(&chain.base, into),
        _ => {}
    }
}
