//! Writing Tera source.

use std::fmt::Write as _;

use crate::gotemplate::source_map::SourceMap;

use super::{
    PathUse, Tables,
    ir::{Ex, Ir, Place, Pre},
    text::Text,
};

/// The lowered source of one template as it grows.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub source: String,
    pub map: SourceMap,
    /// Constant text that is not written yet.
    pub text: Text,
    /// Places with a lower number are those of a template around this one.
    pub outer: u32,
    /// Those of them that were written, and the dot if it was.
    pub captured: Vec<Place>,
}

impl Out {
    /// The source of a template within another, whose places have numbers below `outer`.
    pub(super) fn within(outer: u32) -> Self {
        Self { outer, ..Self::default() }
    }

    /// Writes the text that is waiting.
    pub(super) fn flush(&mut self, tables: &mut Tables) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        if let Some(plain) = text.inline() {
            self.source.push_str(plain);
            return;
        }
        let number = tables.constant(text.into_constant());
        self.source.push_str("{{");
        let _ = write!(self.source, "{number}|_k}}}}");
    }

    /// `{{expression}}`
    pub(super) fn print(&mut self, ex: Ex<'_>, tables: &mut Tables) {
        self.flush(tables);
        self.source.push_str("{{");
        self.expression(ex, tables);
        self.source.push_str("}}");
    }

    /// `{{[number,x,y]|_later}}`. What is in the list is no more than places, so that no limit of Tera is met.
    pub(super) fn print_later(&mut self, args: &[Ex<'_>], tables: &mut Tables) {
        self.flush(tables);
        self.source.push_str("{{");
        self.list(args, tables);
        self.source.push_str("_later}}");
    }

    /// A tag: what comes before the expression, the expression, and what comes after it.
    pub(super) fn tag(&mut self, before: &str, ex: Option<Ex<'_>>, after: &str, tables: &mut Tables) {
        self.flush(tables);
        self.source.push_str("{%");
        self.source.push_str(before);
        if let Some(ex) = ex {
            self.expression(ex, tables);
        }
        self.source.push_str(after);
        self.source.push_str("%}");
    }

    /// The statements before an expression.
    pub(super) fn pres(&mut self, pres: &[Pre<'_>], tables: &mut Tables) {
        for pre in pres {
            match pre {
                Pre::Set(place, ex) => self.set(*place, *ex, tables),
                Pre::When { condition, holds, body } => {
                    if *holds {
                        self.tag("if ", Some(*condition), "", tables);
                    } else {
                        self.tag("if not (", Some(*condition), ")", tables);
                    }
                    self.pres(body, tables);
                    self.tag("endif", None, "", tables);
                }
            }
        }
    }

    /// `{%set_global place=expression%}`
    pub(super) fn set(&mut self, place: Place, ex: Ex<'_>, tables: &mut Tables) {
        if let Place::Cell(number) = place {
            self.flush(tables);
            self.source.push_str("{{");
            // Not in a list: those nest only so deep.
            self.operand(ex, tables);
            let _ = write!(self.source, "|_put(c={number})}}}}");
            return;
        }
        let target = format!("set_global {place}=");
        self.tag(&target, Some(ex), "", tables);
    }

    fn expression(&mut self, ex: Ex<'_>, tables: &mut Tables) {
        match ex.ir {
            Ir::Text(text) => write_string(&mut self.source, text),
            Ir::Int(int) => {
                if *int < 0 {
                    // `{{-` would trim.
                    self.source.push(' ');
                }
                let _ = write!(self.source, "{int}");
            }
            Ir::Bool(true) => self.source.push_str("true"),
            Ir::Bool(false) => self.source.push_str("false"),
            Ir::Nil => self.source.push_str("none"),
            Ir::Constant(number) => {
                let _ = write!(self.source, "{number}|_k");
            }
            Ir::Place(place) => self.place(*place),
            Ir::Path { base, path, form, strict, site } => {
                self.operand(*base, tables);
                self.source.push('|');
                self.mark(*site);
                let used = PathUse { path: *path, form: *form, strict: *strict };
                tables.path_uses.insert(used);
                let _ = write!(self.source, "{}{path}", used.letter());
            }
            Ir::Call { name, args, piped_first, site } => {
                tables.note_call(name, args.len(), *piped_first);
                match args {
                    [] => {
                        self.mark(*site);
                        let _ = write!(self.source, "g_{name}()");
                    }
                    [arg] => {
                        self.operand(*arg, tables);
                        self.source.push('|');
                        self.mark(*site);
                        let _ = write!(self.source, "h_{name}");
                    }
                    [others @ .., last] if *piped_first => {
                        self.list(&[&[*last], others].concat(), tables);
                        self.mark(*site);
                        let _ = write!(self.source, "r_{name}");
                    }
                    args => {
                        self.list(args, tables);
                        self.mark(*site);
                        let _ = write!(self.source, "g_{name}");
                    }
                }
            }
            Ir::Method { name, args, lenient, site } => {
                let set = if *lenient { &mut tables.lenient_methods } else { &mut tables.methods };
                Tables::note(set, name);
                self.list(args, tables);
                self.mark(*site);
                let _ = write!(self.source, "{}_{name}", if *lenient { 'n' } else { 'm' });
            }
            Ir::Filter { base, name, site } => {
                self.operand(*base, tables);
                self.source.push('|');
                if let Some(site) = site {
                    self.mark(*site);
                }
                self.source.push_str(name);
            }
            Ir::Listed { args, name, site } => {
                self.list(args, tables);
                self.mark(*site);
                self.source.push_str(name);
            }
            Ir::Not(condition) => {
                self.source.push_str("not ");
                self.grouped(*condition, tables);
            }
            Ir::And(parts) => self.joined(parts, " and ", tables),
            Ir::Or(parts) => self.joined(parts, " or ", tables),
        }
    }

    fn place(&mut self, place: Place) {
        let outer = match place {
            Place::Dot => true,
            Place::Var(number)
            | Place::Element(number)
            | Place::PairKey(number)
            | Place::PairValue(number) => number < self.outer,
            Place::Cell(_) => false,
        };
        // Key and value of a pair are in one variable.
        let held = match place {
            Place::PairKey(number) | Place::PairValue(number) => Place::Element(number),
            place => place,
        };
        if outer && !self.captured.contains(&held) {
            self.captured.push(held);
        }
        let _ = write!(self.source, "{place}");
    }

    /// `[x,y]|`
    fn list(&mut self, args: &[Ex<'_>], tables: &mut Tables) {
        self.source.push('[');
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.source.push(',');
            }
            self.expression(*arg, tables);
        }
        self.source.push_str("]|");
    }

    fn joined(&mut self, parts: &[Ex<'_>], between: &str, tables: &mut Tables) {
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.source.push_str(between);
            }
            self.grouped(*part, tables);
        }
    }

    /// An expression to the left of a filter.
    fn operand(&mut self, ex: Ex<'_>, tables: &mut Tables) {
        self.grouped(ex, tables);
    }

    /// An expression, in parentheses if operators are at its top, or a sign: Tera takes no two in a row.
    fn grouped(&mut self, ex: Ex<'_>, tables: &mut Tables) {
        let operators = matches!(ex.ir, Ir::Not(_) | Ir::And(_) | Ir::Or(_) | Ir::Int(..0));
        if operators {
            self.source.push('(');
        }
        self.expression(ex, tables);
        if operators {
            self.source.push(')');
        }
    }

    fn mark(&mut self, site: u32) {
        self.map.push(self.source.len(), site);
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dot => write!(f, "d"),
            Self::Var(number) => write!(f, "v{number}"),
            Self::Element(number) => write!(f, "e{number}"),
            Self::PairKey(number) => write!(f, "e{number}[0]"),
            Self::PairValue(number) => write!(f, "e{number}[1]"),
            Self::Cell(number) => write!(f, "{number}|_cell"),
        }
    }
}

/// A string literal of Tera. It knows few escapes, and takes everything else as it is.
fn write_string(source: &mut String, text: &str) {
    source.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\\', '\n', '\r']) {
        source.push_str(&rest[..at]);
        source.push_str(match rest.as_bytes()[at] {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            _ => "\\r",
        });
        rest = &rest[at + 1..];
    }
    source.push_str(rest);
    source.push('"');
}
