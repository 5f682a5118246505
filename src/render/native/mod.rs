//! Templates in Tera's own language, beside those in Go's.
//!
//! Such a template sees the entries of its dot as variables (`Values`, `Release`, `Chart`, `Capabilities`, `Files`, `Template`,
//! `Subcharts`) and the dot itself as `dot`. Every function of charts is there as a filter and as a function with keyword
//! arguments; `include(name="…")` runs a template of either language. Values print, and count as true, as they do in Go
//! templates: [`lower`] sees to that.

mod emit;
mod filters;
mod library;
mod lower;
pub mod names;
mod tokens;
mod tree;
mod view;

pub(super) use emit::Origin;
pub(super) use lower::{Piece, file as lower_file, includes};

use tera::{Context, ErrorKind, Tera, TeraResult, Value};

use crate::{
    gotemplate::{ast::Source, lower::Tables},
    value::quote::quote,
};

use super::{
    code,
    error::{GoError, Place},
    run::{Fault, Run, Stop},
    unit::describe,
};

/// What the names of such files end with.
pub(super) const EXTENSION: &str = ".tera";

/// Compiles the lowered native templates of a chart, on a Tera instance of their own. `files` are theirs, a chart's own before
/// those of its subcharts.
pub(super) fn compile<'f>(
    templates: Vec<(String, String)>,
    tables: Tables,
    files: impl Iterator<Item = &'f str>,
) -> TeraResult<Tera> {
    let mut tera = code::base();
    super::library::register(&mut tera, tables);
    library::register(&mut tera);
    set_prefixes(&mut tera, files);
    tera.add_raw_templates(templates)?;
    Ok(tera)
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
fn set_prefixes<'f>(tera: &mut Tera, files: impl Iterator<Item = &'f str>) {
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
            let value = view::view(&run.scope, value);
            let value = value.map_err(|error| Stop::Error(Box::new(GoError::new(error.to_string()))))?;
            context.insert_value(key.to_owned(), value);
        }
    }
    Ok(context)
}

/// An error in a native template, in the form of Go's.
pub(super) fn explain(
    source: &Source<'_>,
    origins: &[Origin],
    name: &str,
    fault: Option<Fault>,
    error: &tera::Error,
) -> GoError {
    let (message, cause) = describe(fault, None, error);
    let file = source.name;
    let ErrorKind::RenderingError(report) = error.kind() else {
        return GoError::new(format!("template: {file}: {message}"));
    };
    let (start, end) = origin(origins, &report.span().range);
    let node = source.text.get(start..end).map(String::from_utf8_lossy).unwrap_or_default();
    let (line, column) = source.line_column(start);
    let executing = quote(name.as_bytes());
    GoError {
        text: format!("template: {file}:{line}:{column}: executing {executing} at <{node}>: {message}"),
        cause,
        exec: true,
        place: Some(Box::new(place(source, start))),
    }
}

/// A place in a native template's file.
pub(super) fn place(source: &Source<'_>, at: usize) -> Place {
    let (line, column) = source.line_column(at);
    Place::new(source, line, Some(column))
}

/// Where a stretch of the source that Tera runs comes from.
pub(super) fn origin(origins: &[Origin], range: &std::ops::Range<usize>) -> (usize, usize) {
    let before = |at: usize| origins.partition_point(|origin| origin.at as usize <= at).checked_sub(1);
    let Some(first) = before(range.start).map(|at| &origins[at]) else { return (range.start, range.end) };
    // What was copied whole is as long as it was.
    let within = range.start - first.at as usize;
    let length = (first.end - first.start) as usize;
    let start = first.start as usize + if within < length { within } else { 0 };
    let last = before(range.end.saturating_sub(1)).map_or(first, |at| &origins[at]);
    (start, (last.end as usize).max(start))
}
