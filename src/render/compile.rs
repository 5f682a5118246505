//! From files to a unit: they are parsed, of the definitions of a name one is chosen, and what was chosen is lowered.
//!
//! The files of a large chart are shared out between two threads. Which of them took a file shows nowhere: the choice is made
//! once all are parsed, and what is put together follows the order of the files.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use tera::ErrorKind;

use crate::{
    gotemplate::{
        self, Options,
        ast::{Arena, Source, Tree},
        lower::{self, Later, Tables},
    },
    threads::{on_large_stack, spawn_helper},
};

use super::{
    code::Code,
    error::Place,
    native,
    unit::{Block, Kind, SourceFile, Template, TemplateId, Unit, outlined_name},
    vocabulary::Functions,
};

/// Files with fewer bytes than this in all are not worth a second thread.
const LARGE: usize = 64 << 10;

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
        let place = Place { file: file.to_string(), line: 0, column: None, text: String::new() };
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
    let work = Work { sources, next: AtomicUsize::new(0), failed: AtomicBool::new(false) };
    if is_large(sources) { work.on_two_threads() } else { work.alone(None) }
}

/// The files of a unit that is being compiled.
struct Work<'s> {
    sources: &'s [SourceFile],
    /// The first file that no thread has taken.
    next: AtomicUsize,
    /// Whether some file does not parse, so that no further one need be taken.
    failed: AtomicBool,
}

/// What a thread parsed.
#[derive(Default)]
struct Parsed<'a> {
    /// The trees, each with the number of its file.
    trees: Vec<(usize, Tree<'a>)>,
    /// The error that it met, with the number of the file.
    error: Option<(usize, Box<CompileError>)>,
}

/// What must be known of a tree to choose between it and others.
struct Outline {
    file: usize,
    /// Its number among the trees of the thread that parsed it.
    number: usize,
    name: Box<str>,
    blank: bool,
}

/// The outlines of what a thread parsed, or its error.
type Outlines = Result<Vec<Outline>, (usize, Box<CompileError>)>;

/// A template that was lowered. The numbers of its codes count from its own first one.
struct Lowered {
    template: Template,
    codes: Vec<Code>,
}

/// A template that counts.
enum Chosen {
    /// One of Go's: whether the second thread has it, and its number there.
    Go { helper: bool, number: usize, blank: bool },
    /// One of Tera's, and its file.
    Native(usize, native::Piece),
}

impl Chosen {
    fn is_blank(&self) -> bool {
        match self {
            Self::Go { blank, .. } => *blank,
            Self::Native(_, piece) => piece.blank,
        }
    }
}

/// All that count, by their numbers and names.
struct Choice {
    chosen: Vec<Chosen>,
    by_name: HashMap<Box<str>, TemplateId>,
    native_tables: Tables,
}

/// Which of its trees a thread shall lower, and what numbers they have as templates.
type Task = Vec<(usize, TemplateId)>;

/// What a thread lowered, by number.
type Made = Vec<(TemplateId, Lowered)>;

impl Work<'_> {
    /// Compiles on this thread and, if it can be started, another one.
    fn on_two_threads(&self) -> Result<Unit, Box<CompileError>> {
        thread::scope(|scope| {
            let (outlines_in, outlines) = mpsc::channel();
            let (task, task_out) = mpsc::channel();
            let (made_in, made) = mpsc::channel();
            let started = spawn_helper(scope, move || {
                let arena = Arena::new();
                let mut parsed = self.parse(&arena);
                let _ = outlines_in.send(parsed.outlines());
                // None comes where a file does not parse.
                if let Ok(task) = task_out.recv() {
                    let _ = made_in.send(self.lower(&parsed, &task));
                }
            });
            self.alone(started.then_some(Helper { outlines, task, made }))
        })
    }

    /// Compiles on this thread, with what another one does meanwhile if there is one.
    fn alone(&self, helper: Option<Helper>) -> Result<Unit, Box<CompileError>> {
        let arena = Arena::new();
        let mut parsed = self.parse(&arena);
        let own = parsed.outlines();
        let other = helper.as_ref().map_or_else(|| Ok(Vec::new()), |helper| helper.outlines());
        let (own, other) = match (own, other) {
            (Ok(own), Ok(other)) => (own, other),
            (Err((_, error)), Ok(_)) | (Ok(_), Err((_, error))) => return Err(error),
            (Err(own), Err(other)) => return Err(if own.0 < other.0 { own.1 } else { other.1 }),
        };
        let choice = self.choose(own, other);
        let task = |of_helper: bool| -> Task {
            let chosen = choice.chosen.iter().enumerate();
            let task = chosen.filter_map(|(template, chosen)| match chosen {
                Chosen::Go { helper, number, .. } if *helper == of_helper => Some((*number, template)),
                _ => None,
            });
            task.collect()
        };
        if let Some(helper) = &helper {
            let _ = helper.task.send(task(true));
        }
        let own = task(false);
        let mut made = if parsed.depth() <= SHALLOW {
            self.lower(&parsed, &own)
        } else {
            // Lowering recurses.
            on_large_stack(|| self.lower(&parsed, &own)).map_err(|error| {
                CompileError::of_no_file(self.sources, format!("cannot start a thread: {error}"))
            })?
        };
        if let Some(helper) = helper {
            made.extend(helper.made());
        }
        self.join(choice, made)
    }

    /// Parses files that nobody has taken, until there are none left.
    fn parse<'a>(&self, arena: &'a Arena) -> Parsed<'a>
    where
        Self: 'a,
    {
        let mut parsed = Parsed::default();
        let known: &'static dyn Fn(&str) -> bool = &|function| Functions.knows(function);
        while !self.failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.sources.get(number) else { break };
            if file.is_native() {
                continue;
            }
            let source = Source { name: &file.name, text: &file.text };
            match gotemplate::parse(arena, source, &Options::new(known)) {
                Ok(set) => parsed.trees.extend(set.trees.into_iter().map(|tree| (number, tree))),
                Err(error) => {
                    // All files before this one were taken already, so that the first error of all is met.
                    self.failed.store(true, Ordering::Relaxed);
                    let error = CompileError {
                        file: Arc::clone(&file.name),
                        place: place_of_line(&source, error.line),
                        text: error.message,
                        go: true,
                    };
                    parsed.error = Some((number, Box::new(error)));
                }
            }
        }
        parsed
    }

    /// Chooses among all definitions of each name, those of native templates included.
    fn choose(&self, own: Vec<Outline>, other: Vec<Outline>) -> Choice {
        let (mut own, mut other) = (own.into_iter().peekable(), other.into_iter().peekable());
        let mut choice =
            Choice { chosen: Vec::new(), by_name: HashMap::new(), native_tables: Tables::default() };
        let natives = self.sources.iter().filter(|file| file.is_native());
        let texts: Vec<Cow<'_, str>> = natives.map(|file| String::from_utf8_lossy(&file.text)).collect();
        let included: Vec<String> = texts.iter().flat_map(|text| native::includes(text)).collect();
        let mut texts = texts.iter();
        for (number, file) in self.sources.iter().enumerate() {
            if file.is_native() {
                let Some(text) = texts.next() else { break };
                let included = included.iter().any(|name| file.name.ends_with(name.as_str()));
                for piece in native::lower_file(text, included, &mut choice.native_tables) {
                    let name = piece.name.clone().unwrap_or_else(|| file.name.to_string());
                    choice.add(name.into(), Chosen::Native(number, piece));
                }
                continue;
            }
            // One of the two threads has all trees of the file.
            for (helper, outlines) in [(false, &mut own), (true, &mut other)] {
                while let Some(Outline { number, name, blank, .. }) =
                    outlines.next_if(|outline| outline.file == number)
                {
                    choice.add(name, Chosen::Go { helper, number, blank });
                }
            }
        }
        // Native templates go by the names of their files, with or without the ending, and where it is not ambiguous without the
        // folder.
        for file in self.sources.iter().filter(|file| file.is_native()) {
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

    /// Lowers what was chosen of what a thread parsed.
    fn lower(&self, parsed: &Parsed<'_>, task: &Task) -> Made {
        let lowered = task.iter().map(|(number, template)| {
            let (file, tree) = &parsed.trees[*number];
            (*template, lower_tree(*file, &self.sources[*file], tree))
        });
        lowered.collect()
    }

    /// Puts together what was lowered.
    fn join(&self, choice: Choice, made: Made) -> Result<Unit, Box<CompileError>> {
        let sources = self.sources;
        let Choice { chosen, mut by_name, native_tables } = choice;
        let mut lowered: Vec<Option<Lowered>> = Vec::new();
        lowered.resize_with(chosen.len(), || None);
        for (template, made) in made {
            lowered[template] = Some(made);
        }
        let mut codes: Vec<Code> = Vec::with_capacity(chosen.len());
        let mut templates = Vec::with_capacity(chosen.len());
        let mut natives: Vec<(String, String)> = Vec::new();
        for (chosen, lowered) in chosen.into_iter().zip(lowered) {
            match (chosen, lowered) {
                (Chosen::Go { .. }, Some(Lowered { mut template, codes: own })) => {
                    template.shift_codes(codes.len());
                    codes.extend(own);
                    templates.push(template);
                }
                (Chosen::Native(number, piece), _) => {
                    let name = piece.name.unwrap_or_else(|| (*sources[number].name).to_owned());
                    templates.push(Template {
                        blank: piece.blank,
                        origins: piece.origins,
                        ..Template::native(&name, number, Kind::Native)
                    });
                    natives.push((name, piece.source));
                }
                // The thread that had it has panicked, which is told when it is joined.
                (Chosen::Go { .. }, None) => {
                    return Err(CompileError::of_no_file(sources, "a thread has ended".to_owned()));
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
        Ok(Unit { codes, sources: sources.to_vec(), templates, by_name })
    }
}

/// The thread that helps, as the first one sees it.
struct Helper {
    outlines: mpsc::Receiver<Outlines>,
    task: mpsc::Sender<Task>,
    made: mpsc::Receiver<Made>,
}

impl Helper {
    // A thread that sends nothing has panicked, and so will the one that joins it.

    fn outlines(&self) -> Outlines {
        self.outlines.recv().unwrap_or_else(|_| Ok(Vec::new()))
    }

    fn made(&self) -> Made {
        self.made.recv().unwrap_or_default()
    }
}

impl Parsed<'_> {
    /// What the choice needs; or the error, if one was met.
    fn outlines(&mut self) -> Outlines {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let trees = self.trees.iter().enumerate();
        let outlines = trees.map(|(number, (file, tree))| Outline {
            file: *file,
            number,
            name: tree.name().into(),
            blank: tree.is_empty(),
        });
        Ok(outlines.collect())
    }

    /// How deep the trees nest.
    fn depth(&self) -> usize {
        self.trees.iter().map(|(_, tree)| tree.depth).max().unwrap_or_default()
    }
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
fn lower_tree(number: usize, file: &SourceFile, tree: &Tree<'_>) -> Lowered {
    let source = Source { name: &file.name, text: &file.text };
    let mut tables = Tables::default();
    let lowered = lower::lower(tree, source, &Functions, &mut tables);
    let name = tree.name();
    let mut codes = Vec::new();
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
    Lowered { template, codes }
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
