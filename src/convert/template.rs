//! Statements: a Go template becomes a template of Tera's.

use crate::gotemplate::ast::{
    Action, Branch, Comment, Definition, Invocation, List, Node, Pipe, Span, Tree, TreeSet,
};

use super::{
    Unsupported,
    expr::{Ex, field, quoted},
    names::{Names, OBJECTS, Scope, singular},
    writer::{Tag, Writer},
};

/// Converts a file.
pub(super) fn file<'a>(set: &TreeSet<'a>) -> Result<String, Unsupported> {
    let source = set.source;
    let mut writer = Writer::new(source.text);
    let mut definitions: Vec<&Definition<'a>> = set.definitions.iter().collect();
    definitions.sort_by_key(|definition| definition.open.start);
    if let Some(same) = definitions.iter().find(|one| one.tree.name == source.name.as_bytes()) {
        return Err(Unsupported {
            at: same.open.start,
            what: "a definition that has the name of its file".to_owned(),
        });
    }
    let (blocks, defines): (Vec<&Definition<'a>>, Vec<&Definition<'a>>) =
        definitions.into_iter().partition(|one| one.block);
    let mut defines = defines.into_iter().peekable();
    if let Some(main) = set.main() {
        let mut template = Template::new(main, &mut writer);
        for node in main.root.nodes {
            let start = start_of(node, source.text);
            while let Some(one) = defines.next_if(|one| one.open.start < start) {
                define(one, template.writer)?;
            }
            template.node(node)?;
        }
    }
    for one in defines {
        define(one, &mut writer)?;
    }
    writer.end()?;
    for block in blocks {
        writer.out.push_str(&format!("{{% define {} %}}", quoted(&block.tree.name())));
        // The tags see to the space at both ends.
        let mut inner = Writer::new(source.text);
        inner.skip(block.open.start);
        body(block, &mut inner, &[])?;
        let text = inner.out.replacen("{#  #}", "", 1);
        writer.out.push_str(&text);
        writer.out.push_str("{% enddefine %}");
    }
    Ok(writer.out)
}

fn define<'a>(one: &Definition<'a>, writer: &mut Writer<'a>) -> Result<(), Unsupported> {
    let name = Tag::Block(format!("define {}", quoted(&one.tree.name())));
    body(one, writer, &[name, Tag::Block("enddefine".to_owned())])
}

fn body<'a>(one: &Definition<'a>, writer: &mut Writer<'a>, tags: &[Tag]) -> Result<(), Unsupported> {
    if std::str::from_utf8(one.tree.name).is_err() {
        return Err(Unsupported { at: one.open.start, what: "a name that is not UTF-8".to_owned() });
    }
    let empty = [Tag::Comment(String::new()), Tag::Comment(String::new())];
    let tags = if tags.is_empty() { &empty } else { tags };
    writer.tags(one.open, &tags[..1])?;
    let mut template = Template::new(&one.tree, writer);
    let names = &template.scope.names;
    if names.declared.contains("") || names.assigned.contains("") {
        return Err(Unsupported { at: one.open.start, what: "a variable that is named $".to_owned() });
    }
    template.list(&one.tree.root)?;
    writer.tags(one.close, &tags[1..])
}

fn start_of(node: &Node<'_>, source: &[u8]) -> usize {
    match node {
        Node::Text(text) => text.pos,
        Node::Comment(comment) => comment_span(comment, source).start,
        Node::Action(action) => action.span.start,
        Node::If(branch) | Node::Range(branch) | Node::With(branch) => branch.open.start,
        Node::Break(jump) | Node::Continue(jump) => jump.span.start,
        Node::Template(invocation) => invocation.span.start,
    }
}

/// A comment with its delimiters.
fn comment_span(comment: &Comment<'_>, source: &[u8]) -> Span {
    let before = &source[..comment.pos];
    let start = memchr::memmem::rfind(before, b"{{").unwrap_or(comment.pos);
    let end = comment.pos + comment.text.len();
    let after = &source[end..];
    let end = memchr::memmem::find(after, b"}}").map_or(end, |at| end + at + 2);
    Span { start, end }
}

/// The dot where something stands.
#[derive(Clone)]
pub(super) enum Dot {
    /// That of the template.
    Root,
    /// What this expression gives.
    Of(String),
}

/// A template under conversion.
pub(super) struct Template<'a, 'w> {
    pub writer: &'w mut Writer<'a>,
    pub scope: Scope<'a>,
    pub dot: Dot,
    /// What must be set before the tag at hand.
    pub before: Vec<String>,
    /// Where errors are.
    pub at: usize,
}

impl<'a, 'w> Template<'a, 'w> {
    fn new(tree: &Tree<'a>, writer: &'w mut Writer<'a>) -> Self {
        let scope = Scope::new(Names::of(&tree.root));
        Self { writer, scope, dot: Dot::Root, before: Vec::new(), at: 0 }
    }

    pub(super) fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported { at: self.at, what: what.into() })
    }

    fn list(&mut self, list: &List<'a>) -> Result<(), Unsupported> {
        list.nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node<'a>) -> Result<(), Unsupported> {
        self.at = start_of(node, self.writer.source);
        match node {
            // The writer sees to it.
            Node::Text(_) => Ok(()),
            Node::Comment(comment) => self.comment(comment),
            Node::Action(action) => self.action(action),
            Node::If(branch) => self.condition(branch, false),
            Node::With(branch) => self.with(branch, false),
            Node::Range(branch) => self.range(branch),
            Node::Break(jump) => self.tags(jump.span, vec![Tag::Block("break".to_owned())]),
            Node::Continue(jump) => self.tags(jump.span, vec![Tag::Block("continue".to_owned())]),
            Node::Template(invocation) => self.invocation(invocation),
        }
    }

    /// Writes tags, and before them what they need.
    fn tags(&mut self, span: Span, tags: Vec<Tag>) -> Result<(), Unsupported> {
        let mut all: Vec<Tag> = self.before.drain(..).map(Tag::Block).collect();
        all.extend(tags);
        self.writer.tags(span, &all)
    }

    fn comment(&mut self, comment: &Comment<'a>) -> Result<(), Unsupported> {
        let text = String::from_utf8_lossy(comment.text);
        let text = text.trim_start_matches("/*").trim_end_matches("*/").replace("#}", "# }");
        let text = if text.contains('\n') {
            text.trim_end_matches([' ', '\t']).to_owned()
        } else {
            text.trim().to_owned()
        };
        let span = comment_span(comment, self.writer.source);
        // Neither end may be taken for a dash that trims.
        let text = text.strip_prefix(' ').unwrap_or(&text).trim_end_matches('-').to_owned();
        self.writer.tags(span, &[Tag::Comment(text)])
    }

    fn action(&mut self, action: &Action<'a>) -> Result<(), Unsupported> {
        let pipe = action.pipe;
        let value = self.commands(pipe)?;
        if !pipe.decl.is_empty() {
            let set = self.set(pipe, &value)?;
            return self.tags(action.span, vec![Tag::Block(set)]);
        }
        match &value.literal {
            Some(text) if text.contains('\n') && !text.contains("endraw") => {
                self.tags(action.span, vec![Tag::Raw(text.clone())])
            }
            _ => self.tags(action.span, vec![Tag::Print(value.text)]),
        }
    }

    /// `set` of what a pipeline declares or assigns.
    fn set(&mut self, pipe: &Pipe<'a>, value: &Ex) -> Result<String, Unsupported> {
        let name = pipe.decl.first().map_or("", |variable| &variable.name()[1..]);
        let tera = match pipe.is_assign {
            true => self.assigned(name)?,
            false => self.scope.declare(name),
        };
        self.scope.learn(name, value.known);
        let keyword = self.keyword(name);
        Ok(format!("{keyword} {tera} = {}", value.text))
    }

    /// The name that a variable has which is assigned.
    fn assigned(&self, name: &str) -> Result<String, Unsupported> {
        match self.scope.find(name) {
            Some(known) => Ok(known.to_owned()),
            None => self.unsupported(format!("an assignment to ${name}, which is not declared")),
        }
    }

    fn keyword(&self, name: &str) -> &'static str {
        if self.scope.names.global.contains(name) { "set_global" } else { "set" }
    }

    /// Takes a value into a variable of this name.
    pub(super) fn hold(&mut self, wish: &str, value: &Ex) -> Ex {
        let name = self.scope.make(wish);
        self.before.push(format!("set {name} = {}", value.text));
        Ex::path(name).known(value.known)
    }

    fn condition(&mut self, branch: &Branch<'a>, chained: bool) -> Result<(), Unsupported> {
        let mark = self.scope.open();
        let mut value = self.commands(branch.pipe)?;
        if !branch.pipe.decl.is_empty() {
            let set = self.set(branch.pipe, &value)?;
            value = Ex::path(set.split(' ').nth(1).unwrap_or_default());
            self.before.push(set);
        }
        let nested = self.open(branch, chained, &value)?;
        self.list(&branch.list)?;
        self.alternatives(branch)?;
        self.close(nested);
        self.scope.close(mark);
        Ok(())
    }

    /// `if` or `elif`. Whether it is an `if` of its own within an `else`.
    fn open(&mut self, branch: &Branch<'a>, chained: bool, value: &Ex) -> Result<bool, Unsupported> {
        let nested = chained && !self.before.is_empty();
        if nested {
            self.before.insert(0, "else".to_owned());
        }
        let keyword = if chained && !nested { "elif" } else { "if" };
        self.tags(branch.open, vec![Tag::Block(format!("{keyword} {}", value.text))])?;
        Ok(nested)
    }

    /// The end of an `if` that is within an `else`.
    fn close(&mut self, nested: bool) {
        if nested {
            // The last `endif` stands there, with the dash that trims after it.
            let at = self.writer.out.rfind("{%").unwrap_or_default();
            self.writer.out.insert_str(at, "{% endif %}");
            // What trims before goes to the first one.
            if self.writer.out[at..].starts_with("{% endif %}{%-") {
                self.writer.out.replace_range(at..at + "{% endif %}{%-".len(), "{%- endif %}{%");
            }
        }
    }

    /// What follows the body of an `if` or a `with`: what is chained to it, or its `else` and its end.
    fn alternatives(&mut self, branch: &Branch<'a>) -> Result<(), Unsupported> {
        let chain = branch.else_chained.then_some(branch.else_list).flatten();
        match chain.as_ref().map(|list| list.nodes) {
            Some([Node::If(inner)]) => self.condition(inner, true),
            Some([Node::With(inner)]) => self.with(inner, true),
            _ => {
                self.otherwise(branch)?;
                self.writer.tags(branch.close, &[Tag::Block("endif".to_owned())])
            }
        }
    }

    fn otherwise(&mut self, branch: &Branch<'a>) -> Result<(), Unsupported> {
        if let (Some(list), Some(middle)) = (&branch.else_list, branch.middle) {
            self.writer.tags(middle, &[Tag::Block("else".to_owned())])?;
            let mark = self.scope.open();
            self.list(list)?;
            self.scope.close(mark);
        }
        Ok(())
    }

    fn with(&mut self, branch: &Branch<'a>, chained: bool) -> Result<(), Unsupported> {
        let mark = self.scope.open();
        let outer = self.dot.clone();
        let value = self.commands(branch.pipe)?;
        let held = if branch.pipe.decl.is_empty() {
            if value.path && value.text != "dot" && self.stays(&value.text, &branch.list) {
                value
            } else {
                let wish = wish(branch.pipe, &value);
                self.hold(&wish, &value)
            }
        } else {
            let set = self.set(branch.pipe, &value)?;
            let name = set.split(' ').nth(1).unwrap_or_default().to_owned();
            self.before.push(set);
            if self.scope.names.assigned.contains(&branch.pipe.decl[0].name()[1..]) {
                let value = Ex::path(name);
                self.hold("item", &value)
            } else {
                Ex::path(name)
            }
        };
        let nested = self.open(branch, chained, &held)?;
        if held.text != "dot" {
            self.dot = Dot::Of(held.text);
        }
        self.list(&branch.list)?;
        self.dot = outer;
        self.alternatives(branch)?;
        self.close(nested);
        self.scope.close(mark);
        Ok(())
    }

    /// Whether a path leads to the same all through a list.
    fn stays(&self, path: &str, list: &List<'a>) -> bool {
        let base = path.split(['.', '[', '?']).next().unwrap_or_default();
        let assigned = self.scope.names.assigned.iter().any(|name| self.scope.find(name) == Some(base));
        !assigned && !path.contains('?') && path.len() < 60 && !changes(list)
    }

    fn range(&mut self, branch: &Branch<'a>) -> Result<(), Unsupported> {
        let mark = self.scope.open();
        let pipe = branch.pipe;
        let value = self.commands(pipe)?;
        let source = value.at(super::expr::tight::CHOICE);
        let outer = self.dot.clone();
        let mut sets = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for variable in pipe.decl {
            let go = &variable.name()[1..];
            let again = pipe.is_assign || self.scope.names.assigned.contains(go);
            if again {
                // Tera's loops hide what is assigned to their variables.
                let made = self.scope.make(&format!("{go}_item"));
                let tera = match pipe.is_assign {
                    true => self.assigned(go)?,
                    false => self.scope.declare(go),
                };
                sets.push(Tag::Block(format!("{} {tera} = {made}", self.keyword(go))));
                names.push(made);
            } else {
                names.push(self.scope.declare(go));
            }
        }
        if names.is_empty() {
            let wish = wish(pipe, &value);
            names.push(self.scope.make(&singular(&wish)));
        }
        let mut tags = vec![Tag::Block(format!("for {} in {source}", names.join(", ")))];
        tags.append(&mut sets);
        self.tags(branch.open, tags)?;
        self.dot = Dot::Of(names.pop().unwrap_or_default());
        self.list(&branch.list)?;
        self.dot = outer;
        if let Some(list) = &branch.else_list
            && jumps(list)
        {
            return self.unsupported("a jump in the else of a range");
        }
        self.otherwise(branch)?;
        self.writer.tags(branch.close, &[Tag::Block("endfor".to_owned())])?;
        self.scope.close(mark);
        Ok(())
    }

    fn invocation(&mut self, invocation: &Invocation<'a>) -> Result<(), Unsupported> {
        let Ok(name) = std::str::from_utf8(invocation.name) else {
            return self.unsupported("a name that is not UTF-8");
        };
        let data = match invocation.pipe {
            Some(pipe) => self.commands(pipe)?,
            None => Ex::atom("none"),
        };
        let call = self.include(&Ex::text(name), &data);
        self.tags(invocation.span, vec![Tag::Print(call.text)])
    }

    /// The field of a template's dot.
    pub(super) fn of_root(&self, name: &str) -> String {
        if OBJECTS.contains(&name) || self.scope.is_free(name) {
            name.to_owned()
        } else {
            field("dot", name, false)
        }
    }
}

/// What a value may be called, for want of a name: after its last field, or the template that it comes from.
fn wish(pipe: &Pipe<'_>, value: &Ex) -> String {
    let last = |text: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.rsplit(|c: char| !word(c)).find(|part| !part.is_empty()).unwrap_or("item").to_owned()
    };
    if value.path {
        return last(&value.text);
    }
    let words: Vec<&str> = value.text.split(['"', '\'']).collect();
    let named = pipe.cmds.first().and_then(|command| command.args.first());
    match (named, words.as_slice()) {
        (Some(crate::gotemplate::ast::Operand::Identifier(function)), [_, name, ..])
            if matches!(function.name, "include" | "index" | "get" | "dig") =>
        {
            last(name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()))
        }
        _ => {
            let path: String = value
                .text
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
                .collect();
            if path.contains('.') { last(&path) } else { "item".to_owned() }
        }
    }
}

/// Whether a list holds something that changes maps.
fn changes(list: &List<'_>) -> bool {
    const CHANGE: &[&str] = &["set", "unset", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"];
    let text = crate::gotemplate::print(*list);
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CHANGE.contains(&word))
}

/// Whether a list jumps out of itself.
fn jumps(list: &List<'_>) -> bool {
    list.nodes.iter().any(|node| match node {
        Node::Break(_) | Node::Continue(_) => true,
        Node::If(branch) | Node::With(branch) => {
            jumps(&branch.list) || branch.else_list.as_ref().is_some_and(jumps)
        }
        _ => false,
    })
}
