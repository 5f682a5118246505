//! Templates in Tera's own language, beside those in Go's.
//!
//! Such a template sees the entries of its dot as variables (`Values`, `Release`, `Chart`, `Capabilities`, `Files`, `Template`,
//! `Subcharts`) and the dot itself as `dot`. Every function of charts is there as a filter and as a function with keyword
//! arguments; `include(name="…")` runs a template of either language.

mod library;
mod names;
mod view;

use tera::{Context, ErrorKind, Tera, Value, value::Key};

use crate::value::quote::quote;

use super::{
    error::{GoError, Place},
    run::{Fault, Run, Stop},
    unit::describe,
};

/// What the names of such files end with.
pub(super) const EXTENSION: &str = ".tera";

/// Registers the functions of charts under their own names.
pub(super) fn register(tera: &mut Tera) {
    library::register(tera);
}

/// The folder of a native template's file, with the slash, and its path in that folder.
pub(super) fn split_name(file: &str) -> Option<(&str, &str)> {
    let at = file.find("/templates/")? + "/templates/".len();
    // Of a subchart's file, the last folder of that name.
    let charts =
        file.rfind("/charts/").and_then(|start| file[start..].find("/templates/").map(|end| start + end));
    let at = charts.map_or(at, |charts| charts + "/templates/".len());
    Some(file.split_at(at))
}

/// Lets templates name each other without the folder that they are in; a chart's own come before those of its subcharts.
pub(super) fn set_prefixes<'f>(tera: &mut Tera, files: impl Iterator<Item = &'f str>) {
    let mut prefixes: Vec<String> = Vec::new();
    for (folder, _) in files.filter_map(split_name) {
        if !prefixes.iter().any(|known| known == folder) {
            prefixes.push(folder.to_owned());
        }
    }
    prefixes.sort_by_key(|folder| folder.matches('/').count());
    // Only an instance that has templates already refuses them.
    let _ = tera.set_fallback_prefixes(prefixes);
}

/// The arguments of a component: the entries of what is given as its dot.
pub(super) fn arguments(run: &Run, dot: &Value) -> Result<Context, Stop> {
    let mut context = Context::new();
    if let Some(map) = run.scope.map(dot) {
        for (key, value) in map.iter().filter_map(|(key, value)| Some((key.as_str()?, value))) {
            context.insert_value(key.to_owned(), viewed(run, value)?);
        }
    }
    Ok(context)
}

/// The variables of a native template: the entries of its dot. Tera reads maps as they are, so what templates changed is put
/// in before.
pub(super) fn context(run: &Run, dot: &Value) -> Result<Context, Stop> {
    let mut context = arguments(run, dot)?;
    let all: tera::Map = match run.scope.map(dot) {
        Some(map) => map
            .keys()
            .filter_map(Key::as_str)
            .filter_map(|key| Some((Key::from(key.to_owned()), context.get(key)?.clone())))
            .collect(),
        None => {
            context.insert_value("dot", viewed(run, dot)?);
            return Ok(context);
        }
    };
    context.insert_value("dot", Value::from(all));
    Ok(context)
}

/// A value as native templates see it. What is large and the same for many templates is made once.
fn viewed(run: &Run, value: &Value) -> Result<Value, Stop> {
    let made = || {
        view::view(&run.scope, value).map_err(|error| Stop::Error(Box::new(GoError::new(error.to_string()))))
    };
    let Some(map) = value.as_map().filter(|_| !run.scope.changed_any()) else { return made() };
    let address = std::ptr::from_ref(map).addr();
    if let Some((_, view)) = run.views.borrow().get(&address) {
        return Ok(view.clone());
    }
    let view = made()?;
    // The original is kept, so that its address stays its own.
    run.views.borrow_mut().insert(address, (value.clone(), view.clone()));
    Ok(view)
}

/// An error in a native template, in the form of Go's.
pub(super) fn explain(
    file: &str,
    text: &[u8],
    name: &str,
    fault: Option<Fault>,
    error: &tera::Error,
) -> GoError {
    let (message, cause) = describe(fault, None, error);
    let ErrorKind::RenderingError(report) = error.kind() else {
        return GoError::new(format!("template: {file}: {message}"));
    };
    let span = report.span();
    let node = text.get(span.range.clone()).map(String::from_utf8_lossy).unwrap_or_default();
    let (line, column) = (span.start_line, span.start_col);
    let executing = quote(name.as_bytes());
    let line_text = text.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    GoError {
        text: format!("template: {file}:{line}:{column}: executing {executing} at <{node}>: {message}"),
        cause,
        exec: true,
        place: Some(Box::new(Place {
            file: file.to_owned(),
            line,
            column: Some(column),
            text: String::from_utf8_lossy(line_text).trim_end_matches('\r').to_owned(),
        })),
    }
}
