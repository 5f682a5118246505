//! A chart of Go templates becomes a chart of Tera templates that renders to the same bytes.
//!
//! What Tera has a form for takes that form: paths, operators, `if`, `for`, `set`, filters. Comments and the space between tags
//! stay as they are. A file of templates that cannot be converted stays a Go template, which a chart may hold beside Tera
//! templates; [`Converted::kept`] says which and why.

mod calls;
mod expr;
mod names;
mod operands;
mod operators;
mod template;
mod writer;

use std::collections::BTreeSet;

use crate::{
    chart,
    gotemplate::{
        self, Options,
        ast::{self, Arena, Source},
    },
    render,
};

/// What becomes of a chart.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// Its files: their paths inside the chart, and their contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// The templates that were converted, by their old paths.
    pub converted: Vec<String>,
    /// The templates that stay Go templates.
    pub kept: Vec<Kept>,
}

/// A template that stays a Go template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its path inside the chart.
    pub file: String,
    /// The line that cannot be converted, from 1.
    pub line: usize,
    /// What stands there.
    pub what: String,
}

/// A file of templates, converted.
#[derive(Clone, Debug)]
pub struct Template {
    /// The file's new text.
    pub text: String,
    /// Whether it holds nothing but definitions.
    pub only_defines: bool,
}

/// What cannot be converted.
#[derive(Debug)]
struct Unsupported {
    /// Where it is in its file.
    at: usize,
    what: String,
}

/// Converts a chart, given its files and those of its subcharts. Archives in `charts/` are unpacked.
///
/// # Errors
/// When an archive cannot be read.
pub fn files(files: Vec<(String, Vec<u8>)>, limits: &chart::Limits) -> Result<Converted, chart::Error> {
    let mut converted = Converted::default();
    let known = taken(&files);
    for (name, data) in files {
        one(name, data, &known, limits, &mut converted)?;
    }
    Ok(converted)
}

/// The names that files have already, and the short names of files that must keep theirs: some template speaks of them.
fn taken(files: &[(String, Vec<u8>)]) -> BTreeSet<String> {
    let mut taken: BTreeSet<String> = files.iter().map(|(name, _)| name.clone()).collect();
    for (name, _) in files.iter().filter(|(name, _)| name.ends_with(".tpl")) {
        let base = name.rsplit('/').next().unwrap_or(name);
        let finder = memchr::memmem::Finder::new(base);
        if files.iter().any(|(name, data)| name.contains("templates/") && finder.find(data).is_some()) {
            taken.insert(format!("{}.tera", name.trim_end_matches(".tpl")));
        }
    }
    taken
}

fn one(
    name: String,
    data: Vec<u8>,
    known: &BTreeSet<String>,
    limits: &chart::Limits,
    into: &mut Converted,
) -> Result<(), chart::Error> {
    let inner = in_subchart(&name);
    let folder = &name[..name.len() - inner.len()];
    if let Some(archive) =
        inner.strip_prefix("charts/").filter(|name| name.ends_with(".tgz") && !name.contains('/'))
    {
        if archive.starts_with(['_', '.']) {
            into.files.push((name, data));
            return Ok(());
        }
        let stem = format!("{folder}charts/{}", archive.trim_end_matches(".tgz"));
        let unpacked = chart::unpack_archive(&data[..], limits)?;
        let unpacked: Vec<_> =
            unpacked.into_iter().map(|(path, data)| (format!("{stem}/{path}"), data)).collect();
        let known = taken(&unpacked);
        for (path, data) in unpacked {
            one(path, data, &known, limits, into)?;
        }
        return Ok(());
    }
    if !inner.starts_with("templates/") || inner.ends_with(".tera") {
        into.files.push((name, data));
        return Ok(());
    }
    // What holds no action reads the same as it is.
    if memchr::memmem::find(&data, b"{{").is_none() {
        into.files.push((name, data));
        return Ok(());
    }
    match template(&name, &data) {
        Ok(Template { text, only_defines }) => {
            // Nobody asks for a file by its name that only defines.
            let short = name.strip_suffix(".tpl").map(|stem| format!("{stem}.tera"));
            let new = match short.filter(|short| only_defines && !known.contains(short)) {
                Some(short) if inner.rsplit('/').next().is_some_and(|base| base.starts_with('_')) => short,
                _ => format!("{name}.tera"),
            };
            into.files.push((new, text.into_bytes()));
            into.converted.push(name);
        }
        Err(kept) => {
            into.kept.push(kept);
            into.files.push((name, data));
        }
    }
    Ok(())
}

/// The path inside the innermost chart.
fn in_subchart(name: &str) -> &str {
    let mut rest = name;
    while let Some((sub, inner)) = rest.strip_prefix("charts/").and_then(|inner| inner.split_once('/')) {
        if sub.starts_with(['_', '.']) {
            break;
        }
        rest = inner;
    }
    rest
}

/// Converts one file of Go templates.
///
/// # Errors
/// What cannot be converted.
pub fn template(name: &str, text: &[u8]) -> Result<Template, Kept> {
    let arena = Arena::new();
    let source = Source { name, text };
    let known = |function: &str| render::is_function(function);
    let options = Options { comments: true, ..Options::new(&known) };
    let kept = |line, what| Kept { file: name.to_owned(), line, what };
    let set = gotemplate::parse(&arena, source, &options).map_err(|error| kept(error.line, error.message))?;
    // Both this and Tera's parser recurse along what nests.
    if set.trees.iter().any(|tree| tree.depth > MAX_DEPTH) {
        return Err(kept(1, format!("blocks that nest deeper than {MAX_DEPTH}")));
    }
    let text = template::file(&set).map_err(|error| kept(source.line_column(error.at).0, error.what))?;
    // What meets one of Tera's limits stays as it is.
    render::check_native(name, &text).map_err(|(line, what)| kept(line, what))?;
    let only_defines = set.main().is_none_or(ast::Tree::is_empty);
    Ok(Template { text, only_defines })
}

/// How deep blocks may nest in Tera.
const MAX_DEPTH: usize = 36;
