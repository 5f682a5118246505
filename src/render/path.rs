//! Field paths, `.Values.image.tag`, as text/template walks them (evalFieldChain with `missingkey=zero`).

use std::borrow::Cow;

use tera::{Value, value::ValueKind};

use crate::value::{kind, lookup, typed::Type};

use super::{
    call, of_values,
    run::{Fault, Run},
};

/// A path: the names of its fields.
pub(super) struct Path {
    fields: Box<[Field]>,
}

struct Field {
    name: Box<str>,
    /// Whether a typed value might have something under this name that a template must not see.
    guarded: bool,
}

impl Path {
    /// The path that is written `a.b.c`.
    pub(super) fn new(path: &str) -> Self {
        let field = |name: &str| Field { name: name.into(), guarded: is_guarded(name) };
        Self { fields: path.split('.').map(field).collect() }
    }

    /// What the path leads to. A field of a base that is nil is nil, unless the path is strict.
    #[inline]
    pub(super) fn walk<'v>(
        &'v self,
        run: &Run,
        base: &'v Value,
        strict: bool,
    ) -> Result<Cow<'v, Value>, Fault> {
        if run.scope.changed_any() {
            return self.step_by_step(run, base, strict).map(|(value, _)| value);
        }
        let mut at = base;
        for (number, field) in self.fields.iter().enumerate() {
            let found = match at.as_map() {
                Some(map) if !field.guarded => match lookup(map, &field.name) {
                    None if number + 1 == self.fields.len() && Type::of(at).is_none() => {
                        return Ok(Cow::Owned(Value::none()));
                    }
                    found => found,
                },
                _ => None,
            };
            match found {
                Some(found) => at = found,
                None => return self.step_by_step(run, base, strict).map(|(value, _)| value),
            }
        }
        Ok(Cow::Borrowed(at))
    }

    /// The same with an eye to everything: changed maps, Go's types, errors. Also how what it leads to is held.
    pub(super) fn step_by_step<'v>(
        &self,
        run: &Run,
        base: &'v Value,
        strict: bool,
    ) -> Result<(Cow<'v, Value>, Held), Fault> {
        let mut at = Cow::Borrowed(base);
        let mut held = Held::at_first(strict);
        for (number, field) in self.fields.iter().enumerate() {
            if at.is_none() || at.is_undefined() {
                if number == 0 && !strict {
                    return Ok((Cow::Owned(Value::none()), held));
                }
                return Err(Fault::Message(format!("nil pointer evaluating interface {{}}.{}", field.name)));
            }
            let next = step(run, &at, field, held)?;
            (at, held) = match next {
                Step::Entry(value) => (Cow::Owned(value), Held::Entry),
                Step::Typed(value) => (Cow::Owned(value), Held::Typed),
            };
        }
        Ok((at, held))
    }
}

/// How a value is held, whose type Go's errors name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// As a value of its own type.
    Typed,
    /// In an `interface {}`.
    Entry,
    /// As an element that `range` gave: in an `interface {}`, mostly.
    Element,
}

impl Held {
    /// How the base of a path is held.
    pub(super) fn at_first(strict: bool) -> Self {
        if strict { Self::Element } else { Self::Typed }
    }
}

enum Step {
    /// What is held in an `interface {}`.
    Entry(Value),
    /// What has a type of its own.
    Typed(Value),
}

fn step(run: &Run, value: &Value, field: &Field, held: Held) -> Result<Step, Fault> {
    let name = &*field.name;
    let no_field = || no_field(run, value, name, held);
    if value.as_map().is_none() {
        return Err(no_field());
    }
    let kind = Type::of(value);
    let Some(kind) = kind else {
        if of_values::is_method(run, value, name) {
            return call::invoke(run, value, name, &[]).map(Step::Typed);
        }
        let found = run.scope.get(value, name).map(Cow::into_owned);
        return Ok(Step::Entry(found.unwrap_or_else(Value::none)));
    };
    if kind.methods().contains(&name) {
        return call::invoke(run, value, name, &[]).map(Step::Typed);
    }
    match run.scope.field(value, name) {
        Ok(found) => Ok(Step::Typed(found.into_owned())),
        Err(crate::value::Error::NoField(..)) => Err(no_field()),
        Err(error) => Err(Fault::Message(error.to_string())),
    }
}

/// The fault of a field that a value does not have. What is held in an `interface {}` has that type.
pub(super) fn no_field(run: &Run, value: &Value, name: &str, held: Held) -> Fault {
    let counted = || {
        value.as_i128().is_some()
            && !value.is_f64()
            && run.frames.borrow().last().is_some_and(|frame| frame.counted)
    };
    // Of bytes, `range` gives elements of their own type.
    let is_byte = value.kind() == ValueKind::U128;
    let of = match held {
        Held::Entry => "interface {}",
        Held::Element if !is_byte && !counted() => "interface {}",
        Held::Element | Held::Typed => kind::type_of(&run.scope, value),
    };
    Fault::Message(format!("can't evaluate field {name} in type {of}"))
}

/// Names of methods of values, and those under which typed values hold what Go's values do not have, or do not show.
fn is_guarded(name: &str) -> bool {
    of_values::has(name)
        || matches!(
            name,
            "abbreviation"
                | "bytes"
                | "items"
                | "location"
                | "major"
                | "metadata"
                | "minor"
                | "monotonic"
                | "nanoseconds"
                | "normalizedVersion"
                | "offset"
                | "original"
                | "patch"
                | "pre"
                | "seconds"
                | "text"
                | "value"
        )
}
