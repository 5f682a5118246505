//! Nodes as Go prints them, and the places that errors name.
//!
//! Printing keeps its own stack, so a tree of any depth prints.

use super::ast::{Command, List, Node, NodeRef, Operand, Pipe, Source};
use crate::value::quote::quote_into;

/// What is still to be printed; the last one is next.
enum Step<'a> {
    Text(&'static str),
    Node(Node<'a>),
    Pipe(&'a Pipe<'a>),
    Command(Command<'a>),
    Operand(Operand<'a>),
}

/// A node as Go's `Node.String` gives it; bytes that are not UTF-8 are replaced.
#[must_use]
pub fn print<'a>(node: impl Into<NodeRef<'a>>) -> String {
    let bytes = print_bytes(node);
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A node as Go's `Node.String` gives it.
#[must_use]
pub fn print_bytes<'a>(node: impl Into<NodeRef<'a>>) -> Vec<u8> {
    let mut printer = Printer::default();
    match node.into() {
        NodeRef::List(list) => printer.list(list),
        NodeRef::Node(node) => printer.steps.push(Step::Node(node)),
        NodeRef::Pipe(pipe) => printer.steps.push(Step::Pipe(pipe)),
        NodeRef::Command(command) => printer.steps.push(Step::Command(command)),
        NodeRef::Operand(operand) => printer.steps.push(Step::Operand(operand)),
    }
    printer.run();
    printer.out
}

/// The place of a node and the node itself, as the two appear in an execution error of Go: the place is
/// `NAME:LINE:COLUMN` (line from 1, column in bytes from 0), the node is printed whole (`Tree.ErrorContext`).
#[must_use]
pub fn error_context<'a>(source: &Source<'_>, node: impl Into<NodeRef<'a>>) -> (String, String) {
    let node = node.into();
    let (line, column) = source.line_column(node.pos());
    (format!("{}:{line}:{column}", source.name), print(node))
}

#[derive(Default)]
struct Printer<'a> {
    out: Vec<u8>,
    steps: Vec<Step<'a>>,
}

impl<'a> Printer<'a> {
    fn run(&mut self) {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Text(text) => self.text(text),
                Step::Node(node) => self.node(node),
                Step::Pipe(pipe) => self.pipe(pipe),
                Step::Command(command) => self.command(command),
                Step::Operand(operand) => self.operand(operand),
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn list(&mut self, list: List<'a>) {
        self.steps.extend(list.nodes.iter().rev().map(|node| Step::Node(*node)));
    }

    fn node(&mut self, node: Node<'a>) {
        let (keyword, branch) = match node {
            Node::Text(text) => return self.out.extend_from_slice(text.text),
            Node::Comment(comment) => {
                self.text("{{");
                self.out.extend_from_slice(comment.text);
                return self.text("}}");
            }
            Node::Action(action) => {
                self.text("{{");
                return self.steps.extend([Step::Text("}}"), Step::Pipe(action.pipe)]);
            }
            Node::Break(_) => return self.text("{{break}}"),
            Node::Continue(_) => return self.text("{{continue}}"),
            Node::Template(invocation) => {
                let mut head = "{{template ".to_owned();
                quote_into(&mut head, invocation.name);
                self.text(&head);
                self.steps.push(Step::Text("}}"));
                if let Some(pipe) = invocation.pipe {
                    self.text(" ");
                    self.steps.push(Step::Pipe(pipe));
                }
                return;
            }
            Node::If(branch) => ("{{if ", branch),
            Node::Range(branch) => ("{{range ", branch),
            Node::With(branch) => ("{{with ", branch),
        };
        self.text(keyword);
        self.steps.push(Step::Text("{{end}}"));
        if let Some(list) = branch.else_list {
            self.list(list);
            self.steps.push(Step::Text("{{else}}"));
        }
        self.list(branch.list);
        self.steps.extend([Step::Text("}}"), Step::Pipe(branch.pipe)]);
    }

    fn pipe(&mut self, pipe: &'a Pipe<'a>) {
        for (index, variable) in pipe.decl.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.text(variable.text);
        }
        if !pipe.decl.is_empty() {
            self.text(if pipe.is_assign { " = " } else { " := " });
        }
        for (index, command) in pipe.cmds.iter().enumerate().rev() {
            self.steps.push(Step::Command(*command));
            if index > 0 {
                self.steps.push(Step::Text(" | "));
            }
        }
    }

    fn command(&mut self, command: Command<'a>) {
        for (index, operand) in command.args.iter().enumerate().rev() {
            self.steps.push(Step::Operand(*operand));
            if index > 0 {
                self.steps.push(Step::Text(" "));
            }
        }
    }

    fn operand(&mut self, operand: Operand<'a>) {
        match operand {
            Operand::Identifier(node) => self.text(node.name),
            Operand::Variable(node) => self.text(node.text),
            Operand::Dot(_) => self.text("."),
            Operand::Nil(_) => self.text("nil"),
            Operand::Field(node) => self.text(node.text),
            Operand::Chain(chain) => {
                // The fields come after the base, and they borrow from the source: a chain without base stands for them.
                self.steps.push(Step::Operand(Operand::Field(super::ast::Field {
                    pos: chain.pos,
                    text: chain.text,
                })));
                self.steps.push(Step::Operand(chain.base));
            }
            Operand::Bool(node) => self.text(if node.value { "true" } else { "false" }),
            Operand::Number(node) => self.out.extend_from_slice(node.text),
            Operand::String(node) => self.out.extend_from_slice(node.quoted),
            Operand::Pipe(pipe) => {
                self.text("(");
                self.steps.extend([Step::Text(")"), Step::Pipe(pipe)]);
            }
        }
    }
}
