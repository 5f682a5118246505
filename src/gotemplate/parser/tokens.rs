//! The parser's view of the tokens, and the errors that name them.

use super::{ParseError, Parser, Result};
use crate::gotemplate::lexer::{Item, Kind};
use crate::value::quote::{quote, quote_first};

/// Lookahead: up to three tokens can be given back.
impl<'a> Parser<'a> {
    pub(super) fn next(&mut self) -> Item<'a> {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.token[0] = self.lexer.next_item();
        }
        self.token[self.peeked]
    }

    pub(super) fn backup(&mut self) {
        self.peeked += 1;
    }

    pub(super) fn backup2(&mut self, first: Item<'a>) {
        self.token[1] = first;
        self.peeked = 2;
    }

    pub(super) fn backup3(&mut self, first: Item<'a>, second: Item<'a>) {
        self.token[1] = second;
        self.token[2] = first;
        self.peeked = 3;
    }

    pub(super) fn peek(&mut self) -> Item<'a> {
        if self.peeked == 0 {
            self.peeked = 1;
            self.token[0] = self.lexer.next_item();
        }
        self.token[self.peeked - 1]
    }

    pub(super) fn next_non_space(&mut self) -> Item<'a> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    pub(super) fn peek_non_space(&mut self) -> Item<'a> {
        let token = self.next_non_space();
        self.backup();
        token
    }

    pub(super) fn expect(&mut self, kind: Kind, context: &str) -> Result<Item<'a>> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, context)) }
    }
}

/// Errors.
impl<'a> Parser<'a> {
    pub(super) fn error(&self, message: impl AsRef<str>) -> ParseError {
        self.error_at(self.token[0].line, message)
    }

    pub(super) fn error_at(&self, line: usize, message: impl AsRef<str>) -> ParseError {
        ParseError {
            message: format!("template: {}:{line}: {}", self.source.name, message.as_ref()),
            line,
            pos: self.token[0].pos,
        }
    }

    pub(super) fn unexpected(&self, token: Item<'a>, context: &str) -> ParseError {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", self.describe(token)));
        }
        let reason = self.lexer.error();
        let action_line = self.bodies.last().map_or(0, |body| body.action_line);
        if action_line == 0 || action_line == token.line {
            return self.error(reason);
        }
        let link = if reason.ends_with(" action") { "" } else { " in action" };
        self.error(format!("{reason}{link} started at {}:{action_line}", self.source.name))
    }

    /// A token as Go prints it.
    pub(super) fn describe(&self, token: Item<'a>) -> String {
        let text = String::from_utf8_lossy(token.text);
        match token.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.lexer.error().to_owned(),
            Kind::Block
            | Kind::Break
            | Kind::Continue
            | Kind::Define
            | Kind::Else
            | Kind::End
            | Kind::If
            | Kind::Nil
            | Kind::Range
            | Kind::Template
            | Kind::With => format!("<{text}>"),
            Kind::Dot => "<.>".to_owned(),
            _ if token.text.len() > 10 => format!("{}...", quote_first(token.text, 10)),
            _ => quote(token.text),
        }
    }
}
