//! The state of one render, and how the filters of the Tera instance reach it.
//!
//! Tera's filters are shared by all renders, so what belongs to one render is found through the thread that it runs on.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io,
    ops::Deref,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use tera::{Context, TeraResult, Value, value::Key};

use crate::value::Scope;

use super::{
    Generated, GeneratedValues, Limits, Lookup, LookupRecord,
    error::GoError,
    secrets::Met,
    unit::{Running, TemplateId, Unit},
};

thread_local! {
    static RUN: RefCell<Option<Rc<Run>>> = const { RefCell::new(None) };
}

/// What went wrong in a filter, on its way out through Tera, which keeps only text.
#[derive(Debug)]
pub(super) enum Fault {
    /// Go's message; the place is where the filter stands.
    Message(String),
    /// A function failed.
    Calling { name: Box<str>, error: Box<GoError> },
    /// An argument has a type that the function does not take. Without `got` it is nil.
    Argument { at: usize, expected: &'static str, got: Option<Box<str>> },
    /// What already is an error of a template, and passes through as it is.
    Through(Box<GoError>),
    /// A limit of the render was met.
    Limit(String),
    /// A jump out of a block that was split off.
    Jump(&'static str),
}

/// Why a template did not run to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// An error, in Go's words.
    Error(Box<GoError>),
    /// A limit of the render was met.
    Limit(String),
    /// A jump out of a block that was split off.
    Jump(&'static str),
}

impl Fault {
    /// The same, with the site of the template at which it happened.
    pub(super) fn at(self, run: &Run, site: u32) -> Self {
        run.fault_site.set(Some(site));
        self
    }
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Error(error) => Self::Through(error),
            Stop::Limit(text) => Self::Limit(text),
            Stop::Jump(keyword) => Self::Jump(keyword),
        }
    }
}

/// A template that is running.
pub(super) struct Frame {
    /// Which of the render's units it belongs to, and which template of that.
    pub unit: usize,
    pub template: TemplateId,
    /// Where names are looked up.
    pub names: usize,
    /// The dot that it was invoked with.
    pub dot: Value,
    /// Variables of a template that had to be split.
    pub cells: Vec<Value>,
    /// Whether it has ranged over a number, whose elements are of its type and in no `interface {}`.
    pub counted: bool,
    /// The jump that a block which was split off ended with.
    pub left: Option<&'static str>,
}

/// Where template names are looked up: in a text given to `tpl`, then where that was called.
#[derive(Clone, Copy)]
pub(super) struct NameScope {
    pub unit: usize,
    pub outer: Option<usize>,
}

/// The state of one render.
pub(super) struct Run {
    pub scope: Scope,
    pub program: Arc<super::program::Shared>,
    pub lookup: Arc<dyn Lookup>,
    pub generated: Arc<dyn GeneratedValues>,
    pub limits: Limits,
    pub frames: RefCell<Vec<Frame>>,
    /// The chart's own unit first, then those of the texts that were given to `tpl`.
    pub units: RefCell<Vec<Arc<Unit>>>,
    pub names: RefCell<Vec<NameScope>>,
    /// How often each name is being included right now.
    pub included: RefCell<HashMap<Box<str>, u32>>,
    pub lookups: RefCell<Vec<LookupRecord>>,
    pub made: RefCell<Vec<Generated>>,
    /// What must not be repeated.
    pub met: Met,
    /// The file that is being rendered.
    pub file: RefCell<Arc<str>>,
    fault: RefCell<Option<Fault>>,
    /// Which site of the template the fault is at, if the filter knows.
    fault_site: Cell<Option<u32>>,
    depth: Cell<usize>,
    written: Cell<u64>,
    made_bytes: Cell<u64>,
    ticks: Cell<u32>,
    deadline: Option<Instant>,
    /// For a render that is ahead of the one that counts: becomes true when it shall end.
    ahead: Option<Arc<AtomicBool>>,
}

/// What a render has taken of its limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    written: u64,
    made: u64,
    kept: usize,
}

impl Spent {
    /// What was taken since.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            written: self.written - before.written,
            made: self.made - before.made,
            kept: self.kept.saturating_sub(before.kept),
        }
    }
}

/// A unit of a render. That of the chart is not counted, which would have threads that render the same chart wait for each
/// other.
pub(super) enum UnitRef<'r> {
    OfChart(&'r Unit),
    OfText(Arc<Unit>),
}

impl Deref for UnitRef<'_> {
    type Target = Unit;

    fn deref(&self) -> &Unit {
        match self {
            Self::OfChart(unit) => unit,
            Self::OfText(unit) => unit,
        }
    }
}

impl Run {
    pub(super) fn new(
        program: Arc<super::program::Shared>,
        lookup: Arc<dyn Lookup>,
        generated: Arc<dyn GeneratedValues>,
        limits: Limits,
    ) -> Self {
        let units = vec![Arc::clone(&program.unit)];
        let scope = Scope::new();
        scope.set_text_limit(limits.text_bytes);
        Self {
            scope,
            program,
            lookup,
            generated,
            limits,
            frames: RefCell::default(),
            units: RefCell::new(units),
            names: RefCell::new(vec![NameScope { unit: 0, outer: None }]),
            included: RefCell::default(),
            lookups: RefCell::default(),
            made: RefCell::default(),
            met: Met::default(),
            file: RefCell::new("".into()),
            fault: RefCell::default(),
            fault_site: Cell::default(),
            depth: Cell::new(0),
            written: Cell::new(0),
            made_bytes: Cell::new(0),
            ticks: Cell::new(0),
            deadline: Instant::now().checked_add(limits.time),
            ahead: None,
        }
    }

    /// The same for a render that is ahead of the one that counts, until `over` becomes true.
    pub(super) fn ahead(self, over: Arc<AtomicBool>) -> Self {
        Self { ahead: Some(over), ..self }
    }

    /// Refuses what must be done by the render that counts.
    pub(super) fn must_count(&self) -> Result<(), String> {
        if self.ahead.is_some() { Err("left to another thread".to_owned()) } else { Ok(()) }
    }

    /// What was taken of the limits so far.
    pub(super) fn spent(&self) -> Spent {
        Spent { written: self.written.get(), made: self.made_bytes.get(), kept: self.scope.kept() }
    }

    /// Counts what was taken by a render ahead of this one. False if that is too much, and then it is not counted.
    pub(super) fn charge(&self, spent: Spent) -> bool {
        let (written, made) = (self.written.get() + spent.written, self.made_bytes.get() + spent.made);
        if written > self.limits.output_bytes
            || made > self.limits.made_bytes
            || !self.scope.keep_as_well(spent.kept)
        {
            return false;
        }
        self.written.set(written);
        self.made_bytes.set(made);
        true
    }

    /// Makes this the render of the present thread while `body` runs.
    pub(super) fn enter<T>(self: &Rc<Self>, body: impl FnOnce() -> T) -> T {
        struct Leave(Option<Rc<Run>>);
        impl Drop for Leave {
            fn drop(&mut self) {
                RUN.set(self.0.take());
            }
        }
        let _leave = Leave(RUN.replace(Some(Rc::clone(self))));
        body()
    }

    /// Counts what a function made, where it is long: as much might be held at once.
    #[inline]
    pub(super) fn account(&self, value: &Value) -> Result<(), Fault> {
        const LONG: usize = 1024;
        let long = match (value.as_str(), value.as_array(), value.as_map()) {
            (Some(text), ..) if text.len() > LONG => text.len(),
            (_, Some(items), _) if items.len() > LONG => size_of_val(items),
            (.., Some(map)) if map.len() > LONG => map.len() * size_of::<(Key<'_>, Value)>(),
            _ => return Ok(()),
        };
        if value.is_string() && long > self.limits.text_bytes {
            let limit = self.limits.text_bytes;
            return Err(Fault::Limit(format!("the result is longer than {limit} bytes")));
        }
        self.spend(long / 64);
        self.made(long)
    }

    /// Counts bytes that were made.
    pub(super) fn made(&self, bytes: usize) -> Result<(), Fault> {
        let made = self.made_bytes.get().saturating_add(bytes as u64);
        self.made_bytes.set(made);
        if made > self.limits.made_bytes {
            let limit = self.limits.made_bytes;
            return Err(Fault::Limit(format!(
                "the templates make more than {limit} bytes of texts and lists"
            )));
        }
        Ok(())
    }

    /// Goes one level deeper while `body` runs, if that is not too deep.
    pub(super) fn deeper<T>(&self, body: impl FnOnce() -> T) -> Result<T, String> {
        let depth = self.depth.get();
        if depth >= self.limits.depth {
            return Err(format!("templates are nested deeper than {} levels", self.limits.depth));
        }
        self.depth.set(depth + 1);
        let result = body();
        self.depth.set(depth);
        Ok(result)
    }

    /// Has the clock looked at sooner where a function is given much.
    #[inline]
    pub(super) fn read(&self, args: &[Value]) {
        const LONG: usize = 1024;
        let length = |value: &Value| {
            let text = value.as_str().map(str::len);
            text.or_else(|| value.as_array().map(<[Value]>::len))
                .or_else(|| value.as_map().map(|map| map.len()))
        };
        let long: usize = args.iter().filter_map(length).sum();
        if long > LONG {
            self.spend(long / 64);
        }
    }

    /// Has the clock looked at sooner, after something that took as long as so many steps.
    pub(super) fn spend(&self, steps: usize) {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        // The last step before the clock is looked at is not skipped.
        let left = 1023 - self.ticks.get() % 1024;
        self.ticks.set(self.ticks.get().wrapping_add(steps.min(left)));
    }

    /// Counts a step, and looks at the clock now and then.
    #[inline]
    pub(super) fn tick(&self) -> Result<(), Fault> {
        let ticks = self.ticks.get().wrapping_add(1);
        self.ticks.set(ticks);
        if ticks.is_multiple_of(1024) {
            return self.check_time();
        }
        Ok(())
    }

    fn check_time(&self) -> Result<(), Fault> {
        if self.ahead.as_ref().is_some_and(|over| over.load(Ordering::Relaxed)) {
            return Err(Fault::Limit("no longer wanted".to_owned()));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let seconds = self.limits.time.as_secs_f64();
            return Err(Fault::Limit(format!("rendering took longer than {seconds} seconds")));
        }
        Ok(())
    }

    /// Runs a template.
    pub(super) fn execute(
        &self,
        unit: usize,
        template: TemplateId,
        names: usize,
        dot: Value,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        self.check_time().map_err(|_| Stop::Limit("rendering took too long".to_owned()))?;
        let code = self.unit(unit);
        let context = code.context(self, template, &dot)?;
        let no_dot = dot.is_none();
        self.frames.borrow_mut().push(Frame {
            unit,
            template,
            names,
            dot,
            cells: Vec::new(),
            counted: false,
            left: None,
        });
        let result = self.deeper(|| code.render_to(template, &context, Sink { run: self, out }));
        let frame = self.frames.borrow_mut().pop();
        result.map_err(Stop::Limit)?.map_err(|error| {
            let cells = frame.as_ref().map(|frame| &*frame.cells).unwrap_or_default();
            self.explain(&code, Running { template, outlined: None, no_dot, cells, site: None }, &error)
        })
    }

    /// Runs a block that was split off from a template.
    pub(super) fn render_block(
        &self,
        code: &Unit,
        template: TemplateId,
        block: usize,
        context: &Context,
        out: &mut Vec<u8>,
    ) -> TeraResult<()> {
        code.render_block_to(template, block, context, Sink { run: self, out })
    }

    /// What an error of Tera was in the template that ran.
    pub(super) fn explain(&self, code: &Unit, running: Running<'_>, error: &tera::Error) -> Stop {
        let running = Running { site: self.fault_site.take(), ..running };
        match self.fault.take() {
            Some(Fault::Through(error)) => Stop::Error(error),
            Some(Fault::Limit(text)) => Stop::Limit(text),
            Some(Fault::Jump(keyword)) => Stop::Jump(keyword),
            fault => {
                // A recursion may have had more levels than there is time left to tell of.
                if self.check_time().is_err() {
                    return Stop::Limit("rendering took too long".to_owned());
                }
                let error = code.explain(running, fault, error);
                let limit = self.limits.text_bytes;
                if error.len() > limit {
                    return Stop::Limit(format!("the text of an error is longer than {limit} bytes"));
                }
                Stop::Error(Box::new(error))
            }
        }
    }

    /// The dot that the running template was invoked with.
    pub(super) fn dot(&self) -> Value {
        self.frames.borrow().last().map_or_else(Value::none, |frame| frame.dot.clone())
    }

    /// One of the units.
    #[inline]
    pub(super) fn unit(&self, number: usize) -> UnitRef<'_> {
        match number {
            0 => UnitRef::OfChart(&self.program.unit),
            _ => UnitRef::OfText(Arc::clone(&self.units.borrow()[number])),
        }
    }

    /// Keeps a fault until it has passed through Tera.
    pub(super) fn fail(&self, fault: Fault) -> tera::Error {
        let mut kept = self.fault.borrow_mut();
        *kept = Some(fault);
        tera::Error::message("")
    }

    /// The template that a name stands for in the present frame: its unit, and the template in it.
    pub(super) fn resolve(&self, name: &str) -> Option<(usize, TemplateId)> {
        let mut at = self.frames.borrow().last().map_or(0, |frame| frame.names);
        let (scopes, units) = (self.names.borrow(), self.units.borrow());
        let mut blank = None;
        loop {
            let NameScope { unit, outer } = scopes[at];
            if let Some(template) = units[unit].find(name) {
                // A blank definition does not replace another one.
                if !units[unit].is_blank(template) || outer.is_none() {
                    return Some((unit, template));
                }
                blank = blank.or(Some((unit, template)));
            }
            match outer {
                Some(outer) => at = outer,
                None => return blank,
            }
        }
    }
}

/// The render of the present thread, for filters.
///
/// # Errors
/// When the thread renders nothing: only when someone uses the Tera instance past [`super::Program`].
pub(super) fn with<T>(body: impl FnOnce(&Run) -> Result<T, Fault>) -> TeraResult<T> {
    RUN.with_borrow(|run| match run {
        Some(run) => body(run).map_err(|fault| run.fail(fault)),
        None => Err(tera::Error::message("no render is under way")),
    })
}

/// Where Tera writes to.
struct Sink<'r> {
    run: &'r Run,
    out: &'r mut Vec<u8>,
}

impl io::Write for Sink<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let run = self.run;
        let written = run.written.get() + bytes.len() as u64;
        run.written.set(written);
        if written > run.limits.output_bytes {
            let limit = run.limits.output_bytes;
            let _ = run.fail(Fault::Limit(format!("the templates write more than {limit} bytes")));
            return Err(io::Error::other("limit"));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
