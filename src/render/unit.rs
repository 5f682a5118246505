//! A set of templates that know each other: those of a chart, or a text that was given to `tpl`.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use tera::{Context, ErrorKind, Tera, TeraResult, Value};

use crate::{
    chart::Content,
    gotemplate::{
        self, Options,
        ast::{Arena, NodeRef, Source, Tree, TreeSet},
        error_context,
        lower::{self, Later, Tables},
        print,
        source_map::{Choice, Nil, Site, SourceMap},
    },
    value::{Scope, kind, quote::quote},
};

use super::{
    code::Code,
    error::{GoError, Place},
    native,
    run::{Fault, Run, Stop},
    stack::on_large_stack,
    vocabulary::Functions,
};

/// A file of templates.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    pub name: Arc<str>,
    pub text: Content,
}

impl SourceFile {
    /// Whether it is written in Tera's language and not in Go's.
    fn is_native(&self) -> bool {
        self.name.ends_with(native::EXTENSION)
    }
}

/// The number of a template in its unit.
pub(super) type TemplateId = usize;

struct Template {
    /// The name that Go knows it by.
    name: Box<str>,
    source: usize,
    kind: Kind,
    blank: bool,
    /// Which of the unit's codes it is in.
    code: usize,
    /// Where the sites of the lowered source are.
    offsets: Box<[u32]>,
    /// The blocks that were split off.
    blocks: Box<[Block]>,
    /// Where the source of a native template comes from.
    origins: Box<[native::Origin]>,
}

/// A block that was split off from a template.
struct Block {
    /// Where the sites of its lowered source are.
    offsets: Box<[u32]>,
    /// Which code it is in, if not in that of the template.
    code: Option<usize>,
    /// The variables that it is given.
    names: Box<[Box<str>]>,
}

impl Template {
    /// A template in Tera's language, in the first code.
    fn native(name: &str, source: usize, kind: Kind) -> Self {
        Self {
            name: name.into(),
            source,
            kind,
            blank: false,
            code: 0,
            offsets: Box::default(),
            blocks: Box::default(),
            origins: Box::default(),
        }
    }
}

/// A template that is used, and the file that it is in.
enum Winner<'s, 'a> {
    Go(usize, &'s Tree<'a>),
    Native(usize, native::Piece),
}

impl Winner<'_, '_> {
    fn is_blank(&self) -> bool {
        match self {
            Self::Go(_, tree) => tree.is_empty(),
            Self::Native(_, piece) => piece.blank,
        }
    }
}

/// What a template is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Go's language.
    Go,
    /// Tera's, a file.
    Native,
    /// Tera's, a component of a file.
    Component,
}

/// Templates that were compiled together.
pub(super) struct Unit {
    codes: Vec<Code>,
    sources: Vec<SourceFile>,
    templates: Vec<Template>,
    by_name: HashMap<Box<str>, TemplateId>,
}

/// Why templates cannot be compiled.
#[derive(Debug)]
pub(super) struct CompileError {
    /// The file.
    pub file: Arc<str>,
    /// Go's text, whole, or Tera's.
    pub text: String,
    /// Where.
    pub place: Place,
    /// Whether the text is Go's.
    pub go: bool,
}

/// Adds a template. Of several of one name the last counts, except that a blank one replaces none.
fn add<'s, 'a>(
    winners: &mut Vec<Winner<'s, 'a>>,
    by_name: &mut HashMap<Box<str>, TemplateId>,
    name: Cow<'_, str>,
    winner: Winner<'s, 'a>,
) {
    match by_name.get(&*name) {
        Some(other) => {
            if !winner.is_blank() || winners[*other].is_blank() {
                winners[*other] = winner;
            }
        }
        None => {
            by_name.insert(name.into(), winners.len());
            winners.push(winner);
        }
    }
}

/// How deep trees may nest for the present thread's stack to suffice.
const SHALLOW: usize = 64;

impl Unit {
    /// Compiles files. Of several definitions of a name the last counts, except that a blank one replaces none.
    pub(super) fn compile(sources: &[SourceFile]) -> Result<Self, Box<CompileError>> {
        let arena = Arena::new();
        let known = |function: &str| Functions.knows(function);
        let mut sets: Vec<Option<TreeSet<'_>>> = Vec::with_capacity(sources.len());
        let mut deepest = 0;
        for file in sources {
            if file.is_native() {
                sets.push(None);
                continue;
            }
            let source = Source { name: &file.name, text: &file.text };
            let set = gotemplate::parse(&arena, source, &Options::new(&known)).map_err(|error| {
                Box::new(CompileError {
                    file: Arc::clone(&file.name),
                    place: place_of_line(&source, error.line),
                    text: error.message,
                    go: true,
                })
            })?;
            deepest = set.trees.iter().map(|tree| tree.depth).max().unwrap_or(0).max(deepest);
            sets.push(Some(set));
        }
        if deepest <= SHALLOW {
            return Self::lower(sources, &sets);
        }
        // Lowering recurses, and so does Tera's parser along `elif`.
        on_large_stack(|| Self::lower(sources, &sets)).unwrap_or_else(|error| {
            Err(Box::new(CompileError {
                file: sources.first().map_or_else(|| "".into(), |file| Arc::clone(&file.name)),
                text: format!("cannot start a thread: {error}"),
                place: Place { file: String::new(), line: 0, column: None, text: String::new() },
                go: false,
            }))
        })
    }

    fn lower(sources: &[SourceFile], sets: &[Option<TreeSet<'_>>]) -> Result<Self, Box<CompileError>> {
        let mut native_tables = Tables::default();
        let mut winners: Vec<Winner<'_, '_>> = Vec::new();
        let mut by_name: HashMap<Box<str>, TemplateId> = HashMap::new();
        let texts: Vec<Cow<'_, str>> = sources
            .iter()
            .map(
                |file| if file.is_native() { String::from_utf8_lossy(&file.text) } else { Cow::Borrowed("") },
            )
            .collect();
        let included: Vec<String> = texts.iter().flat_map(|text| native::includes(text)).collect();
        for (number, (file, set)) in sources.iter().zip(sets).enumerate() {
            let Some(set) = set else {
                let included = included.iter().any(|name| file.name.ends_with(name.as_str()));
                for piece in native::lower_file(&texts[number], included, &mut native_tables) {
                    let name = piece.name.clone().map_or(Cow::Borrowed(&*file.name), Cow::Owned);
                    add(&mut winners, &mut by_name, name, Winner::Native(number, piece));
                }
                continue;
            };
            for tree in &set.trees {
                add(&mut winners, &mut by_name, tree.name(), Winner::Go(number, tree));
            }
        }
        // Native templates go by the names of their files, with or without the ending, and where it is not ambiguous without the
        // folder.
        for file in sources.iter().filter(|file| file.is_native()) {
            let Some(id) = by_name.get(&*file.name).copied() else { continue };
            let short = native::split_name(&file.name).map_or("", |(_, short)| short);
            for name in [&*file.name, short] {
                for name in [name, name.trim_end_matches(native::EXTENSION)] {
                    if !name.is_empty() {
                        by_name.entry(name.into()).or_insert(id);
                    }
                }
            }
        }

        let mut codes: Vec<Code> = Vec::with_capacity(winners.len());
        let mut templates = Vec::with_capacity(winners.len());
        let mut natives: Vec<(String, String)> = Vec::new();
        for winner in winners {
            let (number, tree) = match winner {
                Winner::Go(number, tree) => (number, tree),
                Winner::Native(number, piece) => {
                    let name = piece.name.unwrap_or_else(|| (*sources[number].name).to_owned());
                    templates.push(Template {
                        blank: piece.blank,
                        origins: piece.origins,
                        ..Template::native(&name, number, Kind::Native)
                    });
                    natives.push((name, piece.source));
                    continue;
                }
            };
            let file = &sources[number];
            let source = Source { name: &file.name, text: &file.text };
            let mut tables = Tables::default();
            let lowered = lower::lower(tree, source, &Functions, &mut tables);
            let name = tree.name();
            let mut own = vec![(name.clone().into_owned(), lowered.source)];
            let mut blocks = Vec::with_capacity(lowered.outlined.len());
            for (number, block) in lowered.outlined.into_iter().enumerate() {
                let offsets = block.map.offsets().into();
                let (code, names) = match block.later {
                    Some(Later { tables, names }) => {
                        codes.push(Code::new(vec![(outlined_name(&name, number), block.source)], tables));
                        (Some(codes.len() - 1), names.into_iter().map(String::into_boxed_str).collect())
                    }
                    None => {
                        own.push((outlined_name(&name, number), block.source));
                        (None, Box::default())
                    }
                };
                blocks.push(Block { offsets, code, names });
            }
            codes.push(Code::new(own, tables));
            templates.push(Template {
                name: name.into(),
                source: number,
                kind: Kind::Go,
                blank: tree.is_empty(),
                code: codes.len() - 1,
                offsets: lowered.map.offsets().into(),
                blocks: blocks.into(),
                origins: Box::default(),
            });
        }
        if !natives.is_empty() {
            let files = sources.iter().rev().filter(|file| file.is_native()).map(|file| &*file.name);
            let tera = native::compile(natives, native_tables, files)
                .map_err(|error| compile_error(&error, sources, &templates))?;
            let components: Vec<Box<str>> = tera.get_component_names().map(Box::from).collect();
            codes.push(Code::from(tera));
            for template in templates.iter_mut().filter(|template| template.kind == Kind::Native) {
                template.code = codes.len() - 1;
            }
            for name in components {
                by_name.entry(name.clone()).or_insert_with(|| {
                    let native = sources.iter().position(SourceFile::is_native).unwrap_or_default();
                    let template = Template::native(&name, native, Kind::Component);
                    templates.push(Template { code: codes.len() - 1, ..template });
                    templates.len() - 1
                });
            }
        }
        Ok(Self { codes, sources: sources.to_vec(), templates, by_name })
    }

    /// The template of a name.
    pub(super) fn find(&self, name: &str) -> Option<TemplateId> {
        self.by_name.get(name).copied()
    }

    /// The name that Go knows a template by.
    pub(super) fn name(&self, template: TemplateId) -> &str {
        &self.templates[template].name
    }

    /// Runs a template.
    pub(super) fn render_to(
        &self,
        template: TemplateId,
        context: &Context,
        out: impl std::io::Write,
    ) -> TeraResult<()> {
        let tera = self.tera(self.templates[template].code)?;
        let name = self.name(template);
        if self.templates[template].kind == Kind::Component {
            return tera.render_component_to(name, context, None, false, out);
        }
        tera.render_to(name, context, out)
    }

    /// Runs a block that was split off from a template.
    pub(super) fn render_block_to(
        &self,
        template: TemplateId,
        block: usize,
        context: &Context,
        out: impl std::io::Write,
    ) -> TeraResult<()> {
        let code = self.templates[template].blocks[block].code;
        let tera = self.tera(code.unwrap_or(self.templates[template].code))?;
        tera.render_to(&outlined_name(self.name(template), block), context, out)
    }

    /// The variables that a block is given.
    pub(super) fn block_names(&self, template: TemplateId, block: usize) -> &[Box<str>] {
        &self.templates[template].blocks[block].names
    }

    fn tera(&self, code: usize) -> TeraResult<&Tera> {
        self.codes[code].tera().map_err(tera::Error::message)
    }

    /// Whether a template holds nothing but white space and comments.
    pub(super) fn is_blank(&self, template: TemplateId) -> bool {
        self.templates[template].blank
    }

    /// What a template runs with: its dot, or the variables of a native one.
    pub(super) fn context(&self, run: &Run, template: TemplateId, dot: &Value) -> Result<Context, Stop> {
        match self.templates[template].kind {
            Kind::Go | Kind::Native => {}
            Kind::Component => return native::arguments(run, dot),
        }
        let mut context = Context::new();
        context.insert_value("d", dot.clone());
        Ok(context)
    }

    /// The error of text/template for what went wrong in a template.
    pub(super) fn explain(&self, running: Running<'_>, fault: Option<Fault>, error: &tera::Error) -> GoError {
        let Running { template, outlined, no_dot, cells } = running;
        let code = &self.templates[template];
        let file = &self.sources[code.source];
        let offset = match error.kind() {
            ErrorKind::RenderingError(report) => Some(report.span().range.start),
            _ => None,
        };
        if code.kind != Kind::Go {
            // What Tera included or extended, or the file of a component.
            let named = match error.kind() {
                ErrorKind::RenderingError(report) => report.filename(),
                _ => "",
            };
            let code = self.templates.iter().find(|template| *template.name == *named).unwrap_or(code);
            let file = &self.sources[code.source];
            let source = Source { name: &file.name, text: &file.text };
            return native::explain(&source, &code.origins, &code.name, fault, error);
        }
        let offsets = outlined.map_or(&code.offsets, |number| &code.blocks[number].offsets);
        let number = offset.and_then(|offset| SourceMap::number(offsets, offset));
        let mut fault = fault;
        let found = number.and_then(|number| {
            let arena = Arena::new();
            let source = Source { name: &file.name, text: &file.text };
            // What was compiled once is compiled again, to have the nodes.
            let set = gotemplate::parse(&arena, source, &Options::new(&|name| Functions.knows(name))).ok()?;
            let tree = set.trees.iter().find(|tree| tree.name() == *code.name)?;
            let lowered = lower::lower(tree, source, &Functions, &mut Tables::default());
            let map = match outlined {
                Some(block) => &lowered.outlined.get(block)?.map,
                None => &lowered.map,
            };
            let site = map.site(number)?;
            let at = Where { site, no_dot, choices: &lowered.choices, cells };
            Some(at_site(&source, &code.name, at, fault.take(), error))
        });
        found.unwrap_or_else(|| {
            // Only a mistake in the lowering comes here.
            GoError::new(format!("template: {}: {}", code.name, describe(fault, None, error).0))
        })
    }
}

/// What ran when something went wrong.
#[derive(Clone, Copy)]
pub(super) struct Running<'r> {
    pub template: TemplateId,
    /// The block of it, if that was split off.
    pub outlined: Option<usize>,
    /// Whether it was invoked with no value as its dot.
    pub no_dot: bool,
    /// Its cells.
    pub cells: &'r [Value],
}

/// Where something went wrong.
#[derive(Clone, Copy)]
pub(super) struct Where<'s, 'a> {
    site: &'s Site<'a>,
    no_dot: bool,
    choices: &'s [Choice<'a>],
    cells: &'s [Value],
}

impl<'a> Where<'_, 'a> {
    /// Which of several nodes it was, if this stands for several.
    fn choose(&self, node: NodeRef<'a>) -> NodeRef<'a> {
        let is_last = |choice: &&Choice<'_>| choice.nodes.last().is_some_and(|last| last.pos() == node.pos());
        let chosen = self.choices.iter().find(is_last).and_then(|choice| {
            let number = self.cells.get(usize::try_from(choice.cell).ok()?)?.as_i64()?;
            choice.nodes.get(usize::try_from(number).ok()?)
        });
        chosen.copied().unwrap_or(node)
    }

    /// Whether a nil argument is an `interface {}` that is nil, and not no value at all.
    fn is_interface(&self, argument: usize) -> bool {
        self.site.args.get(argument).is_some_and(|arg| match arg.nil {
            Nil::Untyped => false,
            Nil::Interface => true,
            Nil::OfDot => !self.no_dot,
            Nil::OfCell(cell) => usize::try_from(cell)
                .is_ok_and(|cell| self.cells.get(cell).is_some_and(|base| !base.is_none())),
        })
    }
}

fn outlined_name(name: &str, number: usize) -> String {
    format!("{name}\n{number}")
}

fn at_site<'a>(
    source: &Source<'a>,
    template: &str,
    at: Where<'_, 'a>,
    fault: Option<Fault>,
    error: &tera::Error,
) -> GoError {
    let site = at.site;
    let node = match &fault {
        Some(Fault::Argument { at, .. }) => site.args.get(*at).map_or(site.node, |arg| arg.node),
        Some(Fault::Message(_)) => site.before,
        _ => site.node,
    };
    let node = at.choose(node);
    let (location, context) = error_context(source, node);
    let (line, column) = source.line_column(node.pos());
    let before = format!("template: {location}: executing {} at <{context}>: ", quote(template.as_bytes()));
    let (message, cause) = describe(fault, Some(at), error);
    let text = source.text.split(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default();
    GoError {
        text: format!("{before}{message}"),
        cause,
        exec: true,
        place: Some(Box::new(Place {
            file: source.name.to_owned(),
            line,
            column: Some(column),
            text: String::from_utf8_lossy(text).trim_end_matches('\r').to_owned(),
        })),
    }
}

/// Go's message for a fault, up to the text of the error that it wraps, and that error.
pub(super) fn describe(
    fault: Option<Fault>,
    at: Option<Where<'_, '_>>,
    error: &tera::Error,
) -> (String, Option<Box<GoError>>) {
    let text = match fault {
        Some(Fault::Calling { name, error }) if error.text == "len of nil pointer" => {
            // Go looks at the type of what is no value at all before it looks whether it is nil.
            let text = match at.is_some_and(|at| at.is_interface(0)) {
                true => error.text.clone(),
                false => "reflect: call of reflect.Value.Type on zero Value".to_owned(),
            };
            return (format!("error calling {name}: "), Some(Box::new(GoError::new(text))));
        }
        Some(Fault::Calling { name, error }) => {
            return (format!("error calling {name}: "), Some(error));
        }
        Some(Fault::Through(error)) => return (String::new(), Some(error)),
        Some(Fault::Message(text)) => {
            match (text.strip_suffix(" in type interface {}"), at.and_then(|at| at.site.base)) {
                (Some(before), Some(base)) => format!("{before} in type {base}"),
                _ => text,
            }
        }
        Some(Fault::Limit(text)) => text,
        Some(Fault::Argument { at: number, expected, got: Some(got) }) => {
            match at.and_then(|at| at.site.args.get(number)).filter(|arg| arg.constant) {
                Some(arg) => wrong_constant(expected, &print(arg.node)),
                None => format!("wrong type for value; expected {expected}; got {got}"),
            }
        }
        Some(Fault::Argument { at: number, expected, got: None }) => {
            if at.is_some_and(|at| at.is_interface(number)) {
                format!("wrong type for value; expected {expected}; got interface {{}}")
            } else {
                format!("invalid value; expected {expected}")
            }
        }
        Some(Fault::Jump(_)) | None => match error.kind() {
            ErrorKind::RenderingError(report) => report.message().to_owned(),
            _ => error.to_string(),
        },
    };
    (text, None)
}

/// What Go says of a constant that a method's parameter cannot be.
fn wrong_constant(expected: &str, node: &str) -> String {
    match expected {
        "string" | "bool" => format!("expected {expected}; found {node}"),
        "int" | "int64" | "time.Duration" => format!("expected integer; found {node}"),
        _ => format!("can't handle {node} for arg of type {expected}"),
    }
}

/// The fault of an argument of a wrong type.
pub(super) fn wrong_type(scope: &Scope, at: usize, expected: &'static str, value: &Value) -> Fault {
    let nil = value.is_none() || value.is_undefined();
    let got = (!nil).then(|| kind::type_of(scope, value).into());
    Fault::Argument { at, expected, got }
}

fn place_of_line(source: &Source<'_>, line: usize) -> Place {
    let text = source.text.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    Place {
        file: source.name.to_owned(),
        line,
        column: None,
        text: String::from_utf8_lossy(text).trim_end_matches('\r').to_owned(),
    }
}

/// An error of Tera's about the templates that it was given.
fn compile_error(error: &tera::Error, sources: &[SourceFile], templates: &[Template]) -> Box<CompileError> {
    let ErrorKind::SyntaxError(report) = error.kind() else {
        let name = sources.first().map_or_else(|| "".into(), |file| Arc::clone(&file.name));
        let place = Place { file: name.to_string(), line: 0, column: None, text: String::new() };
        return Box::new(CompileError { file: name, text: error.to_string(), place, go: false });
    };
    let template = templates.iter().find(|template| *template.name == *report.filename());
    let file = template.map(|template| &sources[template.source]);
    let name = file.map_or_else(|| report.filename().into(), |file| Arc::clone(&file.name));
    let text: &[u8] = file.map_or(&[], |file| &file.text);
    let origins: &[native::Origin] = template.map_or(&[], |template| &template.origins);
    let (at, _) = native::origin(origins, &report.span().range);
    let place = native::place(&Source { name: &name, text }, at);
    Box::new(CompileError { file: Arc::clone(&name), text: report.message().to_owned(), place, go: false })
}

/// Whether Tera takes a native template.
///
/// # Errors
/// The line, from 1, and what Tera says.
pub fn check_native(name: &str, text: &str) -> Result<(), (usize, String)> {
    let source = SourceFile {
        name: format!("{name}{}", native::EXTENSION).into(),
        text: text.as_bytes().to_vec().into(),
    };
    match Unit::compile(&[source]) {
        Ok(_) => Ok(()),
        Err(error) => Err((error.place.line, error.text)),
    }
}
