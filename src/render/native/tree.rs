//! Tera's expressions, parsed as Tera parses them.

use super::tokens::{Kind, Token};

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr<'a> {
    /// A string, number, boolean or none, as it is written.
    Literal(Token<'a>),
    /// A variable.
    Name(Token<'a>),
    /// `base.name`
    Attribute { base: Box<Self>, name: Token<'a>, optional: bool },
    /// `base[key]`
    Item { base: Box<Self>, key: Box<Self>, optional: bool },
    /// `base[start:end:step]`
    Slice { base: Box<Self>, bounds: Vec<Option<Self>>, optional: bool },
    /// `name(key=value)`
    Call { name: Token<'a>, kwargs: Kwargs<'a> },
    /// `value | name(key=value)`
    Filter { value: Box<Self>, name: Token<'a>, kwargs: Option<Kwargs<'a>> },
    /// `value is name(key=value)`
    Test { value: Box<Self>, name: Token<'a>, negated: bool, kwargs: Option<Kwargs<'a>> },
    /// `-value`, `not value`
    Unary { operator: Token<'a>, value: Box<Self> },
    /// `left operator right`; `not in` is marked.
    Binary { operator: Token<'a>, negated: bool, left: Box<Self>, right: Box<Self> },
    /// `yes if condition else no`
    Choice { condition: Box<Self>, yes: Box<Self>, no: Box<Self> },
    /// `[a, ...b]`
    List { open: Token<'a>, items: Vec<(bool, Self)> },
    /// `[value for key, name in source if condition]`
    Comprehension {
        open: Token<'a>,
        value: Box<Self>,
        names: Vec<Token<'a>>,
        source: Box<Self>,
        condition: Option<Box<Self>>,
    },
    /// `{"key": value, ...rest}`; a spread has no key.
    Map { open: Token<'a>, entries: Vec<(Option<Token<'a>>, Self)> },
    /// `<name key="text" other={value} short {...rest} />`
    Component { open: Token<'a>, name: String, attributes: Vec<Attribute<'a>> },
}

/// An attribute of a component.
#[derive(Clone, Debug)]
pub(super) enum Attribute<'a> {
    /// `key="text"`
    Text(Token<'a>, Token<'a>),
    /// `key={value}`, and `key` for `key={key}`.
    Value(Token<'a>, Expr<'a>),
    /// `{...rest}`
    Spread(Expr<'a>),
}

/// Arguments by their names.
#[derive(Clone, Debug)]
pub(super) struct Kwargs<'a> {
    pub args: Vec<(Token<'a>, Expr<'a>)>,
    /// Where the closing parenthesis ends.
    pub end: usize,
}

/// Deeper than Tera allows expressions to nest.
const MAX_DEPTH: usize = 64;

/// Reads tokens.
pub(super) struct Reader<'a, 't> {
    tokens: &'t [Token<'a>],
    depth: usize,
}

const UNARY_NOT: u8 = 5;
const UNARY_MINUS: u8 = 20;

/// How tight an operator binds, left and right.
pub(super) fn power(operator: &str) -> Option<(u8, u8)> {
    Some(match operator {
        "or" => (1, 2),
        "and" => (3, 4),
        "in" | "is" => (5, 6),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => (7, 8),
        "+" | "-" => (11, 12),
        "*" | "/" | "%" | "~" | "//" => (13, 14),
        "**" => (16, 15),
        "|" => (17, 18),
        _ => return None,
    })
}

impl<'a, 't> Reader<'a, 't> {
    pub(super) fn new(tokens: &'t [Token<'a>]) -> Self {
        Self { tokens, depth: 0 }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'t [Token<'a>] {
        self.tokens
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    pub(super) fn peek_is(&self, text: &str) -> bool {
        self.tokens.first().is_some_and(|token| token.is(text))
    }

    /// Reads this word or operator, if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.peek_is(text);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.take(text).then_some(())
    }

    pub(super) fn word(&mut self) -> Option<Token<'a>> {
        self.next().filter(|token| token.kind == Kind::Word)
    }

    /// An expression to the end of the tokens.
    pub(super) fn whole(mut self) -> Option<Expr<'a>> {
        let expr = self.expression()?;
        self.tokens.is_empty().then_some(expr)
    }

    pub(super) fn expression(&mut self) -> Option<Expr<'a>> {
        self.binding(0)
    }

    fn binding(&mut self, least: u8) -> Option<Expr<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let expr = self.binding_inner(least);
        self.depth -= 1;
        expr
    }

    fn binding_inner(&mut self, least: u8) -> Option<Expr<'a>> {
        let token = self.next()?;
        let mut left = match (token.kind, token.text) {
            (Kind::Text | Kind::Number, _)
            | (Kind::Word, "true" | "True" | "false" | "False" | "none" | "None" | "null") => {
                Expr::Literal(token)
            }
            (Kind::Word, "not") => Expr::Unary { operator: token, value: Box::new(self.binding(UNARY_NOT)?) },
            (Kind::Operator, "-") => {
                Expr::Unary { operator: token, value: Box::new(self.binding(UNARY_MINUS)?) }
            }
            (Kind::Word, _) => self.name(token)?,
            (Kind::Operator, "<") => self.component(token)?,
            (Kind::Operator, "{") => self.map(token)?,
            (Kind::Operator, "[") => self.list(token)?,
            (Kind::Operator, "(") => {
                let inner = self.binding(0)?;
                self.expect(")")?;
                inner
            }
            _ => return None,
        };
        while let Some(operator) = self.tokens.first().copied().filter(|token| token.kind != Kind::Text) {
            if operator.text == "[" {
                left = self.subscript(left)?;
                continue;
            }
            if operator.text == "if" {
                if least > 0 {
                    break;
                }
                self.next();
                let condition = self.binding(0)?;
                self.expect("else")?;
                let no = self.binding(0)?;
                return Some(Expr::Choice {
                    condition: Box::new(condition),
                    yes: Box::new(left),
                    no: Box::new(no),
                });
            }
            let negated = operator.text == "not";
            let Some((tight, right)) = power(if negated { "in" } else { operator.text }) else { break };
            if tight < least {
                break;
            }
            self.next();
            let operator = if negated { self.next().filter(|token| token.is("in"))? } else { operator };
            left = match operator.text {
                "|" => {
                    let name = self.word()?;
                    let kwargs = if self.peek_is("(") { Some(self.kwargs()?) } else { None };
                    Expr::Filter { value: Box::new(left), name, kwargs }
                }
                "is" => {
                    let negated = self.take("not");
                    let name = self.word()?;
                    let kwargs = if self.peek_is("(") { Some(self.kwargs()?) } else { None };
                    Expr::Test { value: Box::new(left), name, negated, kwargs }
                }
                _ => {
                    let right = Box::new(self.binding(right)?);
                    Expr::Binary { operator, negated, left: Box::new(left), right }
                }
            };
        }
        Some(left)
    }

    fn name(&mut self, name: Token<'a>) -> Option<Expr<'a>> {
        if self.peek_is("(") {
            return Some(Expr::Call { name, kwargs: self.kwargs()? });
        }
        let mut expr = Expr::Name(name);
        loop {
            let optional = self.peek_is("?.");
            if optional || self.peek_is(".") {
                self.next();
                let name = self.word()?;
                expr = Expr::Attribute { base: Box::new(expr), name, optional };
            } else if self.peek_is("[") || self.peek_is("?[") {
                expr = self.subscript(expr)?;
            } else {
                return Some(expr);
            }
        }
    }

    fn subscript(&mut self, base: Expr<'a>) -> Option<Expr<'a>> {
        let optional = self.next()?.is("?[");
        let base = Box::new(base);
        let mut bounds = vec![if self.peek_is(":") { None } else { Some(self.expression()?) }];
        while self.take(":") {
            let open = self.peek_is(":") || self.peek_is("]");
            bounds.push(if open { None } else { Some(self.expression()?) });
        }
        self.expect("]")?;
        if bounds.len() > 1 {
            return Some(Expr::Slice { base, bounds, optional });
        }
        let key = Box::new(bounds.pop()??);
        Some(Expr::Item { base, key, optional })
    }

    pub(super) fn kwargs(&mut self) -> Option<Kwargs<'a>> {
        self.expect("(")?;
        let mut args = Vec::new();
        loop {
            let next = self.tokens.first()?;
            if next.is(")") {
                self.next();
                return Some(Kwargs { args, end: next.end() });
            }
            if !args.is_empty() {
                self.expect(",")?;
                if self.peek_is(")") {
                    continue;
                }
            }
            let key = self.word()?;
            self.expect("=")?;
            args.push((key, self.expression()?));
        }
    }

    fn list(&mut self, open: Token<'a>) -> Option<Expr<'a>> {
        let mut items = Vec::new();
        while !self.take("]") {
            if !items.is_empty() {
                self.expect(",")?;
                if self.take("]") {
                    break;
                }
            }
            let spread = self.take("...");
            let item = self.expression()?;
            if items.is_empty() && !spread && self.take("for") {
                return self.comprehension(open, item);
            }
            items.push((spread, item));
        }
        Some(Expr::List { open, items })
    }

    fn comprehension(&mut self, open: Token<'a>, value: Expr<'a>) -> Option<Expr<'a>> {
        let mut names = vec![self.word()?];
        if self.take(",") {
            names.push(self.word()?);
        }
        self.expect("in")?;
        let source = self.binding(1)?;
        let condition = if self.take("if") { Some(Box::new(self.binding(1)?)) } else { None };
        self.expect("]")?;
        Some(Expr::Comprehension { open, value: Box::new(value), names, source: Box::new(source), condition })
    }

    fn map(&mut self, open: Token<'a>) -> Option<Expr<'a>> {
        let mut entries = Vec::new();
        while !self.take("}") {
            if !entries.is_empty() {
                self.expect(",")?;
                if self.take("}") {
                    break;
                }
            }
            if self.take("...") {
                entries.push((None, self.expression()?));
                continue;
            }
            let key = self.next()?;
            self.expect(":")?;
            entries.push((Some(key), self.expression()?));
        }
        Some(Expr::Map { open, entries })
    }

    /// A component after its `<`, to its `/>`.
    fn component(&mut self, open: Token<'a>) -> Option<Expr<'a>> {
        let (name, attributes) = self.component_head()?;
        self.expect("/")?;
        self.expect(">")?;
        Some(Expr::Component { open, name, attributes })
    }

    /// A component's name and attributes.
    pub(super) fn component_head(&mut self) -> Option<(String, Vec<Attribute<'a>>)> {
        let mut name = self.word()?.text.to_owned();
        while self.take(".") {
            name.push('.');
            name.push_str(self.word()?.text);
        }
        let mut attributes = Vec::new();
        loop {
            if self.take("{") {
                self.expect("...")?;
                attributes.push(Attribute::Spread(self.expression()?));
                self.expect("}")?;
                continue;
            }
            if self.tokens.first().is_none_or(|token| token.kind != Kind::Word) {
                return Some((name, attributes));
            }
            let key = self.word()?;
            if !self.take("=") {
                attributes.push(Attribute::Value(key, Expr::Name(key)));
            } else if self.take("{") {
                attributes.push(Attribute::Value(key, self.expression()?));
                self.expect("}")?;
            } else {
                attributes.push(Attribute::Text(key, self.next().filter(|token| token.kind == Kind::Text)?));
            }
        }
    }
}
