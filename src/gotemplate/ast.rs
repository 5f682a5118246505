//! The syntax tree of a Go template.
//!
//! Node kinds, positions and fields follow Go's `text/template/parse`, so that positions and printed nodes can be
//! used for error messages equal to Go's. Nodes live in an [`Arena`] and borrow from it and from the source text:
//! they are `Copy`, nothing is freed one by one, and however deep a tree is, dropping it does not recurse.
//!
//! A `pos` is what Go calls the position of a node: a byte offset into the file, and not always where the node
//! starts. (`.a.b` is at the second dot, a chain is at its first field, an action is at its first token.) A [`Span`]
//! is an addition of ours: the whole action with its delimiters.

use std::borrow::Cow;

use bumpalo::Bump;

/// Where nodes live. One arena may hold the trees of many files.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
}

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all nodes and keeps the memory for others.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Moves a node into the arena.
    #[must_use]
    pub fn alloc<T: Copy>(&self, value: T) -> &T {
        self.bump.alloc(value)
    }

    /// Copies nodes, or bytes, into the arena.
    #[must_use]
    pub fn slice<T: Copy>(&self, values: &[T]) -> &[T] {
        self.bump.alloc_slice_copy(values)
    }

    /// Bytes taken from the allocator so far.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }
}

/// A byte range of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// One file of templates: what positions refer to.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name that errors begin with (`chart/templates/file.yaml`).
    pub name: &'a str,
    /// The text. Any bytes: what is not UTF-8 is kept in text and refused elsewhere, as in Go.
    pub text: &'a [u8],
}

impl Source<'_> {
    /// The line (from 1) and the column (in bytes, from 0) of a byte offset, as Go's error locations count them.
    #[must_use]
    pub fn line_column(&self, pos: usize) -> (usize, usize) {
        let before = &self.text[..pos.min(self.text.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        (line, column)
    }
}

/// What one file parses to: its own template and those that it defines, each name once, in the order of the source.
#[derive(Clone, Debug)]
pub struct TreeSet<'a> {
    /// The file.
    pub source: Source<'a>,
    /// The trees. The one that has the file's name is the file's own, unless the file is blank but for a `define` of
    /// that very name.
    pub trees: Vec<Tree<'a>>,
    /// All definitions, also those of a name that is defined again, in the order of their ends.
    pub definitions: Vec<Definition<'a>>,
}

/// A `{{define}}` or a `{{block}}` as it stands in its file.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    /// What it defines.
    pub tree: Tree<'a>,
    /// The `{{define}}` or `{{block}}` with its delimiters.
    pub open: Span,
    /// The `{{end}}` with its delimiters.
    pub close: Span,
    /// Whether it is a block.
    pub block: bool,
}

impl<'a> TreeSet<'a> {
    /// The tree of that name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Tree<'a>> {
        self.trees.iter().find(|tree| tree.name == name)
    }

    /// The tree that has the file's name.
    #[must_use]
    pub fn main(&self) -> Option<&Tree<'a>> {
        self.get(self.source.name.as_bytes())
    }
}

/// One template: a file's own, a `define` or a `block`.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    /// The template's name. (A string literal of Go may hold bytes that are not UTF-8.)
    pub name: &'a [u8],
    /// Its body.
    pub root: List<'a>,
    /// How deep control structures and parentheses nest in it: what a recursive reader must be ready for.
    pub depth: usize,
}

impl<'a> Tree<'a> {
    /// The name, with what is not UTF-8 replaced.
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.name)
    }

    /// Whether the template holds nothing but white space and comments. Such a definition does not replace an
    /// earlier one of the same name (`Template.AddParseTree`).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.nodes.iter().all(|node| match node {
            Node::Text(text) => text.is_blank(),
            Node::Comment(_) => true,
            _ => false,
        })
    }
}

/// A sequence of nodes.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    /// Position of the first node.
    pub pos: usize,
    /// The nodes, in the order of the source.
    pub nodes: &'a [Node<'a>],
}

/// What a template is made of.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// Plain text.
    Text(Text<'a>),
    /// A comment; only there when asked for.
    Comment(Comment<'a>),
    /// An evaluated pipeline, `{{.Values.name}}`, with or without declarations.
    Action(&'a Action<'a>),
    /// `{{if}}`.
    If(&'a Branch<'a>),
    /// `{{range}}`.
    Range(&'a Branch<'a>),
    /// `{{with}}`.
    With(&'a Branch<'a>),
    /// `{{break}}`.
    Break(Jump),
    /// `{{continue}}`.
    Continue(Jump),
    /// `{{template}}`, and the call that a `{{block}}` leaves where it stands.
    Template(&'a Invocation<'a>),
}

/// Plain text, already trimmed where a delimiter beside it asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Offset of its first byte.
    pub pos: usize,
    /// The text.
    pub text: &'a [u8],
}

impl Text<'_> {
    /// Whether it holds only white space, in the sense of Go's `bytes.TrimSpace`.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match std::str::from_utf8(self.text) {
            // Go's unicode.IsSpace is Unicode's White_Space, as Rust's.
            Ok(text) => text.chars().all(char::is_whitespace),
            Err(_) => false,
        }
    }
}

/// A comment.
#[derive(Clone, Copy, Debug)]
pub struct Comment<'a> {
    /// Offset of `/*`.
    pub pos: usize,
    /// From `/*` to `*/`, both included.
    pub text: &'a [u8],
}

/// `{{pipeline}}`.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// Position of its first token.
    pub pos: usize,
    /// Line of its first token.
    pub line: usize,
    /// What it evaluates.
    pub pipe: &'a Pipe<'a>,
    /// The action with its delimiters.
    pub span: Span,
}

/// `{{break}}` or `{{continue}}`.
#[derive(Clone, Copy, Debug)]
pub struct Jump {
    /// Position of the keyword.
    pub pos: usize,
    /// Line of the keyword.
    pub line: usize,
    /// The action with its delimiters.
    pub span: Span,
}

/// `{{if}}`, `{{range}}` or `{{with}}` up to its `{{end}}`.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// Position of the pipeline.
    pub pos: usize,
    /// Line of the pipeline.
    pub line: usize,
    /// The condition, or what is ranged over.
    pub pipe: &'a Pipe<'a>,
    /// What runs when the value is not empty.
    pub list: List<'a>,
    /// What runs when it is. `{{else if x}}` is an `else` with a lone `if` in it, which ends where the outer one does.
    pub else_list: Option<List<'a>>,
    /// The opening action with its delimiters; of an `else if`, the `{{else if …}}`.
    pub open: Span,
    /// The `{{else}}` with its delimiters.
    pub middle: Option<Span>,
    /// The `{{end}}` with its delimiters; an `else if` shares it with the outer one.
    pub close: Span,
    /// Whether the else list is written `{{else if …}}` or `{{else with …}}`.
    pub else_chained: bool,
}

/// `{{template "name" pipeline}}`.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// Position of the name.
    pub pos: usize,
    /// Line of the name.
    pub line: usize,
    /// The name, unquoted.
    pub name: &'a [u8],
    /// The dot of the invoked template, if one is given.
    pub pipe: Option<&'a Pipe<'a>>,
    /// The action with its delimiters; of a `{{block}}`, all of it to its `{{end}}`.
    pub span: Span,
    /// Whether a `{{block}}` stands here.
    pub block: bool,
}

/// Commands joined by `|`, with the variables that take the result.
#[derive(Clone, Copy, Debug)]
pub struct Pipe<'a> {
    /// Position of its first token.
    pub pos: usize,
    /// Line of its first token.
    pub line: usize,
    /// Whether the variables are assigned (`=`), not declared (`:=`).
    pub is_assign: bool,
    /// The variables: at most two, and two only in a `range`.
    pub decl: &'a [Variable<'a>],
    /// The commands.
    pub cmds: &'a [Command<'a>],
}

/// A function with its arguments, or a lone operand.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Position of its first operand.
    pub pos: usize,
    /// At least one.
    pub args: &'a [Operand<'a>],
}

/// A term, with fields taken from it.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A function's name.
    Identifier(Identifier<'a>),
    /// `$`, `$x`, `$x.a.b`.
    Variable(Variable<'a>),
    /// `.`
    Dot(Dot),
    /// `nil`
    Nil(Nil),
    /// `.a.b`
    Field(Field<'a>),
    /// `(pipeline).a.b`, `function.a`
    Chain(&'a Chain<'a>),
    /// `true` or `false`
    Bool(Bool),
    /// A number or a character.
    Number(&'a Number<'a>),
    /// A string, quoted or raw.
    String(&'a StringLiteral<'a>),
    /// `(pipeline)`
    Pipe(&'a Pipe<'a>),
}

/// A function's name.
#[derive(Clone, Copy, Debug)]
pub struct Identifier<'a> {
    /// Its position.
    pub pos: usize,
    /// The name.
    pub name: &'a str,
}

/// A variable, possibly with fields.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'a> {
    /// Its position; with fields, that of the first field.
    pub pos: usize,
    /// As written, `$x.a.b`.
    pub text: &'a str,
}

impl<'a> Variable<'a> {
    /// The variable's name with the dollar sign, `$x`.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.text.split('.').next().unwrap_or_default()
    }

    /// The fields after the name.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + use<'a> {
        let mut parts = self.text.split('.');
        parts.next();
        parts
    }
}

/// `.`
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    /// Its position.
    pub pos: usize,
}

/// `nil`
#[derive(Clone, Copy, Debug)]
pub struct Nil {
    /// Its position.
    pub pos: usize,
}

/// Fields of dot.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The position of `.a`; in `.a.b`, that of the second dot.
    pub pos: usize,
    /// As written, `.a.b`.
    pub text: &'a str,
}

impl<'a> Field<'a> {
    /// The names, without dots.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + use<'a> {
        self.text[1..].split('.')
    }
}

/// Fields of something else than dot or a variable.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// Position of the first field.
    pub pos: usize,
    /// What the fields are taken from: a parenthesized pipeline or a function's name.
    pub base: Operand<'a>,
    /// The fields as written, `.a.b`.
    pub text: &'a str,
}

impl<'a> Chain<'a> {
    /// The names, without dots.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = &'a str> + Clone + use<'a> {
        self.text[1..].split('.')
    }
}

/// `true` or `false`
#[derive(Clone, Copy, Debug)]
pub struct Bool {
    /// Its position.
    pub pos: usize,
    /// Its value.
    pub value: bool,
}

/// A number, as every kind of constant that it can be.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    /// Its position.
    pub pos: usize,
    /// As written. Only a character constant can hold anything but ASCII.
    pub text: &'a [u8],
    /// As a signed integer (`IsInt`, `Int64`).
    pub int: Option<i64>,
    /// As an unsigned integer (`IsUint`, `Uint64`).
    pub uint: Option<u64>,
    /// As a float (`IsFloat`, `Float64`).
    pub float: Option<f64>,
    /// As a complex number, real and imaginary part (`IsComplex`, `Complex128`). Only when written as one.
    pub complex: Option<(f64, f64)>,
    /// Whether it is written as a character (`'a'`).
    pub is_char: bool,
}

/// A string constant.
#[derive(Clone, Copy, Debug)]
pub struct StringLiteral<'a> {
    /// Its position.
    pub pos: usize,
    /// As written, with the quotes.
    pub quoted: &'a [u8],
    /// Its value. `"\xff"` is a Go string that is not UTF-8.
    pub text: &'a [u8],
}

impl<'a> StringLiteral<'a> {
    /// The value, with what is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.text)
    }
}

/// Any node: what an error can point at.
#[derive(Clone, Copy, Debug)]
pub enum NodeRef<'a> {
    /// A sequence of nodes.
    List(List<'a>),
    /// A node of a list.
    Node(Node<'a>),
    /// A pipeline.
    Pipe(&'a Pipe<'a>),
    /// A command of a pipeline.
    Command(Command<'a>),
    /// An operand of a command.
    Operand(Operand<'a>),
}

impl NodeRef<'_> {
    /// The node's position in Go's sense.
    #[must_use]
    pub fn pos(&self) -> usize {
        match self {
            Self::List(list) => list.pos,
            Self::Node(node) => node.pos(),
            Self::Pipe(pipe) => pipe.pos,
            Self::Command(command) => command.pos,
            Self::Operand(operand) => operand.pos(),
        }
    }
}

impl Node<'_> {
    /// The node's position in Go's sense.
    #[must_use]
    pub fn pos(&self) -> usize {
        match self {
            Self::Text(node) => node.pos,
            Self::Comment(node) => node.pos,
            Self::Action(node) => node.pos,
            Self::If(node) | Self::Range(node) | Self::With(node) => node.pos,
            Self::Break(node) | Self::Continue(node) => node.pos,
            Self::Template(node) => node.pos,
        }
    }
}

impl Operand<'_> {
    /// The operand's position in Go's sense.
    #[must_use]
    pub fn pos(&self) -> usize {
        match self {
            Self::Identifier(node) => node.pos,
            Self::Variable(node) => node.pos,
            Self::Dot(node) => node.pos,
            Self::Nil(node) => node.pos,
            Self::Field(node) => node.pos,
            Self::Chain(node) => node.pos,
            Self::Bool(node) => node.pos,
            Self::Number(node) => node.pos,
            Self::String(node) => node.pos,
            Self::Pipe(node) => node.pos,
        }
    }
}

macro_rules! into_node_ref {
    ($($type:ty => |$node:ident| $make:expr;)*) => {$(
        impl<'a> From<$type> for NodeRef<'a> {
            fn from($node: $type) -> Self {
                $make
            }
        }
    )*};
}

into_node_ref! {
    List<'a> => |list| Self::List(list);
    Node<'a> => |node| Self::Node(node);
    &'a Action<'a> => |node| Self::Node(Node::Action(node));
    &'a Invocation<'a> => |node| Self::Node(Node::Template(node));
    &'a Pipe<'a> => |pipe| Self::Pipe(pipe);
    Command<'a> => |command| Self::Command(command);
    &'a Command<'a> => |command| Self::Command(*command);
    Operand<'a> => |operand| Self::Operand(operand);
    Identifier<'a> => |node| Self::Operand(Operand::Identifier(node));
    Variable<'a> => |node| Self::Operand(Operand::Variable(node));
    Field<'a> => |node| Self::Operand(Operand::Field(node));
    &'a Chain<'a> => |node| Self::Operand(Operand::Chain(node));
}
