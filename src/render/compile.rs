//! From files to a unit: each is parsed and lowered, and of the definitions of a name one is chosen.
//!
//! The files of a large chart are shared out between two threads. Which of them took a file shows nowhere: the choice is made
//! once all are compiled, and what is put together follows the order of the files.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tera::ErrorKind;

use crate::{
    gotemplate::{
        self, Options, ParseError,
        ast::{Arena, Source, Tree, TreeSet},
        lower::{self, Tables},
    },
    threads::{self, on_large_stack},
};

use super::{
    code::Code,
    error::Place,
    native,
    unit::{Block, Kind, SourceFile, Template, TemplateId, Unit, outlined_name},
    vocabulary::Functions,
};

/// Files with fewer bytes than this in all are not worth a second thread.
pub(super) const LARGE: usize = 64 << 10;

/// How deep trees may nest for the present thread's stack to suffice.
const SHALLOW: usize = 64;

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

impl CompileError {
    /// An error that no file is to blame for.
    fn of_no_file(sources: &[SourceFile], text: String) -> Box<Self> {
        let file = sources.first().map_or_else(|| "".into(), |file| Arc::clone(&file.name));
        let place = Place::new(&Source { name: &file, text: b"" }, 0, None);
        Box::new(Self { file, text, place, go: false })
    }
}

/// Whether files are worth a second thread.
pub(super) fn is_large(sources: &[SourceFile]) -> bool {
    sources.len() > 1 && sources.iter().map(|file| file.text.len()).sum::<usize>() >= LARGE
}

/// Compiles files. Of several definitions of a name the last counts, except that a blank one replaces none.
///
/// # Errors
/// Those of the first file that has any.
pub(super) fn compile(sources: &[SourceFile]) -> Result<Unit, Box<CompileError>> {
    // From the last file on, so that of most names the definition that counts comes first.
    let order: Vec<usize> = (0..sources.len()).rev().filter(|number| !sources[*number].is_native()).collect();
    let failed = AtomicBool::new(false);
    let compile = |compiler: &mut Compiler, number: &usize| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let made = compiler.file(*number, &sources[*number]);
        failed.fetch_or(made.is_none(), Ordering::Relaxed);
        made
    };
    let made: Option<Vec<Vec<Compiled>>> = if is_large(sources) {
        threads::map_with(&order, Compiler::default, compile).into_iter().collect()
    } else {
        let mut compiler = Compiler::default();
        order.iter().map(|number| compile(&mut compiler, number)).collect()
    };
    match made {
        Some(made) => join(sources, choose(sources, made)),
        None => Err(first_error(sources)),
    }
}

/// The codes of a template, anew from its file.
pub(super) fn compile_again(number: usize, file: &SourceFile, name: &str) -> Option<Vec<Code>> {
    let templates = Compiler::default().file(number, file)?;
    Some(templates.into_iter().find(|compiled| *compiled.template.name == *name)?.codes)
}

/// What a thread has while it compiles files.
#[derive(Default)]
struct Compiler {
    /// Where the nodes of the file at hand are.
    arena: Arena,
    /// The names that a file further on defines, blank definitions aside. What a file before defines counts for nothing.
    defined: HashSet<Box<str>>,
}

/// A template that was compiled. The numbers of its codes count from its own first one.
struct Compiled {
    template: Template,
    codes: Vec<Code>,
}

/// A template that counts.
enum Chosen {
    /// One of Go's.
    Go(Compiled),
    /// One of Tera's, and its file.
    Native(usize, native::Piece),
}

impl Chosen {
    fn is_blank(&self) -> bool {
        match self {
            Self::Go(compiled) => compiled.template.blank,
            Self::Native(_, piece) => piece.blank,
        }
    }
}

/// All that count, by their numbers and names.
#[derive(Default)]
struct Choice {
    chosen: Vec<Chosen>,
    by_name: HashMap<Box<str>, TemplateId>,
    native_tables: Tables,
}

/// Parses a file.
fn parse<'a>(arena: &'a Arena, source: Source<'a>) -> Result<TreeSet<'a>, ParseError> {
    gotemplate::parse(arena, source, &Options::new(&|function| Functions.knows(function)))
}

impl Compiler {
    /// The templates of a file, without those of which it is known that they do not count; none if it does not parse, or no
    /// thread can be started.
    fn file(&mut self, number: usize, file: &SourceFile) -> Option<Vec<Compiled>> {
        self.arena.reset();
        let source = Source { name: &file.name, text: &file.text };
        let set = parse(&self.arena, source).ok()?;
        let deepest = set.trees.iter().map(|tree| tree.depth).max().unwrap_or_default();
        let mut lower = || {
            let mut made = Vec::with_capacity(set.trees.len());
            for tree in &set.trees {
                let name = tree.name();
                if self.defined.contains(&*name) {
                    continue;
                }
                let compiled = lower_tree(number, file, tree);
                if !compiled.template.blank {
                    self.defined.insert(name.into());
                }
                made.push(compiled);
            }
            made
        };
        // Lowering recurses.
        if deepest <= SHALLOW { Some(lower()) } else { on_large_stack(lower).ok() }
    }
}

/// The error of the first file that has any.
fn first_error(sources: &[SourceFile]) -> Box<CompileError> {
    for file in sources.iter().filter(|file| !file.is_native()) {
        let source = Source { name: &file.name, text: &file.text };
        if let Err(error) = parse(&Arena::new(), source) {
            let place = Place::new(&source, error.line, None);
            let file = Arc::clone(&file.name);
            return Box::new(CompileError { file, place, text: error.message, go: true });
        }
    }
    CompileError::of_no_file(sources, "cannot start a thread".to_owned())
}

/// Chooses among all definitions of each name, those of native templates included. `made` has the files of Go templates from the
/// last one on.
fn choose(sources: &[SourceFile], made: Vec<Vec<Compiled>>) -> Choice {
    let mut choice = Choice::default();
    let natives = sources.iter().filter(|file| file.is_native());
    let texts: Vec<Cow<'_, str>> = natives.map(|file| String::from_utf8_lossy(&file.text)).collect();
    let included: Vec<String> = texts.iter().flat_map(|text| native::includes(text)).collect();
    let (mut texts, mut made) = (texts.iter(), made.into_iter().rev());
    for (number, file) in sources.iter().enumerate() {
        if file.is_native() {
            let Some(text) = texts.next() else { break };
            let included = included.iter().any(|name| file.name.ends_with(name.as_str()));
            for piece in native::lower_file(text, included, &mut choice.native_tables) {
                let name = piece.name.clone().unwrap_or_else(|| file.name.to_string());
                choice.add(name.into(), Chosen::Native(number, piece));
            }
            continue;
        }
        for compiled in made.next().unwrap_or_default() {
            choice.add(compiled.template.name.clone(), Chosen::Go(compiled));
        }
    }
    // Native templates go by the names of their files, with or without the ending, and where it is not ambiguous without the
    // folder.
    for file in sources.iter().filter(|file| file.is_native()) {
        let Some(id) = choice.by_name.get(&*file.name).copied() else { continue };
        let short = native::split_name(&file.name).map_or("", |(_, short)| short);
        for name in [&*file.name, short] {
            for name in [name, name.trim_end_matches(native::EXTENSION)] {
                if !name.is_empty() {
                    choice.by_name.entry(name.into()).or_insert(id);
                }
            }
        }
    }
    choice
}

/// Puts together what was chosen.
fn join(sources: &[SourceFile], choice: Choice) -> Result<Unit, Box<CompileError>> {
    let Choice { chosen, mut by_name, native_tables } = choice;
    let mut codes: Vec<Code> = Vec::with_capacity(chosen.len());
    let mut templates = Vec::with_capacity(chosen.len());
    let mut natives: Vec<(String, String)> = Vec::new();
    for chosen in chosen {
        match chosen {
            Chosen::Go(Compiled { mut template, codes: own }) => {
                template.shift_codes(codes.len());
                codes.extend(own);
                templates.push(template);
            }
            Chosen::Native(number, piece) => {
                let name = piece.name.unwrap_or_else(|| (*sources[number].name).to_owned());
                templates.push(Template {
                    blank: piece.blank,
                    origins: piece.origins,
                    ..Template::native(&name, number, Kind::Native)
                });
                natives.push((name, piece.source));
            }
        }
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
    Ok(Unit::new(codes, sources.to_vec(), templates, by_name))
}

impl Choice {
    /// Adds a template. Of several of one name the last counts, except that a blank one replaces none.
    fn add(&mut self, name: Box<str>, new: Chosen) {
        match self.by_name.get(&name) {
            Some(other) => {
                let other = &mut self.chosen[*other];
                if !new.is_blank() || other.is_blank() {
                    *other = new;
                }
            }
            None => {
                self.by_name.insert(name, self.chosen.len());
                self.chosen.push(new);
            }
        }
    }
}

/// Lowers a template.
fn lower_tree(number: usize, file: &SourceFile, tree: &Tree<'_>) -> Compiled {
    let source = Source { name: &file.name, text: &file.text };
    let mut tables = Tables::default();
    let lowered = lower::lower(tree, source, &Functions, &mut tables);
    let name = tree.name();
    let mut codes = Vec::new();
    let mut own = vec![(name.clone().into_owned(), lowered.source)];
    let mut blocks = Vec::with_capacity(lowered.outlined.len());
    for (number, block) in lowered.outlined.into_iter().enumerate() {
        let offsets = block.map.offsets().into();
        let name = outlined_name(&name, number);
        let code = match block.later {
            Some(tables) => {
                codes.push(Code::new(vec![(name, block.source)], tables));
                Some(codes.len() - 1)
            }
            None => {
                own.push((name, block.source));
                None
            }
        };
        blocks.push(Block { offsets, code });
    }
    codes.push(Code::new(own, tables));
    let template = Template {
        name: name.into(),
        source: number,
        kind: Kind::Go,
        blank: tree.is_empty(),
        code: codes.len() - 1,
        offsets: lowered.map.offsets().into(),
        blocks: blocks.into(),
        origins: Box::default(),
    };
    Compiled { template, codes }
}

/// An error of Tera's about the templates that it was given.
fn compile_error(error: &tera::Error, sources: &[SourceFile], templates: &[Template]) -> Box<CompileError> {
    let ErrorKind::SyntaxError(report) = error.kind() else {
        return CompileError::of_no_file(sources, error.to_string());
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
