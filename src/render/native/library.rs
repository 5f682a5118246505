//! The functions of charts as filters and functions of native templates.

use std::borrow::Cow;

use tera::{Kwargs, State, Tera, TeraResult, Value, value::ValueKind};

use crate::{
    functions::{self, Function, Param},
    value::print::to_text,
};

use super::{
    super::{
        call::{self, Own},
        files,
        glob::Glob,
        include, lookup,
        run::{Fault, Run, with},
        tpl,
    },
    names,
    view::view,
};

/// Filters that Tera has under these names keep Tera's meaning; the library's are there with `go_` before.
const TERA_FILTERS: &[&str] = &[
    "abs",
    "bool",
    "capitalize",
    "default",
    "escape",
    "first",
    "float",
    "get",
    "indent",
    "int",
    "join",
    "keys",
    "last",
    "length",
    "lower",
    "map",
    "nth",
    "pairs",
    "replace",
    "reverse",
    "round",
    "safe",
    "sort",
    "split",
    "str",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "values",
];

/// Functions that Tera has under these names, the same.
const TERA_FUNCTIONS: &[&str] = &["range", "throw"];

/// Words that Tera's grammar takes for itself.
const RESERVED: &[&str] = &["and", "not", "or", "in", "is"];

/// Registers every function as a filter and as a function.
pub(super) fn register(tera: &mut Tera) {
    for function in functions::all() {
        let names = names::of(function);
        add(tera, function.name, &names, move |run, args| library(run, function, args));
    }
    for (name, body) in [("tpl", tpl::tpl as Own), ("lookup", lookup::lookup), ("include", include::include)]
    {
        let names = names::own(name);
        add(tera, name, &names, move |run, args| call::own(run, name, body, &args));
    }
    tera.register_filter("glob", |files: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let pattern: &str = kwargs.must_get("pattern")?;
        Ok(files::globbed(files, Glob::new(pattern).as_ref()))
    });
    tera.register_filter("lines", |text: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        Ok(files::lines(text.as_str().unwrap_or_default().as_bytes()))
    });
    tera.register_filter("as_config", |files: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        Ok(files::as_config(files))
    });
    tera.register_filter("as_secrets", |files: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        Ok(files::as_secrets(files))
    });
}

fn library(run: &Run, function: &'static Function, mut args: Vec<Value>) -> Result<Value, Fault> {
    if let Err(text) = function.check_count(args.len()) {
        return Err(Fault::Message(text));
    }
    for (at, arg) in args.iter_mut().enumerate() {
        if let Some(param) = function.param(at) {
            coerce(run, param, arg);
        }
    }
    call::library(run, function, false, &args)
}

/// Numbers and texts take the type that a parameter has, where Go would refuse: Tera has fewer types.
fn coerce(run: &Run, param: Param, arg: &mut Value) {
    let kind = arg.kind();
    let number = !matches!(
        kind,
        ValueKind::String
            | ValueKind::Bool
            | ValueKind::Array
            | ValueKind::Map
            | ValueKind::Bytes
            | ValueKind::None
    );
    match param {
        Param::Int if kind != ValueKind::I64 && number => {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "what is no whole number is refused by the call"
            )]
            let whole = arg.as_i64().or_else(|| arg.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i64));
            if let Some(whole) = whole {
                *arg = Value::from(whole);
            }
        }
        Param::Float64 if kind != ValueKind::F64 && number => {
            if let Some(float) = arg.as_f64() {
                *arg = Value::from(float);
            }
        }
        Param::String if number || kind == ValueKind::Bool => {
            if let Ok(text) = to_text(&run.scope, arg) {
                *arg = Value::from(text);
            }
        }
        _ => {}
    }
}

fn add(
    tera: &mut Tera,
    name: &'static str,
    names: &[Cow<'static, str>],
    body: impl Fn(&Run, Vec<Value>) -> Result<Value, Fault> + Clone + Send + Sync + 'static,
) {
    if RESERVED.contains(&name) {
        return;
    }
    let renamed = |taken: &[&str]| {
        if taken.contains(&name) { Cow::Owned(format!("go_{name}")) } else { Cow::Borrowed(name) }
    };
    let variadic = functions::find(name).is_some_and(|function| function.variadic.is_some());
    let call = Keywords { name, names: names.to_vec(), variadic };
    let (filter, inner) = (call.clone(), body.clone());
    tera.register_filter(
        renamed(TERA_FILTERS),
        move |piped: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
            let args = filter.collect(Some(piped), &kwargs)?;
            with(|run| shown(run, inner(run, args)))
        },
    );
    tera.register_function(
        renamed(TERA_FUNCTIONS),
        move |kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
            let args = call.collect(None, &kwargs)?;
            with(|run| shown(run, body(run, args)))
        },
    );
}

fn shown(run: &Run, answer: Result<Value, Fault>) -> Result<Value, Fault> {
    view(&run.scope, &answer?).map_err(|error| Fault::Message(error.to_string()))
}

/// The arguments of a function by their names.
#[derive(Clone)]
struct Keywords {
    name: &'static str,
    names: Vec<Cow<'static, str>>,
    /// Whether the last name is that of a list of further arguments.
    variadic: bool,
}

impl Keywords {
    /// The arguments in Go's order.
    fn collect(&self, piped: Option<&Value>, kwargs: &Kwargs) -> TeraResult<Vec<Value>> {
        for (key, _) in kwargs.iter() {
            let key = key.as_str().unwrap_or_default();
            if !self.names.iter().any(|name| name == key) {
                return Err(self.wrong(&format!("there is no argument `{key}`")));
            }
        }
        let mut args = Vec::with_capacity(self.names.len());
        let (fixed, rest) = match self.names.split_last() {
            Some((last, fixed)) if self.variadic => (fixed, Some(last)),
            _ => (self.names.as_slice(), None),
        };
        // What is piped comes last: after the list of further arguments, or in the place of the last fixed one.
        let named = match (piped, rest) {
            (Some(_), None) => fixed.len().saturating_sub(1),
            (Some(_), Some(rest)) if !fixed.is_empty() && kwargs.get::<&Value>(rest)?.is_none() => {
                let missing = |name: &&Cow<'static, str>| matches!(kwargs.get::<&Value>(name), Ok(None));
                if fixed.last().as_ref().is_some_and(missing) { fixed.len() - 1 } else { fixed.len() }
            }
            _ => fixed.len(),
        };
        for name in &fixed[..named] {
            match kwargs.get::<&Value>(name)? {
                Some(value) => args.push(value.clone()),
                // Includes get the dot of the template that they stand in.
                None if name == "data" => args.push(dot()?),
                None => return Err(self.wrong(&format!("the argument `{name}` is missing"))),
            }
        }
        if let Some(value) = rest.map(|rest| kwargs.get::<&Value>(rest)).transpose()?.flatten() {
            match value.as_array() {
                Some(items) => args.extend_from_slice(items),
                None => args.push(value.clone()),
            }
        }
        args.extend(piped.cloned());
        Ok(args)
    }

    fn wrong(&self, what: &str) -> tera::Error {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        tera::Error::message(format!("`{}`: {what}; it takes {}", self.name, names.join(", ")))
    }
}

/// The dot of the template that runs.
fn dot() -> TeraResult<Value> {
    with(|run| Ok(run.frames.borrow().last().map_or_else(Value::none, |frame| frame.dot.clone())))
}
