//! Statements: text, actions, conditions, loops, invocations.

use bumpalo::Bump;

use crate::gotemplate::{
    ast::{Action, Branch, Invocation, List, Node, NodeRef, Operand, Source, Tree},
    source_map::{Choice, Site, Sites},
};

use super::{
    Construct, Known, Lowered, Tables, Vocabulary,
    emit::Out,
    expr::Pres,
    ir::{Ex, Ir, Place, Pre},
    later::{is_negated, then_span},
    names::{Binding, Names},
    outline::{Blocks, MAX_BLOCKS, breaks, has_else_that_breaks},
    text,
};

/// The state of lowering one template.
pub(super) struct Lowering<'a, 'b, 't> {
    pub vocabulary: &'t dyn Vocabulary,
    pub tables: &'t mut Tables,
    pub arena: &'b Bump,
    pub names: Names<'a>,
    pub dot: Binding,
    /// The node that Go would have looked at last.
    pub at: NodeRef<'a>,
    pub sites: Sites<'a>,
    /// What is one of several nodes.
    pub choices: Vec<Choice<'a>>,
    /// The `and` or `or`, by its position, of which it will matter where it stops, and its choice.
    pub tracked: Option<(usize, usize)>,
    /// Whether the argument that is lowered is that of `len`, which tells no value from a nil.
    pub measured: bool,
    /// The node that was looked at last and the one before its arguments, while a method's call is all there is of a pipeline.
    pub method: Option<(NodeRef<'a>, NodeRef<'a>)>,
    /// Above zero where what is declared may not be declared when Go runs.
    pub doubt: u32,
    /// Whether the template has to be split, so that nothing may be held in Tera's variables.
    pub deep: bool,
    /// Whether it is a file, which runs at most once in a render, and not a definition.
    pub is_file: bool,
    pub out: Out,
    pub blocks: Blocks,
    tree: Tree<'a>,
}

/// What `{{if}}` and `{{with}}` differ in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    If,
    With,
}

impl<'a, 'b, 't> Lowering<'a, 'b, 't> {
    pub(super) fn new(
        tree: &Tree<'a>,
        source: Source<'a>,
        vocabulary: &'t dyn Vocabulary,
        tables: &'t mut Tables,
        arena: &'b Bump,
        keep_sites: bool,
    ) -> Self {
        Self {
            vocabulary,
            tables,
            arena,
            names: Names::new(tree),
            dot: Binding::at(Place::Dot),
            at: tree.root.into(),
            sites: Sites::new(keep_sites),
            choices: Vec::new(),
            tracked: None,
            measured: false,
            method: None,
            doubt: 0,
            is_file: tree.name == source.name.as_bytes(),
            deep: tree.depth > MAX_BLOCKS || has_else_that_breaks(&tree.root),
            out: Out::default(),
            blocks: Blocks::default(),
            tree: *tree,
        }
    }

    pub(super) fn run(mut self) -> Lowered<'a> {
        let root = self.tree.root;
        if self.names.is_assigned("$") {
            // `$` and the dot begin as one and part later.
            let cell = self.names.fresh();
            self.names.declare("$", Binding::at(Place::Cell(cell)));
            self.print(&[Pre::Set(cell, self.place(Place::Dot, Known::Any))], None);
        }
        self.list(&root);
        self.flush();
        let Self { out, blocks, mut choices, sites, .. } = self;
        choices.retain(|choice| !choice.nodes.is_empty());
        Lowered {
            source: out.source,
            outlined: blocks.outlined,
            map: out.map,
            sites: sites.into_kept(),
            choices,
        }
    }

    pub(super) fn list(&mut self, list: &List<'a>) {
        for node in list.nodes {
            match node {
                Node::Text(text) => self.out.text.push(text.text),
                Node::Comment(_) => {}
                Node::Action(action) => self.action(action),
                Node::If(branch) => {
                    self.nested(|this| this.branch(Kind::If, branch));
                }
                Node::With(branch) => {
                    self.nested(|this| this.branch(Kind::With, branch));
                }
                Node::Range(branch) => self.nested(|this| this.range(branch)),
                Node::Break(_) => self.jump("break"),
                Node::Continue(_) => self.jump("continue"),
                Node::Template(call) => self.invocation(call),
            }
        }
    }

    /// A control structure, in a template of its own if it nests too deep.
    fn nested(&mut self, lower: impl FnOnce(&mut Self)) {
        let mark = self.names.mark();
        if self.blocks.is_full() {
            self.outline(lower);
        } else {
            self.blocks.depth += 1;
            lower(self);
            self.blocks.depth -= 1;
        }
        self.names.leave(mark);
    }

    fn action(&mut self, action: &'a Action<'a>) {
        if text::constant_of(action, &mut self.out.text) {
            return;
        }
        self.at = action.into();
        let mut pre = Vec::new();
        let value = self.pipe(action.pipe, &mut pre);
        self.at = action.into();
        if action.pipe.decl.is_empty() {
            let printed = self.printed(value);
            self.print(&pre, Some(printed));
        } else {
            self.print(&pre, None);
        }
    }

    fn invocation(&mut self, call: &'a Invocation<'a>) {
        self.at = call.into();
        let site = self.site(Site::of(call.into()));
        let mut pre = Vec::new();
        let name = String::from_utf8_lossy(call.name);
        let name = self.leaf(Ir::Text(self.arena.alloc_str(&name)));
        let dot = match call.pipe {
            Some(pipe) => {
                // Go looks for the template before it evaluates what it is given.
                if !pipe.cmds.iter().all(|command| matches!(command.args, [Operand::Dot(_)])) {
                    let found = Ir::Filter { base: name, construct: Construct::Defined, site: Some(site) };
                    let found = self.around(found, &[name]);
                    self.hoist(found, &mut pre);
                }
                self.pipe(pipe, &mut pre)
            }
            None => self.leaf(Ir::Nil),
        };
        let args = self.fit(vec![name, dot], &mut pre);
        let mut called = self.around(Ir::Listed { args, construct: Construct::Template, site }, args);
        called.known = Known::Text;
        self.print(&pre, Some(called));
    }

    fn branch(&mut self, kind: Kind, branch: &'a Branch<'a>) {
        self.at = NodeRef::Node(if kind == Kind::If { Node::If(branch) } else { Node::With(branch) });
        let mut pre = Vec::new();
        let (condition, dot) = self.test(kind, branch, &mut pre);
        self.tag("if ", &pre, Some(condition), "");
        self.branch_body(branch, dot);
        self.tag("endif", &[], None, "");
    }

    /// The condition of `{{if}}` and `{{with}}`, and the dot of what follows.
    fn test(&mut self, kind: Kind, branch: &'a Branch<'a>, pre: &mut Pres<'b>) -> (Ex<'b>, Option<Binding>) {
        if kind == Kind::If {
            return (self.condition(branch.pipe, pre), None);
        }
        let mut value = self.commands(branch.pipe, pre);
        if let Some(variable) = branch.pipe.decl.first() {
            value = self.bind(variable.name(), branch.pipe.is_assign, value, pre);
        }
        // The dot must be held where nothing changes it.
        match value.ir {
            Ir::Place(place) if !self.names.may_change(*place) => {}
            _ => value = self.hoist(value, pre),
        }
        let Ir::Place(place) = value.ir else { return (self.truth(value), None) };
        (self.truth(value), Some(Binding::at(*place)))
    }

    fn branch_body(&mut self, branch: &'a Branch<'a>, dot: Option<Binding>) {
        let outer = self.dot;
        let mark = self.names.mark();
        self.dot = dot.unwrap_or(outer);
        self.guarded(&branch.list, is_negated(branch.pipe), then_span(branch));
        self.names.leave(mark);
        self.dot = outer;
        if let Some(list) = &branch.else_list {
            self.otherwise(list, branch);
            self.names.leave(mark);
        }
    }

    /// The `else` of `{{if}}` and `{{with}}`. `{{else if}}` is an `elif`.
    fn otherwise(&mut self, list: &List<'a>, branch: &'a Branch<'a>) {
        if let (true, [Node::If(inner)]) = (branch.else_chained, list.nodes) {
            let mut pre = Vec::new();
            let (condition, dot) = self.test(Kind::If, inner, &mut pre);
            self.tag("elif ", &pre, Some(condition), "");
            self.branch_body(inner, dot);
            return;
        }
        if list.nodes.is_empty() {
            return;
        }
        let middle = branch.middle.or(match list.nodes.first() {
            Some(Node::If(inner) | Node::With(inner)) if branch.else_chained => Some(inner.open),
            _ => None,
        });
        let middle = middle.unwrap_or(branch.close);
        self.tag("else", &[], None, "");
        self.guarded(list, false, (middle.end, branch.close.start));
    }

    fn range(&mut self, branch: &'a Branch<'a>) {
        self.at = NodeRef::Node(Node::Range(branch));
        let mut pre = Vec::new();
        self.track(branch.pipe);
        let mut value = self.commands(branch.pipe, &mut pre);
        let decl = branch.pipe.decl;
        // The variables hold what is ranged over before they hold elements, which shows in `{{else}}` and after an
        // assignment.
        let mut held = Vec::new();
        let shows = branch.pipe.is_assign || branch.else_list.is_some();
        for variable in decl {
            if shows {
                value = self.bind(variable.name(), branch.pipe.is_assign, value, &mut pre);
                held.push(self.names.find(variable.name()));
            }
        }
        let number = self.names.fresh();
        let pairs = decl.len() > 1;
        let site = Some(self.site(Site::of(self.at)));
        let construct = if pairs { Construct::Pairs } else { Construct::Range };
        let over = self.around(Ir::Filter { base: value, construct, site }, &[value]);
        self.tag(&format!("for e{number} in "), &pre, Some(over), "");

        let outer = self.dot;
        let mark = self.names.mark();
        let (key, element) = if pairs {
            (Some(Place::PairKey(number)), Place::PairValue(number))
        } else {
            (None, Place::Element(number))
        };
        let mut body = Vec::new();
        let of = self.elements(branch.pipe);
        let dot = if self.deep {
            let cell = self.names.fresh();
            body.push(Pre::Set(cell, self.place(element, Known::Any)));
            Place::Cell(cell)
        } else {
            element
        };
        self.dot = Binding::element(dot, of);
        let sources = key.into_iter().chain([element]);
        for (at, (variable, source)) in decl.iter().zip(sources).enumerate() {
            let known = held.get(at).copied().flatten().filter(|_| branch.pipe.is_assign);
            let is_element = source == element;
            let binding = match known {
                Some(binding) => {
                    if let Place::Cell(cell) = binding.place {
                        body.push(Pre::Set(cell, self.place(source, Known::Any)));
                    }
                    continue;
                }
                None if self.deep || self.names.is_assigned(variable.name()) => {
                    let cell = self.names.fresh();
                    body.push(Pre::Set(cell, self.place(source, Known::Any)));
                    Place::Cell(cell)
                }
                None => source,
            };
            // Of keys, only those of lists can be ranged over.
            let key = Binding { items: Some("int"), ..Binding::at(binding) };
            let binding = if is_element { Binding::element(binding, of) } else { key };
            self.names.declare(variable.name(), binding);
        }
        if !body.is_empty() {
            self.print(&body, None);
        }
        self.blocks.loops += 1;
        self.list(&branch.list);
        self.blocks.loops -= 1;
        self.names.leave(mark);
        self.dot = outer;
        if let Some(list) = branch.else_list.as_ref().filter(|list| !list.nodes.is_empty()) {
            self.tag("else", &[], None, "");
            if breaks(list) {
                self.outline_else(list);
            } else {
                self.list(list);
            }
        }
        self.tag("endfor", &[], None, "");
    }

    fn jump(&mut self, keyword: &'static str) {
        if self.blocks.loops == 0 {
            // The loop is in another template.
            self.leave(keyword);
        } else {
            self.tag(keyword, &[], None, "");
        }
    }

    // What writes needs the tables, which the methods below lend.

    pub(super) fn flush(&mut self) {
        self.out.flush(self.tables);
    }

    pub(super) fn print(&mut self, pres: &[Pre<'b>], ex: Option<Ex<'b>>) {
        self.out.print(pres, ex, self.tables);
    }

    pub(super) fn tag(&mut self, before: &str, pres: &[Pre<'b>], ex: Option<Ex<'b>>, after: &str) {
        self.out.tag(before, pres, ex, after, self.tables);
    }
}
