//! The functions of charts as filters and functions of native templates.

use std::sync::LazyLock;

use tera::{Kwargs, State, Tera, TeraResult, Value, value::ValueKind};

use crate::{
    functions::{self, Function, Param},
    value::print::to_text,
};

use super::{
    super::{
        call::{self, Own},
        include, lookup,
        run::{Fault, Run, with},
        tpl,
    },
    filters, names,
};

/// Everything that native templates have beside what Tera has.
static LIBRARY: LazyLock<Tera> = LazyLock::new(|| {
    let mut tera = Tera::default();
    filters::register(&mut tera);
    for function in functions::all() {
        if function.name == "dig" {
            tera.register_filter("dig", move |map: &Value, kwargs: Kwargs, _: &State<'_>| {
                dig(function, map, &kwargs)
            });
            tera.register_function("dig", move |kwargs: Kwargs, _: &State<'_>| {
                dig(function, kwargs.must_get::<&Value>("map")?, &kwargs)
            });
            continue;
        }
        let call = Keywords {
            name: function.name,
            names: names::of(function),
            variadic: function.variadic.is_some(),
        };
        add(&mut tera, &call, move |run, args| library(run, function, args));
    }
    for (name, body) in [("tpl", tpl::tpl as Own), ("lookup", lookup::lookup), ("include", include::include)]
    {
        let call = Keywords { name, names: names::own(name), variadic: false };
        add(&mut tera, &call, move |run, args| call::own(run, name, body, &args));
    }
    tera
});

/// Registers every function as a filter and as a function.
pub(super) fn register(tera: &mut Tera) {
    tera.register_from(&LIBRARY);
}

/// `dig` takes its keys, what it answers for want of them and the map in a row, which would read badly.
fn dig(function: &'static Function, map: &Value, kwargs: &Kwargs) -> TeraResult<Value> {
    let keys = kwargs.must_get::<&Value>("keys")?;
    let mut args = keys.as_array().map_or_else(|| vec![keys.clone()], <[Value]>::to_vec);
    args.push(kwargs.get::<&Value>("default")?.cloned().unwrap_or_else(Value::none));
    args.push(map.clone());
    with(|run| library(run, function, args))
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
    call::library(run, function, super::super::vocabulary::answers_text(function.name), &args)
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
            | ValueKind::Undefined
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
        Param::Uint32 if kind != ValueKind::U64 && number => {
            if let Some(whole) = arg.as_i64().and_then(|whole| u64::try_from(whole).ok()) {
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
    call: &Keywords,
    body: impl Fn(&Run, Vec<Value>) -> Result<Value, Fault> + Clone + Send + Sync + 'static,
) {
    for name in names::spellings(call.name) {
        let (filter, inner) = (call.clone(), body.clone());
        let apply = move |piped: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
            let args = filter.collect(Some(piped), &kwargs)?;
            with(|run| inner(run, args))
        };
        tera.register_filter(names::registered(name.clone()), apply);
        let (call, body) = (call.clone(), body.clone());
        tera.register_function(name, move |kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
            let args = call.collect(None, &kwargs)?;
            with(|run| body(run, args))
        });
    }
}

/// The arguments of a function by their names.
#[derive(Clone)]
struct Keywords {
    /// The function's name in Go's charts.
    name: &'static str,
    names: Vec<&'static str>,
    /// Whether the last name is that of a list of further arguments.
    variadic: bool,
}

impl Keywords {
    /// The arguments in Go's order. What is piped is the first of them that is not named.
    fn collect(&self, piped: Option<&Value>, kwargs: &Kwargs) -> TeraResult<Vec<Value>> {
        let mut given: [Option<&Value>; 8] = [None; 8];
        for (key, value) in kwargs.iter() {
            let key = key.as_str().unwrap_or_default();
            match self.names.iter().position(|name| *name == key) {
                Some(at) if at < given.len() => given[at] = Some(value),
                _ => return Err(self.wrong(&format!("there is no argument `{key}`"))),
            }
        }
        let mut args = Vec::with_capacity(self.names.len() + 2);
        let mut piped = piped;
        let nil = |value: &Value| if value.is_undefined() { Value::none() } else { value.clone() };
        let (fixed, rest) = match self.names.split_last() {
            Some((_, fixed)) if self.variadic => (fixed, Some(fixed.len())),
            _ => (self.names.as_slice(), None),
        };
        for (at, name) in fixed.iter().enumerate() {
            match (given[at], piped) {
                (Some(value), _) => args.push(nil(value)),
                (None, Some(value)) => {
                    args.push(nil(value));
                    piped = None;
                }
                // Includes get the dot of the template that they stand in.
                (None, None) if *name == "data" => args.push(dot()?),
                (None, None) => return Err(self.wrong(&format!("the argument `{name}` is missing"))),
            }
        }
        if let Some(at) = rest {
            args.extend(piped.take().map(nil));
            if let Some(value) = given[at] {
                match value.as_array().filter(|_| !names::is_single(self.names[at])) {
                    Some(items) => args.extend(items.iter().map(nil)),
                    None => args.push(nil(value)),
                }
            }
        }
        if piped.is_some() {
            return Err(self.wrong("all arguments are named, so that none is left for what is piped"));
        }
        Ok(args)
    }

    fn wrong(&self, what: &str) -> tera::Error {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let name = names::spellings(self.name).into_iter().next().unwrap_or_default();
        let takes = match names.as_slice() {
            [] => "it takes no argument".to_owned(),
            names => format!("it takes {}", names.join(", ")),
        };
        tera::Error::message(format!("`{name}`: {what}; {takes}"))
    }
}

/// The dot of the template that runs.
fn dot() -> TeraResult<Value> {
    with(|run| Ok(run.frames.borrow().last().map_or_else(Value::none, |frame| frame.dot.clone())))
}
