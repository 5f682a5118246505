//! Go's variables and the names that they get in Tera.

use std::collections::HashSet;

use crate::gotemplate::ast::{Branch, Command, List, Node, Operand, Pipe};

use super::expr::{Known, is_variable};

/// What must be known of a template's names before it is converted.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// The variables that are declared.
    pub declared: HashSet<&'a str>,
    /// Those that are assigned later.
    pub assigned: HashSet<&'a str>,
    /// Those that are assigned within a loop, so that Tera must keep them outside of it.
    pub global: HashSet<&'a str>,
    /// The fields of the template's dot that are named: what may be a variable of Tera's.
    pub fields: HashSet<&'a str>,
    /// How many blocks are open that have a dot of their own.
    rebound: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(list: &List<'a>) -> Self {
        let mut names = Self::default();
        names.list(list, 0);
        names
    }

    fn list(&mut self, list: &List<'a>, loops: usize) {
        for node in list.nodes {
            match node {
                Node::Text(_) | Node::Comment(_) | Node::Break(_) | Node::Continue(_) => {}
                Node::Action(action) => self.pipe(action.pipe, loops),
                Node::If(branch) => self.branch(branch, loops, loops, 0),
                Node::With(branch) => self.branch(branch, loops, loops, 1),
                Node::Range(branch) => self.branch(branch, loops, loops + 1, 1),
                Node::Template(invocation) => {
                    if let Some(pipe) = invocation.pipe {
                        self.pipe(pipe, loops);
                    }
                }
            }
        }
    }

    fn branch(&mut self, branch: &Branch<'a>, outer: usize, inner: usize, rebound: usize) {
        self.pipe(branch.pipe, inner);
        self.rebound += rebound;
        self.list(&branch.list, inner);
        self.rebound -= rebound;
        if let Some(list) = &branch.else_list {
            self.list(list, outer);
        }
    }

    fn pipe(&mut self, pipe: &Pipe<'a>, loops: usize) {
        for variable in pipe.decl {
            let name = &variable.name()[1..];
            if !pipe.is_assign {
                self.declared.insert(name);
                continue;
            }
            self.assigned.insert(name);
            if loops > 0 {
                self.global.insert(name);
            }
        }
        for Command { args, .. } in pipe.cmds {
            for operand in *args {
                self.operand(operand, loops);
            }
        }
    }

    fn operand(&mut self, operand: &Operand<'a>, loops: usize) {
        match operand {
            Operand::Field(field) if self.rebound == 0 => self.fields.extend(field.fields().next()),
            Operand::Variable(variable) if variable.name() == "$" => {
                self.fields.extend(variable.fields().next());
            }
            Operand::Chain(chain) => self.operand(&chain.base, loops),
            Operand::Pipe(pipe) => self.pipe(pipe, loops),
            _ => {}
        }
    }
}

/// A variable: Go's name and Tera's, and what is known of its value.
struct Variable<'a> {
    go: &'a str,
    tera: String,
    known: Known,
}

/// The variables in scope.
pub(super) struct Scope<'a> {
    pub names: Names<'a>,
    /// A list for each block that is open.
    blocks: Vec<Vec<Variable<'a>>>,
    /// Names that were made up for what has none in Go.
    made: Vec<String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(names: Names<'a>) -> Self {
        Self { names, blocks: vec![Vec::new()], made: Vec::new() }
    }

    pub(super) fn open(&mut self) -> usize {
        self.blocks.push(Vec::new());
        self.made.len()
    }

    pub(super) fn close(&mut self, mark: usize) {
        self.blocks.pop();
        self.made.truncate(mark);
    }

    /// Whether a field of the dot has a name of its own in Tera.
    pub(super) fn is_free(&self, field: &str) -> bool {
        is_variable(field) && !self.names.declared.contains(field)
    }

    /// The name of a variable that is in scope.
    pub(super) fn find(&self, go: &str) -> Option<&str> {
        self.variable(go).map(|variable| variable.tera.as_str())
    }

    fn variable(&self, go: &str) -> Option<&Variable<'a>> {
        self.blocks.iter().rev().flat_map(|block| block.iter().rev()).find(|variable| variable.go == go)
    }

    /// What is known of the value of a variable.
    pub(super) fn known(&self, go: &str) -> Known {
        self.variable(go).map_or(Known::Any, |variable| variable.known)
    }

    /// Notes what is known of the value that a variable was declared with.
    pub(super) fn learn(&mut self, go: &str, known: Known) {
        let assigned = self.names.assigned.contains(go);
        let mut all = self.blocks.iter_mut().rev().flat_map(|block| block.iter_mut().rev());
        if let Some(variable) = all.find(|variable| variable.go == go) {
            variable.known = if assigned { Known::Any } else { known };
        }
    }

    fn visible(&self, tera: &str) -> bool {
        self.blocks.iter().flatten().any(|variable| variable.tera == tera)
            || self.made.iter().any(|name| name == tera)
    }

    /// Declares a variable of Go's.
    pub(super) fn declare(&mut self, go: &'a str) -> String {
        let here = self.blocks.last().and_then(|block| block.iter().find(|variable| variable.go == go));
        if let Some(variable) = here {
            return variable.tera.clone();
        }
        let plain = if is_variable(go) && !OBJECTS.contains(&go) { go.to_owned() } else { ascii(go) };
        let tera = if go == "_" { plain } else { self.unique(plain, false) };
        if let Some(block) = self.blocks.last_mut() {
            block.push(Variable { go, tera: tera.clone(), known: Known::Any });
        }
        tera
    }

    /// Makes up a name for what has none in Go.
    pub(super) fn make(&mut self, wish: &str) -> String {
        let wish = if is_variable(wish) && !OBJECTS.contains(&wish) { wish } else { "item" };
        let name = self.unique(wish.to_owned(), true);
        self.made.push(name.clone());
        name
    }

    fn unique(&self, wish: String, made: bool) -> String {
        let taken = |name: &str| {
            self.visible(name)
                || (made || name != wish)
                    && (self.names.fields.contains(name) || self.names.declared.contains(name))
        };
        if !taken(&wish) {
            return wish;
        }
        let numbered = (2..).map(|number| format!("{wish}_{number}"));
        numbered.into_iter().find(|name| !taken(name)).unwrap_or(wish)
    }
}

/// The objects that every template has.
pub(super) const OBJECTS: &[&str] =
    &["Capabilities", "Chart", "Files", "Release", "Subcharts", "Template", "Values"];

fn ascii(name: &str) -> String {
    let mut text: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    text.push_str("_value");
    if is_variable(&text) { text } else { format!("value_{text}") }
}

/// What one of the things that a name stands for may be called: `host` for `hosts`.
pub(super) fn singular(plural: &str) -> String {
    if let Some(stem) = plural.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if plural.ends_with(ending) {
            return plural[..plural.len() - 2].to_owned();
        }
    }
    match plural.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with(['s', 'u', 'i'])) {
        Some(stem) => stem.to_owned(),
        None => "item".to_owned(),
    }
}
