//! Writing Tera source.

use std::fmt::Write as _;

use crate::gotemplate::source_map::SourceMap;

use super::{
    Tables,
    ir::{Ex, Ir, Place, Pre},
    program,
    text::Text,
};

/// The lowered source of one template as it grows.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub source: String,
    pub map: SourceMap,
    /// Constant text that is not written yet.
    pub text: Text,
}

impl Out {
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

    /// `{{expression}}`, after the statements before it.
    pub(super) fn print(&mut self, pres: &[Pre<'_>], ex: Option<Ex<'_>>, tables: &mut Tables) {
        self.flush(tables);
        self.source.push_str("{{");
        self.after(pres, ex, tables);
        self.source.push_str("}}");
    }

    /// A tag: what comes before the expression, the expression, after the statements before it, and what comes after it.
    pub(super) fn tag(
        &mut self,
        before: &str,
        pres: &[Pre<'_>],
        ex: Option<Ex<'_>>,
        after: &str,
        tables: &mut Tables,
    ) {
        self.flush(tables);
        self.source.push_str("{%");
        self.source.push_str(before);
        if ex.is_some() {
            self.after(pres, ex, tables);
        }
        self.source.push_str(after);
        self.source.push_str("%}");
    }

    /// An expression after the statements before it.
    fn after(&mut self, pres: &[Pre<'_>], ex: Option<Ex<'_>>, tables: &mut Tables) {
        match ex {
            Some(ex) if pres.is_empty() => self.expression(ex, tables),
            ex => self.program(pres, ex, tables),
        }
    }

    fn expression(&mut self, ex: Ex<'_>, tables: &mut Tables) {
        if !ex.is_plain() {
            return self.program(&[], Some(ex), tables);
        }
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
            Ir::Place(place) => {
                let _ = write!(self.source, "{place}");
            }
            Ir::Filter { base, construct, site } => {
                self.operand(*base, tables);
                self.source.push('|');
                if let Some(site) = site {
                    self.mark(*site);
                }
                self.source.push_str(construct.name());
            }
            Ir::Not(condition) => {
                self.source.push_str("not ");
                self.grouped(*condition, tables);
            }
            Ir::And(parts) => self.joined(parts, " and ", tables),
            Ir::Or(parts) => self.joined(parts, " or ", tables),
            // They are not plain.
            Ir::Path { .. }
            | Ir::Call { .. }
            | Ir::Receiver { .. }
            | Ir::Method { .. }
            | Ir::Listed { .. } => {}
        }
    }

    /// `3|_e`, or `[3,e1]|_e` where it needs what a loop is at.
    fn program(&mut self, pres: &[Pre<'_>], ex: Option<Ex<'_>>, tables: &mut Tables) {
        let (start, given) = program::add(pres, ex, tables);
        if given.is_empty() {
            let _ = write!(self.source, "{start}|_e");
            return;
        }
        let _ = write!(self.source, "[{start}");
        for place in given {
            let _ = write!(self.source, ",{place}");
        }
        self.source.push_str("]|_e");
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
        let operators = ex.is_plain() && matches!(ex.ir, Ir::Not(_) | Ir::And(_) | Ir::Or(_) | Ir::Int(..0));
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
