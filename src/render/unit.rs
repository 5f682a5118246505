//! A set of templates that know each other: those of a chart, or a text that was given to `tpl`.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use tera::{Context, ErrorKind, TeraResult, Value};

use crate::{
    chart::Content,
    gotemplate::{
        self, Options,
        ast::{Arena, NodeRef, Source},
        error_context,
        lower::{self, Tables},
        print,
        source_map::{Choice, Nil, Site, SourceMap},
    },
    value::{Scope, kind, quote::quote},
};

use super::{
    code::{Code, Instance},
    compile::{compile, compile_again},
    error::{GoError, Place},
    native,
    run::{Fault, Run, Stop},
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
    pub(super) fn is_native(&self) -> bool {
        self.name.ends_with(native::EXTENSION)
    }
}

/// The number of a template in its unit.
pub(super) type TemplateId = usize;

/// A template of a unit.
pub(super) struct Template {
    /// The name that Go knows it by.
    pub name: Box<str>,
    pub source: usize,
    pub kind: Kind,
    pub blank: bool,
    /// Which of the unit's codes it is in.
    pub code: usize,
    /// Where the sites of the lowered source are.
    pub offsets: Box<[u32]>,
    /// The blocks that were split off.
    pub blocks: Box<[Block]>,
    /// Where the source of a native template comes from.
    pub origins: Box<[native::Origin]>,
}

/// A block that was split off from a template.
pub(super) struct Block {
    /// Where the sites of its lowered source are.
    pub offsets: Box<[u32]>,
    /// Which code it is in, if not in that of the template.
    pub code: Option<usize>,
}

impl Template {
    /// A template in Tera's language, in the first code.
    pub(super) fn native(name: &str, source: usize, kind: Kind) -> Self {
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

    /// Moves the codes that it is in, which are numbered from the first one of its own.
    pub(super) fn shift_codes(&mut self, by: usize) {
        self.code += by;
        for block in &mut self.blocks {
            block.code = block.code.map(|code| code + by);
        }
    }
}

/// What a template is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Go's language.
    Go,
    /// Tera's, a file.
    Native,
    /// Tera's, a component of a file.
    Component,
}

/// Templates that were compiled together.
pub(super) struct Unit {
    pub codes: Vec<Code>,
    pub sources: Vec<SourceFile>,
    pub templates: Vec<Template>,
    pub by_name: HashMap<Box<str>, TemplateId>,
    explained: Explained,
}

/// Errors of calls that were explained: in a recursion that goes too deep, they are the same again and again.
#[derive(Default)]
struct Explained(Mutex<Vec<(Call, GoError)>>);

/// A call by its place: the template, the block of it, the site, and the function.
type Call = (TemplateId, Option<usize>, Result<u32, usize>, Box<str>);

impl Explained {
    /// How many are kept.
    const MOST: usize = 64;

    fn find(&self, call: &Call) -> Option<GoError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, error) = kept.iter().find(|(known, _)| known == call)?;
        Some(GoError { text: error.text.clone(), cause: None, exec: error.exec, place: error.place.clone() })
    }

    fn keep(&self, call: Call, error: &GoError) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == Self::MOST {
            drop(kept.remove(0));
        }
        let (text, place) = (error.text.clone(), error.place.clone());
        kept.push((call, GoError { text, cause: None, exec: error.exec, place }));
    }
}

impl Unit {
    /// A set of templates.
    pub(super) fn new(
        codes: Vec<Code>,
        sources: Vec<SourceFile>,
        templates: Vec<Template>,
        by_name: HashMap<Box<str>, TemplateId>,
    ) -> Self {
        Self { codes, sources, templates, by_name, explained: Explained::default() }
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
        let tera = self.tera(template, self.templates[template].code)?;
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
        let tera = self.tera(template, code.unwrap_or(self.templates[template].code))?;
        tera.render_to(&outlined_name(self.name(template), block), context, out)
    }

    /// The Tera instance of one of a template's codes.
    fn tera(&self, template: TemplateId, code: usize) -> TeraResult<Instance<'_>> {
        let again = || {
            let Template { source, name, .. } = &self.templates[template];
            let codes = compile_again(*source, &self.sources[*source], name)?;
            codes.get(code - self.codes_of(template).start)?.take_source()
        };
        self.codes[code].tera(again).map_err(tera::Error::message)
    }

    /// The codes that a template has for itself.
    fn codes_of(&self, template: TemplateId) -> Range<usize> {
        let Template { code, blocks, .. } = &self.templates[template];
        let first = blocks.iter().filter_map(|block| block.code).min().unwrap_or(*code);
        first..*code + 1
    }

    /// Lets what Tera makes of the files' own templates be freed, each once it is rendered ([`Unit::free`]).
    pub(super) fn lend_files(&mut self) {
        for template in 0..self.templates.len() {
            let Template { kind, name, source, .. } = &self.templates[template];
            if *kind == Kind::Go && **name == *self.sources[*source].name {
                let codes = self.codes_of(template);
                self.codes[codes].iter_mut().for_each(Code::lend);
            }
        }
    }

    /// Frees what Tera made of a template, if that may be freed.
    pub(super) fn free(&self, template: TemplateId) {
        if self.templates[template].kind == Kind::Go {
            self.codes[self.codes_of(template)].iter().for_each(Code::free);
        }
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
        let Running { template, outlined, no_dot, cells, site: known } = running;
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
        let place = known.map(Ok).or(number.map(Err));
        let call = match (&fault, place) {
            (Some(Fault::Calling { name, error }), Some(place)) if error.text != NIL_LENGTH => {
                Some((template, outlined, place, name.clone()))
            }
            _ => None,
        };
        if let Some(explained) = call.as_ref().and_then(|call| self.explained.find(call)) {
            let cause = match fault {
                Some(Fault::Calling { error, .. }) => Some(error),
                _ => None,
            };
            return GoError { cause, ..explained };
        }
        let found = place.and_then(|place| {
            let arena = Arena::new();
            let source = Source { name: &file.name, text: &file.text };
            // What was compiled once is compiled again, to have the nodes.
            let set = gotemplate::parse(&arena, source, &Options::new(&|name| Functions.knows(name))).ok()?;
            let tree = set.trees.iter().find(|tree| tree.name() == *code.name)?;
            let lowered = lower::lower_with_sites(tree, source, &Functions, &mut Tables::default());
            let map = match outlined {
                Some(block) => &lowered.outlined.get(block)?.map,
                None => &lowered.map,
            };
            let site = match place {
                Ok(site) => lowered.sites.get(site as usize)?,
                Err(number) => map.site(number, &lowered.sites)?,
            };
            let at = Where { site, no_dot, choices: &lowered.choices, cells };
            let explained = at_site(&source, &code.name, at, fault.take(), error);
            // Which node it was may be another the next time.
            if let Some(call) = call.filter(|_| lowered.choices.is_empty()) {
                self.explained.keep(call, &explained);
            }
            Some(explained)
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
    /// The site where it was, if it is known. If not, Tera's error tells.
    pub site: Option<u32>,
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

/// The name of a block that was split off.
pub(super) fn outlined_name(name: &str, number: usize) -> String {
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
        Some(Fault::Argument { at: number, got, .. }) => site.args.get(*number).map_or(site.node, |arg| {
            if got.is_none() && !at.is_interface(*number) { arg.absent } else { arg.node }
        }),
        Some(Fault::Message(_)) => site.before,
        _ => site.node,
    };
    let node = at.choose(node);
    let (location, context) = error_context(source, node);
    let (line, column) = source.line_column(node.pos());
    let before = format!("template: {location}: executing {} at <{context}>: ", quote(template.as_bytes()));
    let (message, cause) = describe(fault, Some(at), error);
    GoError {
        text: format!("{before}{message}"),
        cause,
        exec: true,
        place: Some(Box::new(Place::new(source, line, Some(column)))),
    }
}

/// What `len` says of nil, which depends on what kind of nil it is.
const NIL_LENGTH: &str = "len of nil pointer";

/// Go's message for a fault, up to the text of the error that it wraps, and that error.
pub(super) fn describe(
    fault: Option<Fault>,
    at: Option<Where<'_, '_>>,
    error: &tera::Error,
) -> (String, Option<Box<GoError>>) {
    let text = match fault {
        Some(Fault::Calling { name, error }) if error.text == NIL_LENGTH => {
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
            let arg = at.and_then(|at| at.site.args.get(number));
            if arg.is_some_and(|arg| arg.constant) {
                format!("cannot assign nil to {expected}")
            } else if at.is_some_and(|at| at.is_interface(number)) {
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

/// Whether Tera takes a native template.
///
/// # Errors
/// The line, from 1, and what Tera says.
pub fn check_native(name: &str, text: &str) -> Result<(), (usize, String)> {
    let source = SourceFile {
        name: format!("{name}{}", native::EXTENSION).into(),
        text: text.as_bytes().to_vec().into(),
    };
    match compile(&[source]) {
        Ok(_) => Ok(()),
        Err(error) => Err((error.place.line, error.text)),
    }
}
