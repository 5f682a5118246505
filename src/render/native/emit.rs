//! Expressions of native templates, written so that Tera evaluates them by the rules of charts.
//!
//! | native | what Tera runs |
//! |---|---|
//! | `Values.a.b` printed, tested, used | `d\|w3`, `d\|q3`, `d\|p3`, as in lowered Go templates |
//! | `x[key]` | `x\|_item(k=key)` |
//! | anything else printed or tested | `e\|_print`, `e\|_truth` |
//! | `a or b` as a value | `a\|_solid or b` |
//! | `x in y`, `x ~ y` | `x in y\|_in`, `x\|_text ~ y\|_text` |
//! | `{"a": 1}` | `{"a": 1}\|_fresh`, for constant maps must not be shared |
//! | what is given to Tera's own filters | `e\|_plain\|length` |

use std::collections::HashSet;

use crate::gotemplate::lower::{Form, Tables};

use super::{
    super::vocabulary,
    names,
    tokens::{Kind, Token, unquoted},
    tree::{Attribute, Expr, Kwargs, power},
};

/// Tera source under construction.
#[derive(Default)]
pub(super) struct Out {
    pub text: String,
    /// Where what was written comes from: its place here, and where it begins and ends in the template.
    pub map: Vec<Origin>,
}

/// Where a piece of the source comes from.
#[derive(Clone, Copy, Debug)]
pub(in crate::render) struct Origin {
    pub at: u32,
    pub start: u32,
    pub end: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "templates are far smaller than 4 GiB")]
impl Out {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn from(&mut self, text: &str, start: usize, end: usize) {
        self.map.push(Origin { at: self.text.len() as u32, start: start as u32, end: end as u32 });
        self.text.push_str(text);
    }

    pub(super) fn token(&mut self, token: Token<'_>) {
        self.from(token.text, token.start, token.end());
    }
}

/// What is known where an expression stands.
pub(super) struct Env<'a, 't> {
    pub tables: &'t mut Tables,
    /// The variables that the template sets itself. Other names are fields of the dot.
    pub locals: HashSet<&'a str>,
    /// Whether other templates include this one with Tera's `include`, so that it sees their variables.
    pub included: bool,
    /// Whether this is the body of a component, which sees its arguments alone.
    pub component: bool,
}

/// How tight a filter binds.
const FILTER: u8 = 17;

/// Where the fields of a path begin.
#[derive(Clone, Copy)]
enum Base<'a> {
    Dot,
    Variable(Token<'a>),
    /// A variable of an including template, or a field of the dot.
    Free(Token<'a>),
}

/// A path: where it begins, its fields, and its first and last byte in the template.
struct Path<'a> {
    base: Base<'a>,
    fields: Vec<String>,
    start: usize,
    end: usize,
}

impl<'a> Env<'a, '_> {
    /// An expression as `{{ }}` prints it.
    pub(super) fn print(&mut self, expr: &Expr<'a>, out: &mut Out) {
        match expr {
            Expr::Literal(token) if !(token.kind == Kind::Number && token.text.contains('.')) => {
                self.value(expr, 0, out);
            }
            Expr::Component { .. } => self.value(expr, 0, out),
            Expr::Call { name, .. } if name.text == "super" => self.value(expr, 0, out),
            _ if is_text(expr) => self.value(expr, 0, out),
            _ => match self.path(expr) {
                Some(path) if !path.fields.is_empty() => self.write_path(&path, Form::Print, out),
                _ => {
                    self.value(expr, FILTER, out);
                    out.push("|_print");
                }
            },
        }
    }

    /// An expression as a condition.
    pub(super) fn truth(&mut self, expr: &Expr<'a>, least: u8, out: &mut Out) {
        match expr {
            Expr::Unary { operator, value } if operator.text == "not" => {
                let open = least > 5;
                out.push(if open { "(not " } else { "not " });
                self.truth(value, 6, out);
                out.push(if open { ")" } else { "" });
            }
            Expr::Binary { operator, left, right, .. } if matches!(operator.text, "and" | "or") => {
                let Some((tight, after)) = power(operator.text) else { return };
                let open = tight < least;
                out.push(if open { "(" } else { "" });
                self.truth(left, tight, out);
                out.push(if operator.text == "and" { " and " } else { " or " });
                self.truth(right, after, out);
                out.push(if open { ")" } else { "" });
            }
            _ if is_bool(expr) || is_text(expr) => self.value(expr, least, out),
            _ => match self.path(expr) {
                Some(path) if !path.fields.is_empty() => {
                    self.guarded(FILTER, least, out, |env, out| env.write_path(&path, Form::Truth, out));
                }
                _ => self.guarded(FILTER, least, out, |env, out| {
                    env.value(expr, FILTER, out);
                    out.push("|_truth");
                }),
            },
        }
    }

    /// Writes with parentheses around it, if what binds so loosely needs them.
    fn guarded(&mut self, tight: u8, least: u8, out: &mut Out, body: impl FnOnce(&mut Self, &mut Out)) {
        let open = tight < least;
        out.push(if open { "(" } else { "" });
        body(self, out);
        out.push(if open { ")" } else { "" });
    }

    /// An expression whose value is used. What binds looser than `least` is put in parentheses.
    pub(super) fn value(&mut self, expr: &Expr<'a>, least: u8, out: &mut Out) {
        if let Some(path) = self.path(expr) {
            let tight = match (path.base, path.fields.is_empty()) {
                (Base::Free(_), _) | (_, false) => FILTER,
                _ => u8::MAX,
            };
            return self.guarded(tight, least, out, |env, out| env.write_path(&path, Form::Value, out));
        }
        match expr {
            Expr::Literal(token) => out.token(*token),
            Expr::Name(name) => out.token(*name),
            Expr::Attribute { base, name, .. } if matches!(&**base, Expr::Name(base) if base.text == "loop") =>
            {
                out.push("loop.");
                out.token(*name);
            }
            Expr::Attribute { base, name, optional } => {
                self.guarded(FILTER, least, out, |env, out| {
                    env.value(base, FILTER, out);
                    if *optional {
                        out.from(&format!("|_item(k=\"{}\")", name.text), name.start, name.end());
                    } else {
                        let path = env.path_filter(name.text, Form::Value);
                        out.push("|");
                        out.from(&path, name.start, name.end());
                    }
                });
            }
            Expr::Item { base, key, .. } => self.guarded(FILTER, least, out, |env, out| {
                env.value(base, FILTER, out);
                out.push("|");
                let start = start_of(key);
                out.from("_item(k=", start, start);
                env.value(key, 0, out);
                out.push(")");
            }),
            Expr::Slice { base, bounds, optional } => {
                self.value(base, FILTER + 1, out);
                out.push(if *optional { "?[" } else { "[" });
                for (at, bound) in bounds.iter().enumerate() {
                    out.push(if at > 0 { ":" } else { "" });
                    if let Some(bound) = bound {
                        self.plain(bound, out);
                    }
                }
                out.push("]");
            }
            Expr::Call { name, kwargs } => {
                out.token(*name);
                self.kwargs(kwargs, names::function(name.text).is_none(), out);
            }
            Expr::Filter { value, name, kwargs } => self.guarded(FILTER, least, out, |env, out| {
                env.value(value, FILTER, out);
                if is_teras(*name, kwargs.as_ref()) && !is_text(value) {
                    out.push("|_plain");
                }
                out.push("|");
                env.filter(*name, kwargs.as_ref(), out);
            }),
            Expr::Test { value, name, negated, kwargs } => self.guarded(5, least, out, |env, out| {
                if matches!(name.text, "defined" | "undefined") {
                    env.maybe(value, out);
                } else {
                    env.value(value, FILTER, out);
                    if !is_text(value) {
                        out.push("|_plain");
                    }
                }
                out.push(if *negated { " is not " } else { " is " });
                out.token(*name);
                if let Some(kwargs) = kwargs {
                    env.kwargs(kwargs, true, out);
                }
            }),
            Expr::Unary { operator, value } if operator.text == "not" => {
                self.guarded(5, least, out, |env, out| {
                    out.token(*operator);
                    out.push(" ");
                    env.truth(value, 6, out);
                });
            }
            Expr::Unary { operator, value } => self.guarded(20, least, out, |env, out| {
                out.token(*operator);
                env.value(value, 21, out);
            }),
            Expr::Binary { operator, negated, left, right } => {
                self.binary(*operator, *negated, left, right, least, out);
            }
            Expr::Choice { condition, yes, no } => self.guarded(0, least, out, |env, out| {
                env.value(yes, 1, out);
                out.push(" if ");
                env.truth(condition, 0, out);
                out.push(" else ");
                env.value(no, 0, out);
            }),
            Expr::List { open, items } => {
                out.token(*open);
                for (at, (spread, item)) in items.iter().enumerate() {
                    out.push(if at > 0 { "," } else { "" });
                    out.push(if *spread { "..." } else { "" });
                    self.value(item, if *spread { FILTER } else { 0 }, out);
                    out.push(if *spread { "|_plain" } else { "" });
                }
                out.push("]");
            }
            Expr::Comprehension { open, value, names, source, condition } => {
                out.token(*open);
                self.value(value, 1, out);
                out.push(" for ");
                for (at, name) in names.iter().enumerate() {
                    out.push(if at > 0 { "," } else { "" });
                    out.token(*name);
                }
                out.push(" in ");
                self.value(source, FILTER, out);
                out.push(if names.len() > 1 { "|_plain" } else { "|_each" });
                if let Some(condition) = condition {
                    out.push(" if ");
                    self.truth(condition, 1, out);
                }
                out.push("]");
            }
            Expr::Map { open, entries } => self.map(*open, entries, out),
            Expr::Component { open, name, attributes } => {
                out.token(*open);
                self.component(name, attributes, out);
                out.push(" />");
            }
        }
    }

    fn binary(
        &mut self,
        operator: Token<'a>,
        negated: bool,
        left: &Expr<'a>,
        right: &Expr<'a>,
        least: u8,
        out: &mut Out,
    ) {
        let Some((before, after)) = power(operator.text) else { return };
        self.guarded(before, least, out, |env, out| {
            match operator.text {
                "and" | "or" => {
                    if is_bool(left) || is_text(left) {
                        env.value(left, before, out);
                    } else {
                        env.value(left, FILTER, out);
                        out.push("|_solid");
                    }
                    out.push(if operator.text == "and" { " and " } else { " or " });
                    env.value(right, after, out);
                }
                "in" => {
                    env.value(left, before, out);
                    out.push(if negated { " not " } else { " " });
                    out.token(operator);
                    out.push(" ");
                    if is_text(right) || matches!(right, Expr::List { .. }) {
                        env.value(right, after, out);
                    } else {
                        env.value(right, FILTER, out);
                        out.push("|_in");
                    }
                }
                "~" => {
                    env.text(left, out);
                    out.push(" ~ ");
                    env.text(right, out);
                }
                _ => {
                    // A power binds to the right.
                    env.value(left, if operator.text == "**" { FILTER } else { before }, out);
                    out.push(" ");
                    out.token(operator);
                    out.push(" ");
                    env.value(right, after, out);
                }
            }
        });
    }

    /// An operand of `~`.
    fn text(&mut self, expr: &Expr<'a>, out: &mut Out) {
        if is_text(expr) {
            return self.value(expr, 13, out);
        }
        if let Expr::Binary { operator, .. } = expr
            && operator.text == "~"
        {
            return self.value(expr, 13, out);
        }
        self.value(expr, FILTER, out);
        out.push("|_text");
    }

    /// What is given to something of Tera's own.
    fn plain(&mut self, expr: &Expr<'a>, out: &mut Out) {
        if matches!(expr, Expr::Literal(_)) || is_text(expr) {
            return self.value(expr, 0, out);
        }
        self.value(expr, FILTER, out);
        out.push("|_plain");
    }

    /// A filter's name and arguments.
    pub(super) fn filter(&mut self, name: Token<'a>, kwargs: Option<&Kwargs<'a>>, out: &mut Out) {
        let teras = is_teras(name, kwargs);
        if teras {
            out.token(name);
        } else {
            out.from(&names::called(name.text), name.start, name.end());
        }
        if let Some(kwargs) = kwargs {
            self.kwargs(kwargs, teras, out);
        }
    }

    fn kwargs(&mut self, kwargs: &Kwargs<'a>, plain: bool, out: &mut Out) {
        out.push("(");
        for (at, (key, value)) in kwargs.args.iter().enumerate() {
            out.push(if at > 0 { "," } else { "" });
            out.token(*key);
            out.push("=");
            if plain {
                self.plain(value, out);
            } else {
                self.value(value, 0, out);
            }
        }
        out.from(")", kwargs.end.saturating_sub(1), kwargs.end);
    }

    fn map(&mut self, open: Token<'a>, entries: &[(Option<Token<'a>>, Expr<'a>)], out: &mut Out) {
        out.token(open);
        for (at, (key, value)) in entries.iter().enumerate() {
            out.push(if at > 0 { "," } else { "" });
            match key {
                Some(key) => {
                    out.token(*key);
                    out.push(":");
                    self.value(value, 0, out);
                }
                None => {
                    out.push("...");
                    self.value(value, FILTER, out);
                    out.push("|_plain");
                }
            }
        }
        // Two braces in a row would end the tag.
        out.push(" }");
        if entries.iter().all(|(key, value)| key.is_some() && is_constant(value)) {
            out.push("|_fresh");
        }
    }

    pub(super) fn component(&mut self, name: &str, attributes: &[Attribute<'a>], out: &mut Out) {
        out.push(name);
        for attribute in attributes {
            out.push(" ");
            match attribute {
                Attribute::Text(key, text) => {
                    out.token(*key);
                    out.push("=");
                    out.token(*text);
                }
                Attribute::Value(key, value) => {
                    out.token(*key);
                    out.push("={");
                    // The types that components declare are Tera's.
                    self.plain(value, out);
                    out.push(" }");
                }
                Attribute::Spread(value) => {
                    out.push("{...");
                    self.plain(value, out);
                    out.push(" }");
                }
            }
        }
    }

    /// An expression that may be undefined, for the tests that ask so.
    fn maybe(&mut self, expr: &Expr<'a>, out: &mut Out) {
        let item = |out: &mut Out, key: &str, start: usize, end: usize| {
            out.push("|");
            out.from(&format!("_item(k=\"{key}\",u=true)"), start, end);
        };
        if let Some(mut path) = self.path(expr)
            && let Some(last) = path.fields.pop()
        {
            let (start, end) = (path.start, path.end);
            self.write_path(&path, Form::Value, out);
            return item(out, &last, start, end);
        }
        match expr {
            Expr::Attribute { base, name, .. } if !matches!(&**base, Expr::Name(base) if base.text == "loop") =>
            {
                self.value(base, FILTER, out);
                item(out, name.text, name.start, name.end());
            }
            Expr::Item { base, key, .. } => {
                self.value(base, FILTER, out);
                out.push("|_item(k=");
                self.value(key, 0, out);
                out.push(",u=true)");
            }
            _ => self.value(expr, FILTER, out),
        }
    }

    /// The path that an expression is, if it is one.
    fn path(&self, expr: &Expr<'a>) -> Option<Path<'a>> {
        match expr {
            Expr::Name(name) => {
                let (start, end) = (name.start, name.end());
                let plain = |base, fields| Some(Path { base, fields, start, end });
                if name.text == "loop" {
                    return None;
                }
                if self.component || self.locals.contains(name.text) {
                    return plain(Base::Variable(*name), Vec::new());
                }
                if name.text == "dot" {
                    return plain(Base::Dot, Vec::new());
                }
                if self.included && !names::is_object(name.text) {
                    return plain(Base::Free(*name), Vec::new());
                }
                plain(Base::Dot, vec![name.text.to_owned()])
            }
            Expr::Attribute { base, name, optional: false } => {
                let mut path = self.path(base)?;
                path.fields.push(name.text.to_owned());
                path.end = name.end();
                Some(path)
            }
            Expr::Item { base, key, optional: false } => {
                let Expr::Literal(key) = &**key else { return None };
                let field = (key.kind == Kind::Text).then(|| unquoted(key.text))?;
                if field.is_empty() || field.contains('.') {
                    return None;
                }
                let mut path = self.path(base)?;
                // What is no file is an empty text, where the field of a map is nil.
                if path.fields.last().is_some_and(|last| last == "Files") {
                    return None;
                }
                path.fields.push(field);
                path.end = key.end() + 1;
                Some(path)
            }
            _ => None,
        }
    }

    fn write_path(&mut self, path: &Path<'a>, form: Form, out: &mut Out) {
        let Path { base, fields, start, end } = path;
        match base {
            Base::Dot => out.from("d", *start, *end),
            Base::Variable(name) => out.from(name.text, *start, *end),
            Base::Free(name) => {
                out.from(&format!("d|_free(v={0},n=\"{0}\")", name.text), *start, *end);
            }
        }
        if !fields.is_empty() {
            let filter = self.path_filter(&fields.join("."), form);
            out.push("|");
            out.from(&filter, *start, *end);
        }
    }

    fn path_filter(&mut self, fields: &str, form: Form) -> String {
        self.tables.used(fields, form).filter()
    }
}

/// Whether a filter, called like this, is one of Tera's own.
fn is_teras(name: Token<'_>, kwargs: Option<&Kwargs<'_>>) -> bool {
    names::is_teras(
        name.text,
        kwargs.into_iter().flat_map(|kwargs| kwargs.args.iter().map(|(key, _)| key.text)),
    )
}

/// Whether an expression is a constant in Tera's eyes once it is written.
fn is_constant(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Unary { operator, value } => operator.text == "-" && matches!(**value, Expr::Literal(_)),
        Expr::List { items, .. } => items.iter().all(|(spread, item)| !spread && is_constant(item)),
        _ => false,
    }
}

/// Whether an expression always gives a string.
pub(super) fn is_text(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Literal(token) => token.kind == Kind::Text,
        Expr::Call { name, .. } => names::function(name.text).is_some_and(vocabulary::answers_text),
        Expr::Filter { name, kwargs, .. } => {
            !is_teras(*name, kwargs.as_ref())
                && (name.text == "text" || names::function(name.text).is_some_and(vocabulary::answers_text))
        }
        Expr::Binary { operator, .. } => operator.text == "~",
        _ => false,
    }
}

/// Whether an expression always gives a boolean.
fn is_bool(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Literal(token) => token.kind == Kind::Word && token.text.to_ascii_lowercase().ends_with('e'),
        Expr::Test { .. } => true,
        Expr::Unary { operator, .. } => operator.text == "not",
        Expr::Binary { operator, .. } => {
            matches!(operator.text, "in" | "==" | "!=" | "<" | "<=" | ">" | ">=")
        }
        Expr::Call { name, .. } | Expr::Filter { name, .. } => {
            names::function(name.text).is_some_and(vocabulary::answers_bool)
        }
        _ => false,
    }
}

/// Where an expression begins in the template.
fn start_of(expr: &Expr<'_>) -> usize {
    match expr {
        Expr::Literal(token) | Expr::Name(token) => token.start,
        Expr::Attribute { base, .. } | Expr::Item { base, .. } | Expr::Slice { base, .. } => start_of(base),
        Expr::Call { name, .. } => name.start,
        Expr::Filter { value, .. } | Expr::Test { value, .. } => start_of(value),
        Expr::Unary { operator, .. } => operator.start,
        Expr::Binary { left, .. } => start_of(left),
        Expr::Choice { yes, .. } => start_of(yes),
        Expr::List { open, .. }
        | Expr::Comprehension { open, .. }
        | Expr::Map { open, .. }
        | Expr::Component { open, .. } => open.start,
    }
}
