//! A chart that is ready to be rendered.

use std::{
    collections::HashSet,
    io,
    mem::ManuallyDrop,
    rc::Rc,
    sync::{Arc, OnceLock},
    thread,
};

use tera::Value;

use crate::{
    chart::{Chart, Unread},
    threads::{on_large_stack, spawn_helper},
    value::typed,
};

use super::{
    Afresh, Capabilities, Error, Generated, GeneratedValues, Limits, Lookup, LookupRecord, NoCluster,
    Release, Secrets,
    ahead::{Ahead, Ending, Made},
    compile::{self, CompileError, compile, is_large},
    context::{self, ChartScope, Roots},
    error::{REFUSAL, exec_error, parse_error},
    escape, native,
    run::{Run, Stop},
    tpl,
    unit::{SourceFile, TemplateId, Unit},
};

/// What Go prints where there is nothing to print. Helm takes it out of what templates write.
pub(super) const NO_VALUE: &str = "<no value>";

/// A chart with its templates compiled. One can be rendered any number of times, on any number of threads at once.
#[derive(Clone)]
pub struct Program {
    shared: Arc<Shared>,
}

/// What all renders of a chart share.
pub(super) struct Shared {
    pub unit: Arc<Unit>,
    pub tpl: tpl::Cache,
    /// Files of the charts that were left unread.
    pub unread: Vec<Unread>,
    charts: Vec<ChartScope>,
    /// The files to render, in Helm's order, each with its chart.
    files: Vec<(Arc<str>, usize)>,
    /// Whether there is so much of it that a second thread is worth its while.
    large: bool,
}

/// What a render depends on beside the chart.
#[derive(Clone)]
pub struct Inputs {
    /// The values: user's over defaults, coalesced for the whole tree of charts.
    pub values: Value,
    /// The release.
    pub release: Release,
    /// The cluster's version and APIs.
    pub capabilities: Arc<Capabilities>,
    /// The cluster's objects.
    pub lookup: Arc<dyn Lookup>,
    /// Generated values of renders before.
    pub generated: Arc<dyn GeneratedValues>,
    /// What the render may use.
    pub limits: Limits,
    /// Whether `getHostByName` may ask the resolver. What it answers then is no part of the other inputs.
    pub resolve_names: bool,
}

impl Inputs {
    /// What `helm template NAME CHART` renders with: no cluster, nothing kept.
    pub fn offline(values: Value, release: Release) -> Self {
        static CAPABILITIES: OnceLock<Arc<Capabilities>> = OnceLock::new();
        Self {
            values,
            release,
            capabilities: Arc::clone(CAPABILITIES.get_or_init(Arc::default)),
            lookup: Arc::new(NoCluster),
            generated: Arc::new(Afresh),
            limits: Limits::default(),
            resolve_names: false,
        }
    }
}

/// What a chart renders to.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The files, in the order in which Helm renders them: deeper paths first. Those named `NOTES.txt` are notes.
    pub files: Vec<RenderedFile>,
    /// What the templates looked up in the cluster.
    pub lookups: Vec<LookupRecord>,
    /// The generated values that the templates used.
    pub generated: Vec<Generated>,
    /// What the render learnt from Secrets: not to be repeated in whatever is said of its output.
    pub secrets: Secrets,
}

/// A template file, rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedFile {
    /// Its name: `chart/templates/file.yaml`.
    pub name: Arc<str>,
    /// What it wrote. Any bytes, as its template had them.
    pub data: Vec<u8>,
}

impl RenderedFile {
    /// What it wrote as text, with what is not UTF-8 replaced.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.data)
    }

    /// Whether it is what a chart tells the user after an installation.
    #[must_use]
    pub fn is_notes(&self) -> bool {
        self.name.ends_with("NOTES.txt")
    }
}

impl Rendered {
    /// What templates wrote for the cluster, all but the notes: the name of each and its content.
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let manifests = self.files.iter().filter(|file| !file.is_notes());
        manifests.map(|file| (&*file.name, &*file.data))
    }
}

impl Program {
    /// Compiles the templates of a chart whose dependencies have been processed.
    ///
    /// # Errors
    /// When a template does not parse, in Helm's words.
    pub fn new(chart: &Chart) -> Result<Self, Error> {
        Self::compile(chart, false)
    }

    /// The same, of a chart that is rendered once: what was made of a file's template is freed when the file is rendered.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn for_one_render(chart: &Chart) -> Result<Self, Error> {
        Self::compile(chart, true)
    }

    fn compile(chart: &Chart, once: bool) -> Result<Self, Error> {
        let mut unread = Vec::new();
        let mut charts = context::scopes(chart, &mut unread);
        let mut found = Found::default();
        found.collect(chart, &charts);
        let mut found = found.files;
        // Deeper paths first, and of two as deep the later one: definitions of parents win over those of subcharts.
        // A native template takes the place that the file it writes would have.
        found.sort_by(|(a, _), (b, _)| {
            fn output(name: &str) -> &str {
                name.strip_suffix(native::EXTENSION).unwrap_or(name)
            }
            let depth = |name: &str| memchr::memchr_iter(b'/', name.as_bytes()).count();
            depth(&b.name).cmp(&depth(&a.name)).then_with(|| output(&b.name).cmp(output(&a.name)))
        });
        let partial = |name: &str| name.rsplit('/').next().is_some_and(|base| base.starts_with('_'));
        let files = found
            .iter()
            .filter(|(file, _)| !partial(&file.name))
            .map(|(file, chart)| (Arc::clone(&file.name), *chart))
            .collect::<Vec<_>>();
        context::note_files(&mut charts, &files);
        let sources: Vec<_> = found.into_iter().map(|(file, _)| file).collect();
        let mut unit = compile(&sources).map_err(|error| compile_error(*error))?;
        if once {
            unit.lend_files();
        }
        let large = is_large(&sources);
        let mut shared =
            Shared { unit: Arc::new(unit), tpl: tpl::Cache::default(), unread, charts, files, large };
        if sources.iter().any(SourceFile::is_native) {
            // Tera looks into maps by itself.
            shared.charts = shared.charts_read_whole()?;
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether a chart has so many templates that a second thread is worth its while.
    #[must_use]
    pub fn is_large(chart: &Chart) -> bool {
        fn bytes(chart: &Chart) -> usize {
            let own: usize = chart.templates.iter().map(|file| file.data.len()).sum();
            own + chart.dependencies.iter().map(bytes).sum::<usize>()
        }
        bytes(chart) >= compile::LARGE
    }

    /// Renders the chart.
    ///
    /// # Errors
    /// What Helm says when a template fails, whole; or that a limit was met.
    pub fn render(&self, inputs: &Inputs) -> Result<Rendered, Error> {
        self.render_on_thread(inputs, false)
    }

    /// Frees the texts of the files, which are most of a large chart, and leaves everything else as it is: for a process that has
    /// rendered and is about to end.
    pub fn leave(self) {
        let Some(shared) = Arc::into_inner(self.shared) else { return };
        let mut shared = ManuallyDrop::new(shared);
        if let Some(unit) = Arc::get_mut(&mut shared.unit) {
            unit.sources = Vec::new();
        }
    }

    /// Renders the chart, letting pass what it refuses by itself with `fail` and `required`, as Helm's linter does.
    ///
    /// # Errors
    /// As [`Program::render`].
    pub fn lint(&self, inputs: &Inputs) -> Result<Rendered, Error> {
        self.render_on_thread(inputs, true)
    }

    fn render_on_thread(&self, inputs: &Inputs, lenient: bool) -> Result<Rendered, Error> {
        on_large_stack(|| self.render_here(inputs, lenient, None))
            .unwrap_or_else(|error| Err(no_thread(&error)))
    }

    /// Renders the chart as [`Program::render`] does, with a second thread that helps if the chart is large: for a process that
    /// renders once and has nothing else to do.
    ///
    /// # Errors
    /// As [`Program::render`].
    pub fn render_on_two_threads(&self, inputs: &Inputs) -> Result<Rendered, Error> {
        // What was looked up on the network is no part of the inputs, so that two threads might not agree.
        if !self.shared.large || inputs.resolve_names {
            return self.render(inputs);
        }
        let ahead = Ahead::new(self.shared.files.len());
        thread::scope(|scope| {
            spawn_helper(scope, || self.render_ahead(inputs, &ahead));
            let rendered = on_large_stack(|| self.render_here(inputs, false, Some(&ahead)));
            ahead.end();
            rendered.unwrap_or_else(|error| Err(no_thread(&error)))
        })
    }

    fn run(&self, inputs: &Inputs) -> Run {
        let run = Run::new(
            Arc::clone(&self.shared),
            Arc::clone(&inputs.lookup),
            Arc::clone(&inputs.generated),
            inputs.limits,
        );
        run.scope.set_resolves_names(inputs.resolve_names);
        run
    }

    fn roots<'c>(&'c self, charts: &'c [ChartScope], run: &Run, inputs: &Inputs) -> Roots<'c> {
        let capabilities = inputs.capabilities.object();
        let files = (charts, &*self.shared.files);
        Roots::new(run, files, &inputs.values, &inputs.release, &capabilities)
    }

    fn render_here(&self, inputs: &Inputs, lenient: bool, ahead: Option<&Ahead>) -> Result<Rendered, Error> {
        if self.shared.unread.is_empty() {
            return self.render_with(&self.shared.charts, inputs, lenient, ahead);
        }
        typed::unread_was_met();
        let rendered = self.render_with(&self.shared.charts, inputs, lenient, ahead);
        if typed::unread_was_met() {
            // A template took files from `.Files`, or all of the dot, as the map that it is.
            return self.render_with(&self.shared.charts_read_whole()?, inputs, lenient, None);
        }
        rendered
    }

    fn render_with(
        &self,
        charts: &[ChartScope],
        inputs: &Inputs,
        lenient: bool,
        ahead: Option<&Ahead>,
    ) -> Result<Rendered, Error> {
        let run = Rc::new(self.run(inputs));
        run.scope.set_lenient(lenient);
        let roots = self.roots(charts, &run, inputs);
        if ahead.is_some() {
            run.scope.watch(roots.values());
        }
        let files = run.enter(|| self.render_files(&run, &roots, ahead));
        let files = files.map_err(|error| error.hiding(&run.met.secrets()))?;
        Ok(Rendered {
            files,
            lookups: run.lookups.take(),
            generated: run.made.take(),
            secrets: run.met.secrets(),
        })
    }

    fn render_files(
        &self,
        run: &Run,
        roots: &Roots<'_>,
        ahead: Option<&Ahead>,
    ) -> Result<Vec<RenderedFile>, Error> {
        let mut files = Vec::with_capacity(self.shared.files.len());
        for (number, (name, _)) in self.shared.files.iter().enumerate() {
            // The file's own template, or a definition of that very name.
            let Some(template) = self.shared.unit.find(name) else { continue };
            let made = ahead.and_then(|ahead| ahead.take(number)).filter(|made| run.charge(made.spent));
            let data = match made {
                Some(made) => made.data,
                None => {
                    let data = self.render_file(run, roots, number, template)?;
                    if let Some(ahead) = ahead
                        && !roots.are_untouched(run)
                    {
                        ahead.end();
                    }
                    data
                }
            };
            files.push(RenderedFile { name: output_name(name), data });
        }
        Ok(files)
    }

    fn render_file(
        &self,
        run: &Run,
        roots: &Roots<'_>,
        number: usize,
        template: TemplateId,
    ) -> Result<Vec<u8>, Error> {
        let name = &self.shared.files[number].0;
        let mut out = Vec::with_capacity(1024);
        run.file.replace(Arc::clone(name));
        let dot = roots.dot(run, number);
        run.execute(0, template, 0, dot, &mut out).map_err(|stop| match stop {
            Stop::Error(error) => exec_error(name, &error),
            Stop::Limit(text) => Error::new(format!("{name}: {text}")),
            Stop::Jump(keyword) => Error::new(format!("{name}: {keyword} outside of a loop")),
        })?;
        self.shared.unit.free(template);
        Ok(escape::decode(strip_no_value(out)))
    }

    /// Renders files from the last one on, for the thread that renders them from the first.
    fn render_ahead(&self, inputs: &Inputs, ahead: &Ahead) {
        let _ending = Ending(ahead);
        let run = Rc::new(self.run(inputs).ahead(ahead.over()));
        let roots = self.roots(&self.shared.charts, &run, inputs);
        run.scope.watch(roots.values());
        run.enter(|| {
            while let Some(number) = ahead.claim() {
                let before = run.spent();
                let template = self.shared.unit.find(&self.shared.files[number].0);
                let data =
                    template.and_then(|template| self.render_file(&run, &roots, number, template).ok());
                let met_unread = !self.shared.unread.is_empty() && typed::unread_was_met();
                let untouched = roots.are_untouched(&run) && !met_unread;
                let made = data.filter(|_| untouched);
                ahead.put(number, made.map(|data| Made { data, spent: run.spent().since(before) }));
                if !untouched {
                    break;
                }
            }
        });
    }
}

impl Shared {
    /// The charts with none of their files left unread.
    fn charts_read_whole(&self) -> Result<Vec<ChartScope>, Error> {
        let charts = self.charts.iter().map(|chart| chart.read_whole(&self.unread));
        charts.collect::<Result<_, _>>().map_err(|error| Error::new(error.to_string()))
    }
}

fn no_thread(error: &io::Error) -> Error {
    Error::new(format!("cannot start a thread to render: {error}"))
}

/// The name under which a file's output goes: that of a native template without its extension.
pub(super) fn output_name(name: &Arc<str>) -> Arc<str> {
    match name.strip_suffix(native::EXTENSION) {
        Some(stem) => stem.into(),
        None => Arc::clone(name),
    }
}

fn strip_no_value(out: Vec<u8>) -> Vec<u8> {
    let finder = memchr::memmem::Finder::new(NO_VALUE);
    if finder.find(&out).is_none() {
        return out;
    }
    let mut kept = Vec::with_capacity(out.len());
    let mut rest = 0;
    for at in finder.find_iter(&out) {
        kept.extend_from_slice(&out[rest..at]);
        rest = at + NO_VALUE.len();
    }
    kept.extend_from_slice(&out[rest..]);
    kept
}

/// A text without what Go prints for nothing.
pub(super) fn without_no_value(text: Value) -> Value {
    match text.as_str() {
        Some(plain) if memchr::memmem::find(plain.as_bytes(), NO_VALUE.as_bytes()).is_some() => {
            Value::from(plain.replace(NO_VALUE, ""))
        }
        _ => text,
    }
}

/// The templates of a tree of charts.
#[derive(Default)]
struct Found {
    /// The files, each with the number of its chart.
    files: Vec<(SourceFile, usize)>,
    names: HashSet<Arc<str>>,
    charts: usize,
}

impl Found {
    fn collect(&mut self, chart: &Chart, scopes: &[ChartScope]) {
        let own = self.charts;
        self.charts += 1;
        for file in chart.templates.iter() {
            let base = file.name.rsplit('/').next().unwrap_or(&file.name);
            if chart.is_library() && !base.starts_with('_') {
                continue;
            }
            let name: Arc<str> = format!("{}/{}", scopes[own].path, file.name).into();
            if !self.names.insert(Arc::clone(&name)) {
                self.files.retain(|(other, _)| other.name != name);
            }
            self.files.push((SourceFile { name, text: file.data.clone() }, own));
        }
        for sub in &chart.dependencies {
            self.collect(sub, scopes);
        }
    }
}

fn compile_error(error: CompileError) -> Error {
    if error.go {
        return parse_error(&error.file, &error.text, error.place);
    }
    let line = error.place.line;
    let message = format!("parse error at ({}:{line}): {}", error.file, error.text);
    Error { message, places: vec![error.place], refused: false }
}

/// Renders a text as a Go template without data and without a chart, as `--name-template` wants it.
///
/// # Errors
/// In the words of Go.
pub fn text(name: &str, text: &str) -> Result<String, Error> {
    let source = SourceFile { name: name.into(), text: text.as_bytes().to_vec().into() };
    let unit = compile(&[source]).map_err(|error| Error::new(error.text))?;
    let shared = Arc::new(Shared {
        unit: Arc::new(unit),
        tpl: tpl::Cache::default(),
        unread: Vec::new(),
        charts: Vec::new(),
        files: Vec::new(),
        large: false,
    });
    let run = Rc::new(Run::new(
        Arc::clone(&shared),
        Arc::new(NoCluster),
        Arc::new(Afresh),
        Limits { depth: 16, ..Limits::default() },
    ));
    let mut out = Vec::new();
    let Some(template) = shared.unit.find(name) else { return Ok(String::new()) };
    run.enter(|| run.execute(0, template, 0, Value::none(), &mut out)).map_err(|stop| match stop {
        // Sprig's own `fail`, which says what it was told and no more.
        Stop::Error(error) => Error::new(error.whole().replace(REFUSAL.0, "").replace(REFUSAL.1, "")),
        Stop::Limit(text) => Error::new(text),
        Stop::Jump(keyword) => Error::new(keyword),
    })?;
    Ok(String::from_utf8_lossy(&escape::decode(out)).into_owned())
}
