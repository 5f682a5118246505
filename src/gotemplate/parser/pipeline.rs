//! Pipelines: declarations, commands, operands and parentheses.

use super::{MAX_PARENTHESES, Parser, Result};
use crate::gotemplate::ast::{
    Bool, Chain, Command, Dot, Field, Identifier, Nil, Number, Operand, Pipe, StringLiteral, Variable,
};
use crate::gotemplate::lexer::{Item, Kind};
use crate::gotemplate::number;
use crate::gotemplate::print::print_bytes;
use crate::value::quote::quote;

/// A pipeline that is being read, with parenthesized ones inside it above it on the stack.
struct OpenPipe<'a> {
    pos: usize,
    line: usize,
    context: &'static str,
    end: Kind,
    is_assign: bool,
    decl: Vec<Variable<'a>>,
    /// Where its commands start on the command stack.
    commands: usize,
    /// The command that is being read.
    command: Option<OpenCommand>,
}

struct OpenCommand {
    pos: usize,
    /// Where its operands start on the operand stack.
    operands: usize,
}

impl<'a> Parser<'a> {
    /// A pipeline up to its end token; also the offset after that.
    pub(super) fn pipeline(&mut self, context: &'static str, end: Kind) -> Result<(&'a Pipe<'a>, usize)> {
        let mut stack = vec![self.begin_pipe(context, end)?];
        loop {
            let depth = stack.len() - 1;
            let top = stack.last_mut().expect("the outermost pipeline ends the loop");
            if top.command.is_none() {
                let token = self.next_non_space();
                if token.kind == top.end {
                    let pipe = stack.pop().expect("it was there a moment ago");
                    let pipe = self.end_pipe(&pipe)?;
                    let Some(outer) = stack.last_mut() else { return Ok((pipe, token.end())) };
                    self.after_term(Operand::Pipe(pipe), token, outer)?;
                    continue;
                }
                if !starts_operand(token.kind) {
                    return Err(self.unexpected(token, top.context));
                }
                self.backup();
                top.command = Some(OpenCommand { pos: token.pos, operands: self.operands.len() });
            }
            let token = self.next_non_space();
            match token.kind {
                Kind::LeftParen => {
                    if depth >= MAX_PARENTHESES {
                        return Err(self.error("max expression depth exceeded"));
                    }
                    let body = self.body();
                    body.depth = body.depth.max(body.open.len() + depth + 1);
                    stack.push(self.begin_pipe("parenthesized pipeline", Kind::RightParen)?);
                }
                kind if starts_operand(kind) => {
                    let term = self.term(token)?;
                    self.after_term(term, token, top)?;
                }
                _ => {
                    self.backup();
                    self.after_operand(top)?;
                }
            }
        }
    }

    /// The start of a pipeline with its declarations.
    fn begin_pipe(&mut self, context: &'static str, end: Kind) -> Result<OpenPipe<'a>> {
        let first = self.peek_non_space();
        let mut pipe = OpenPipe {
            pos: first.pos,
            line: first.line,
            context,
            end,
            is_assign: false,
            decl: Vec::new(),
            commands: self.commands.len(),
            command: None,
        };
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                return Ok(pipe);
            }
            self.next();
            // Whether the variable is declared or used shows only after the space that may follow it.
            let after = self.peek();
            let next = self.peek_non_space();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    pipe.is_assign = next.kind == Kind::Assign;
                    self.next_non_space();
                    self.declare(variable, &mut pipe);
                    return Ok(pipe);
                }
                Kind::Char if next.text == b"," => {
                    self.next_non_space();
                    self.declare(variable, &mut pipe);
                    if context != "range" || pipe.decl.len() >= 2 {
                        return Err(self.error(format!("too many declarations in {context}")));
                    }
                    match self.peek_non_space().kind {
                        Kind::Variable | Kind::RightDelim | Kind::RightParen => {}
                        _ => return Err(self.error("range can only initialize variables")),
                    }
                }
                _ if after.kind == Kind::Space => {
                    self.backup3(variable, after);
                    return Ok(pipe);
                }
                _ => {
                    self.backup2(variable);
                    return Ok(pipe);
                }
            }
        }
    }

    fn declare(&mut self, variable: Item<'a>, pipe: &mut OpenPipe<'a>) {
        pipe.decl.push(Variable { pos: variable.pos, text: ascii_or_letters(variable.text) });
        self.body().scope.declare(variable.text);
    }

    fn end_pipe(&mut self, pipe: &OpenPipe<'a>) -> Result<&'a Pipe<'a>> {
        let commands = &self.commands[pipe.commands..];
        if commands.is_empty() {
            return Err(self.error(format!("missing value for {}", pipe.context)));
        }
        for (index, command) in commands.iter().enumerate().skip(1) {
            if matches!(
                command.args[0],
                Operand::Bool(_)
                    | Operand::Dot(_)
                    | Operand::Nil(_)
                    | Operand::Number(_)
                    | Operand::String(_)
            ) {
                return Err(self.error(format!("non executable command in pipeline stage {}", index + 1)));
            }
        }
        let cmds = self.arena.slice(commands);
        self.commands.truncate(pipe.commands);
        let decl = self.arena.slice(&pipe.decl);
        Ok(self.arena.alloc(Pipe { pos: pipe.pos, line: pipe.line, is_assign: pipe.is_assign, decl, cmds }))
    }

    /// Any term but a parenthesized pipeline.
    fn term(&mut self, token: Item<'a>) -> Result<Operand<'a>> {
        let pos = token.pos;
        let text = ascii_or_letters(token.text);
        let constant = match token.kind {
            Kind::Identifier => {
                if !(self.functions)(text) {
                    return Err(self.error(format!("function {} not defined", quote(token.text))));
                }
                return Ok(Operand::Identifier(Identifier { pos, name: text }));
            }
            Kind::Dot => return Ok(Operand::Dot(Dot { pos })),
            Kind::Nil => return Ok(Operand::Nil(Nil { pos })),
            Kind::Variable => {
                if !self.body().scope.visible.contains(token.text) {
                    return Err(self.error(format!("undefined variable {}", quote(token.text))));
                }
                return Ok(Operand::Variable(Variable { pos, text }));
            }
            Kind::Field => return Ok(Operand::Field(Field { pos, text })),
            Kind::Bool => return Ok(Operand::Bool(Bool { pos, value: text == "true" })),
            Kind::CharConstant => number::character(token.text),
            Kind::Complex => number::complex(text),
            Kind::Number => number::number(text),
            _ => {
                let text = self.unquote(token)?;
                return Ok(Operand::String(self.arena.alloc(StringLiteral {
                    pos,
                    quoted: token.text,
                    text,
                })));
            }
        };
        let number::Constant { int, uint, float, complex } = constant.map_err(|error| self.error(error))?;
        let is_char = token.kind == Kind::CharConstant;
        Ok(Operand::Number(self.arena.alloc(Number {
            pos,
            text: token.text,
            int,
            uint,
            float,
            complex,
            is_char,
        })))
    }

    /// Takes the fields that follow a term, and goes on with the command. `last` is the term's last token.
    fn after_term(&mut self, term: Operand<'a>, last: Item<'a>, pipe: &mut OpenPipe<'a>) -> Result<()> {
        let first_field = self.peek();
        let mut operand = term;
        if first_field.kind == Kind::Field {
            let mut end = first_field.end();
            while self.peek().kind == Kind::Field {
                end = self.next().end();
            }
            let pos = first_field.pos;
            let from = |start: usize| ascii_or_letters(&self.source.text[start..end]);
            operand = match term {
                Operand::Field(_) => Operand::Field(Field { pos, text: from(last.pos) }),
                Operand::Variable(_) => Operand::Variable(Variable { pos, text: from(last.pos) }),
                Operand::Bool(_)
                | Operand::String(_)
                | Operand::Number(_)
                | Operand::Nil(_)
                | Operand::Dot(_) => {
                    return Err(self.error(format!("unexpected . after term {}", quote(&print_bytes(term)))));
                }
                base => Operand::Chain(self.arena.alloc(Chain { pos, base, text: from(pos) })),
            };
        }
        self.operands.push(operand);
        self.after_operand(pipe)
    }

    /// Goes on after an operand: to the next one, or to the end of the command.
    fn after_operand(&mut self, pipe: &mut OpenPipe<'a>) -> Result<()> {
        let token = self.next();
        match token.kind {
            Kind::Space => return Ok(()),
            Kind::RightDelim | Kind::RightParen => self.backup(),
            Kind::Pipe => {}
            _ => return Err(self.unexpected(token, "operand")),
        }
        if let Some(command) = pipe.command.take() {
            let args = self.arena.slice(&self.operands[command.operands..]);
            self.operands.truncate(command.operands);
            self.commands.push(Command { pos: command.pos, args });
        }
        Ok(())
    }
}

fn starts_operand(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::CharConstant
            | Kind::Complex
            | Kind::Dot
            | Kind::Field
            | Kind::Identifier
            | Kind::Number
            | Kind::Nil
            | Kind::RawString
            | Kind::String
            | Kind::Variable
            | Kind::LeftParen
    )
}

/// The text of a token that holds letters, digits and ASCII only.
fn ascii_or_letters(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}
