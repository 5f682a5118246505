//! Registers, with a Tera instance, the filters that lowered templates refer to.

use std::sync::Arc;

use tera::{Kwargs, State, Tera, TeraResult, Value};

use crate::gotemplate::lower::{Names, PathUse, Tables};

use super::{
    control,
    evaluate::{self, Expressions},
    include,
    path::Path,
    run::with,
};

/// Registers the expressions, constants and paths that `tables` list.
pub(super) fn register(tera: &mut Tera, tables: Tables) {
    let Tables { ops, paths, functions, methods, constants, path_uses } = tables;
    register_paths(tera, &paths, path_uses.into_iter().collect());
    if ops.is_empty() && constants.is_empty() {
        return;
    }
    let expressions = Arc::new(Expressions::new(ops, &paths, &functions, methods, &constants));
    let shared = Arc::clone(&expressions);
    tera.register_filter("_k", move |number: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        shared.constant(number)
    });
    tera.register_filter("_e", move |expression: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        expressions.evaluate(expression)
    });
}

/// Registers what stands for Go's own constructs, which all templates use.
pub(super) fn register_constructs(tera: &mut Tera) {
    tera.register_filter("_truth", |value: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        with(|run| Ok(Value::from(crate::value::truth::is_true(&run.scope, value))))
    });
    tera.register_filter("_print", |value: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        if value.is_string() {
            return Ok(value.clone());
        }
        with(|run| control::print(run, value))
    });
    tera.register_filter("_range", filter(control::range));
    tera.register_filter("_pairs", filter(control::pairs));
    tera.register_filter(
        "_cell",
        filter(|run, number| Ok(control::cell(run, evaluate::index(number).unwrap_or_default()))),
    );
    tera.register_filter("_outline", filter(include::outline));
    tera.register_filter("_leave", filter(control::leave));
    tera.register_filter("_left", filter(control::left));
}

/// A filter out of a function that takes the render and the filter's input.
fn filter(
    body: fn(&super::run::Run, &Value) -> Result<Value, super::run::Fault>,
) -> impl Fn(&Value, Kwargs, &State<'_>) -> TeraResult<Value> + Send + Sync + 'static {
    move |value: &Value, _: Kwargs, _: &State<'_>| with(|run| body(run, value))
}

fn register_paths(tera: &mut Tera, paths: &Names, mut uses: Vec<PathUse>) {
    uses.sort_unstable();
    let mut last: Option<(u32, Arc<Path>)> = None;
    for used in uses {
        let path = match last.take() {
            Some((number, path)) if number == used.path => path,
            _ => Arc::new(Path::new(paths.get(used.path))),
        };
        last = Some((used.path, Arc::clone(&path)));
        let PathUse { form, strict, .. } = used;
        tera.register_filter(
            used.filter(),
            move |base: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
                with(|run| evaluate::fields(run, &path, base, form, strict))
            },
        );
    }
}
