//! Tokens to trees, by the rules of Go's `text/template/parse` parser and with its error texts.
//!
//! The parser keeps its own stacks instead of recursing, for control structures as for parentheses, so that what a
//! hostile template costs is memory in proportion to its size. Nesting is bounded nevertheless ([`MAX_NESTING`]),
//! for the sake of those who walk the tree.

mod pipeline;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{HashMap, HashSet};

use super::ast::{
    Action, Arena, Branch, Command, Comment, Definition, Invocation, Jump, List, Node, Operand, Pipe, Source,
    Span, Text, Tree, TreeSet,
};
use super::lexer::{Item, Kind, LexOptions, Lexer};
use crate::value::quote::{quote, unquote};

/// How deep parentheses may nest in one pipeline. Go's limit.
pub const MAX_PARENTHESES: usize = 10_000;

/// How deep control structures (`if`, `range`, `with`, `block`, and each `else if`) may nest. Go knows no limit.
pub const MAX_NESTING: usize = 10_000;

/// What a parse depends on besides the text.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Which functions exist.
    pub functions: &'a dyn Fn(&str) -> bool,
    /// Whether comments become nodes.
    pub comments: bool,
    /// The left and right delimiter; empty ones stand for `{{` and `}}`.
    pub delimiters: (&'a str, &'a str),
}

impl<'a> Options<'a> {
    /// What Helm parses with, given the functions.
    #[must_use]
    pub fn new(functions: &'a dyn Fn(&str) -> bool) -> Self {
        Self { functions, comments: false, delimiters: ("", "") }
    }
}

/// Why a template does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Go's text, whole: `template: NAME:LINE: …`.
    pub message: String,
    /// The line that the message names, from 1.
    pub line: usize,
    /// Byte offset of the token that was read last.
    pub pos: usize,
}

/// Parses one file. Names and positions of the trees refer to `source`; the trees live in `arena`.
///
/// # Errors
///
/// With Go's words, for whatever Go refuses, and for what nests deeper than [`MAX_NESTING`].
pub fn parse<'a>(
    arena: &'a Arena,
    source: Source<'a>,
    options: &Options<'a>,
) -> Result<TreeSet<'a>, ParseError> {
    let or = |delimiter: &'a str, default| if delimiter.is_empty() { default } else { delimiter.as_bytes() };
    let lexer = Lexer::new(
        source.text,
        LexOptions {
            left: or(options.delimiters.0, b"{{"),
            right: or(options.delimiters.1, b"}}"),
            comments: options.comments,
            break_keyword: !(options.functions)("break"),
            continue_keyword: !(options.functions)("continue"),
        },
    );
    let parser = Parser {
        arena,
        source,
        functions: options.functions,
        lexer,
        token: [Item { kind: Kind::Eof, pos: 0, line: 0, text: b"" }; 3],
        peeked: 0,
        bodies: Vec::new(),
        nodes: Vec::new(),
        operands: Vec::new(),
        commands: Vec::new(),
        nesting: 0,
        trees: Vec::new(),
        definitions: Vec::new(),
        names: HashMap::new(),
    };
    parser.run()
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// Which control structure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    If,
    Range,
    With,
}

impl Control {
    fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::Range => "range",
            Self::With => "with",
        }
    }
}

/// A template whose text is being read: the file's own, or a definition within it.
struct Body<'a> {
    name: &'a [u8],
    kind: BodyKind<'a>,
    /// What begins it.
    head: Span,
    list_pos: usize,
    /// Where its nodes start on the node stack.
    nodes: usize,
    /// Line of the left delimiter of the action that is being read; 0 outside of actions.
    action_line: usize,
    /// The variables that are visible.
    scope: Scope<'a>,
    ranges: usize,
    open: Vec<Open<'a>>,
    depth: usize,
}

enum BodyKind<'a> {
    File,
    Define,
    /// A block, with what its invocation needs, and the line that the outer template had reached.
    Block {
        pos: usize,
        line: usize,
        pipe: &'a Pipe<'a>,
        start: usize,
        outer_line: usize,
    },
}

impl BodyKind<'_> {
    fn context(&self) -> &'static str {
        match self {
            Self::File => "input",
            Self::Define => "define clause",
            Self::Block { .. } => "block clause",
        }
    }
}

/// A control structure that awaits its end.
struct Open<'a> {
    control: Control,
    pipe: &'a Pipe<'a>,
    span: Span,
    /// The scope to return to.
    variables: usize,
    list_pos: usize,
    /// Where the nodes of the current list start on the node stack.
    nodes: usize,
    /// The first list and the `else` after it, once that is reached.
    then: Option<(List<'a>, Span)>,
    /// Whether the `else` goes on with `if` or `with`, so that the inner structure's end is this one's too.
    chained: bool,
}

/// Variables by name; Go looks for the name only, so a redeclaration adds nothing.
struct Scope<'a> {
    visible: HashSet<&'a [u8]>,
    added: Vec<&'a [u8]>,
}

impl<'a> Scope<'a> {
    fn new() -> Self {
        Self { visible: HashSet::from([b"$".as_slice()]), added: Vec::new() }
    }

    fn declare(&mut self, name: &'a [u8]) {
        if self.visible.insert(name) {
            self.added.push(name);
        }
    }

    fn mark(&self) -> usize {
        self.added.len()
    }

    fn restore(&mut self, mark: usize) {
        for name in self.added.drain(mark..) {
            self.visible.remove(name);
        }
    }
}

struct Parser<'a> {
    arena: &'a Arena,
    source: Source<'a>,
    functions: &'a dyn Fn(&str) -> bool,
    lexer: Lexer<'a>,
    /// Tokens that were read but may be read again; the first one is the last that the lexer gave.
    token: [Item<'a>; 3],
    peeked: usize,
    /// The templates that are being read, the innermost last.
    bodies: Vec<Body<'a>>,
    nodes: Vec<Node<'a>>,
    operands: Vec<Operand<'a>>,
    commands: Vec<Command<'a>>,
    nesting: usize,
    trees: Vec<Tree<'a>>,
    definitions: Vec<Definition<'a>>,
    names: HashMap<&'a [u8], usize>,
}

/// Templates and their structure.
impl<'a> Parser<'a> {
    fn run(mut self) -> Result<TreeSet<'a>> {
        let pos = self.peek().pos;
        self.begin_body(self.source.name.as_bytes(), BodyKind::File, Span::default(), pos);
        loop {
            let token = self.next_non_space();
            match token.kind {
                Kind::Text => self.nodes.push(Node::Text(Text { pos: token.pos, text: token.text })),
                Kind::Comment => self.nodes.push(Node::Comment(Comment { pos: token.pos, text: token.text })),
                Kind::LeftDelim => self.action(token)?,
                Kind::Eof if self.at_top() => break,
                Kind::Eof => return Err(self.error("unexpected EOF")),
                _ => return Err(self.unexpected(token, "input")),
            }
        }
        self.end_body()?;
        Ok(TreeSet { source: self.source, trees: self.trees, definitions: self.definitions })
    }

    fn body(&mut self) -> &mut Body<'a> {
        self.bodies.last_mut().expect("the file's own body stays to the end")
    }

    /// Whether nothing is open: where a definition may stand, and the file may end.
    fn at_top(&self) -> bool {
        matches!(self.bodies.as_slice(), [file] if file.open.is_empty())
    }

    fn begin_body(&mut self, name: &'a [u8], kind: BodyKind<'a>, head: Span, list_pos: usize) {
        self.bodies.push(Body {
            name,
            kind,
            head,
            list_pos,
            nodes: self.nodes.len(),
            action_line: 0,
            scope: Scope::new(),
            ranges: 0,
            open: Vec::new(),
            depth: 0,
        });
    }

    /// Files the tree of the innermost body, unless Go would refuse or drop it.
    fn end_body(&mut self) -> Result<(Body<'a>, Tree<'a>)> {
        let body = self.bodies.pop().expect("a body ends once");
        let root = List { pos: body.list_pos, nodes: self.take_nodes(body.nodes) };
        let tree = Tree { name: body.name, root, depth: body.depth };
        match self.names.get(body.name) {
            None => {
                self.names.insert(body.name, self.trees.len());
                self.trees.push(tree);
            }
            Some(&index) if self.trees[index].is_empty() => self.trees[index] = tree,
            Some(_) if tree.is_empty() => {}
            Some(_) => {
                return Err(
                    self.error(format!("template: multiple definition of template {}", quote(body.name)))
                );
            }
        }
        Ok((body, tree))
    }

    fn take_nodes(&mut self, from: usize) -> &'a [Node<'a>] {
        let nodes = self.arena.slice(&self.nodes[from..]);
        self.nodes.truncate(from);
        nodes
    }

    fn enter(&mut self) -> Result<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.error("max nesting depth exceeded"));
        }
        let depth = self.body().open.len() + 1;
        let body = self.body();
        body.depth = body.depth.max(depth);
        Ok(())
    }

    /// After a left delimiter.
    fn action(&mut self, left: Item<'a>) -> Result<()> {
        let first = self.next_non_space();
        if first.kind == Kind::Define && self.at_top() {
            return self.define(left);
        }
        self.body().action_line = left.line;
        match first.kind {
            Kind::Block => return self.block(left),
            Kind::If => return self.begin_control(Control::If, left.pos),
            Kind::Range => return self.begin_control(Control::Range, left.pos),
            Kind::With => return self.begin_control(Control::With, left.pos),
            Kind::Break | Kind::Continue => self.jump(first, left)?,
            Kind::Else => self.else_control(left)?,
            Kind::End => self.end_control(left)?,
            Kind::Template => self.template(left)?,
            _ => {
                self.backup();
                let (pipe, end) = self.pipeline("command", Kind::RightDelim)?;
                let span = Span { start: left.pos, end };
                let action = Action { pos: first.pos, line: first.line, pipe, span };
                self.nodes.push(Node::Action(self.arena.alloc(action)));
            }
        }
        self.body().action_line = 0;
        Ok(())
    }

    /// After `define`.
    fn define(&mut self, left: Item<'a>) -> Result<()> {
        // From here on errors are those of the definition, which is not in an action.
        let token = self.next_non_space();
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return Err(self.unexpected(token, "define clause"));
        }
        let name = self.unquote(token)?;
        let end = self.expect(Kind::RightDelim, "define clause")?.end();
        let pos = self.peek_non_space().pos;
        self.begin_body(name, BodyKind::Define, Span { start: left.pos, end }, pos);
        Ok(())
    }

    /// After `block`.
    fn block(&mut self, left: Item<'a>) -> Result<()> {
        let token = self.next_non_space();
        let name = self.template_name(token, "block clause")?;
        let (pipe, end) = self.pipeline("block clause", Kind::RightDelim)?;
        self.enter()?;
        let outer_line = self.token[0].line;
        let pos = self.peek_non_space().pos;
        let kind = BodyKind::Block { pos: token.pos, line: token.line, pipe, start: left.pos, outer_line };
        self.begin_body(name, kind, Span { start: left.pos, end }, pos);
        Ok(())
    }

    /// After `template`.
    fn template(&mut self, left: Item<'a>) -> Result<()> {
        let token = self.next_non_space();
        let name = self.template_name(token, "template clause")?;
        let after = self.next_non_space();
        let (pipe, end) = if after.kind == Kind::RightDelim {
            (None, after.end())
        } else {
            self.backup();
            let (pipe, end) = self.pipeline("template clause", Kind::RightDelim)?;
            (Some(pipe), end)
        };
        let span = Span { start: left.pos, end };
        let invocation = Invocation { pos: token.pos, line: token.line, name, pipe, span, block: false };
        self.nodes.push(Node::Template(self.arena.alloc(invocation)));
        Ok(())
    }

    fn template_name(&mut self, token: Item<'a>, context: &str) -> Result<&'a [u8]> {
        match token.kind {
            Kind::String | Kind::RawString => self.unquote(token),
            _ => Err(self.unexpected(token, context)),
        }
    }

    fn unquote(&self, token: Item<'a>) -> Result<&'a [u8]> {
        match unquote(token.text) {
            Some(std::borrow::Cow::Borrowed(text)) => Ok(text),
            Some(std::borrow::Cow::Owned(text)) => Ok(self.arena.slice(&text)),
            None => Err(self.error("invalid syntax")),
        }
    }

    /// After `break` or `continue`.
    fn jump(&mut self, keyword: Item<'a>, left: Item<'a>) -> Result<()> {
        let (name, node): (_, fn(Jump) -> Node<'a>) = if keyword.kind == Kind::Break {
            ("{{break}}", Node::Break)
        } else {
            ("{{continue}}", Node::Continue)
        };
        let right = self.expect(Kind::RightDelim, name)?;
        if self.body().ranges == 0 {
            return Err(self.error(format!("{name} outside {{{{range}}}}")));
        }
        let span = Span { start: left.pos, end: right.end() };
        self.nodes.push(node(Jump { pos: keyword.pos, line: keyword.line, span }));
        Ok(())
    }

    /// After `if`, `range` or `with`; the action started at `start`.
    fn begin_control(&mut self, control: Control, start: usize) -> Result<()> {
        self.enter()?;
        let variables = self.body().scope.mark();
        let (pipe, end) = self.pipeline(control.name(), Kind::RightDelim)?;
        let list_pos = self.peek_non_space().pos;
        let nodes = self.nodes.len();
        let body = self.body();
        body.ranges += usize::from(control == Control::Range);
        body.open.push(Open {
            control,
            pipe,
            span: Span { start, end },
            variables,
            list_pos,
            nodes,
            then: None,
            chained: false,
        });
        Ok(())
    }

    /// After `else`.
    fn else_control(&mut self, left: Item<'a>) -> Result<()> {
        let next = self.peek_non_space();
        let goes_on = matches!(next.kind, Kind::If | Kind::With);
        let end = if goes_on { next.pos } else { self.expect(Kind::RightDelim, "else")?.end() };
        let Some(mut open) = self.body().open.pop() else {
            let body = self.body();
            let message = match body.kind {
                BodyKind::File => "unexpected {{else}}".to_owned(),
                _ => format!("unexpected {{{{else}}}} in {}", body.kind.context()),
            };
            return Err(match body.kind {
                BodyKind::Block { outer_line, .. } => self.error_at(outer_line, message),
                _ => self.error(message),
            });
        };
        if open.then.is_some() {
            return Err(self.error("expected end; found {{else}}"));
        }
        let then = List { pos: open.list_pos, nodes: self.take_nodes(open.nodes) };
        open.then = Some((then, Span { start: left.pos, end }));
        self.body().ranges -= usize::from(open.control == Control::Range);
        let chain = match (open.control, next.kind) {
            (Control::If, Kind::If) | (Control::With, Kind::With) => Some(open.control),
            _ => None,
        };
        open.chained = chain.is_some();
        open.list_pos = if goes_on { next.pos } else { self.peek_non_space().pos };
        self.body().open.push(open);
        self.body().action_line = 0;
        match chain {
            Some(control) => {
                self.next_non_space();
                self.begin_control(control, left.pos)
            }
            None => Ok(()),
        }
    }

    /// After `end`.
    fn end_control(&mut self, left: Item<'a>) -> Result<()> {
        let right = self.expect(Kind::RightDelim, "end")?;
        let close = Span { start: left.pos, end: right.end() };
        if self.body().open.is_empty() {
            return self.end_definition(close);
        }
        while let Some(open) = self.body().open.pop() {
            self.end_branch(&open, close);
            if !self.body().open.last().is_some_and(|outer| outer.chained) {
                break;
            }
        }
        Ok(())
    }

    fn end_branch(&mut self, open: &Open<'a>, close: Span) {
        self.nesting -= 1;
        let last = List { pos: open.list_pos, nodes: self.take_nodes(open.nodes) };
        let (list, else_list, middle) = match open.then {
            Some((then, middle)) => (then, Some(last), Some(middle)),
            None => (last, None, None),
        };
        let branch = Branch {
            pos: open.pipe.pos,
            line: open.pipe.line,
            pipe: open.pipe,
            list,
            else_list,
            open: open.span,
            middle,
            close,
            else_chained: open.chained,
        };
        let branch = self.arena.alloc(branch);
        self.nodes.push(match open.control {
            Control::If => Node::If(branch),
            Control::Range => Node::Range(branch),
            Control::With => Node::With(branch),
        });
        let ends_range = open.control == Control::Range && branch.else_list.is_none();
        let body = self.body();
        body.scope.restore(open.variables);
        body.ranges -= usize::from(ends_range);
    }

    /// At the end of a `define` or a `block`.
    fn end_definition(&mut self, close: Span) -> Result<()> {
        if matches!(self.body().kind, BodyKind::File) {
            return Err(self.error("unexpected {{end}}"));
        }
        let (body, tree) = self.end_body()?;
        let block = matches!(body.kind, BodyKind::Block { .. });
        self.definitions.push(Definition { tree, open: body.head, close, block });
        if let BodyKind::Block { pos, line, pipe, start, .. } = body.kind {
            self.nesting -= 1;
            let invocation = Invocation {
                pos,
                line,
                name: body.name,
                pipe: Some(pipe),
                span: Span { start, end: close.end },
                block: true,
            };
            self.nodes.push(Node::Template(self.arena.alloc(invocation)));
        }
        Ok(())
    }
}
