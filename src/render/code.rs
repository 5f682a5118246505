//! Lowered source that becomes a Tera instance when it first runs.
//!
//! Of a chart's templates, a render reaches a part: a library chart has hundreds of definitions of which few are used, and
//! most of what a condition guards is switched off. Tera reads what is reached, and nothing else.
//!
//! What Tera makes of source is ten times as large, and stays for the renders to come. Where none will come, that of a file's own
//! template is freed once the file is rendered ([`Code::lend`]).

use std::{
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tera::Tera;

use crate::gotemplate::lower::Tables;

use super::library;

/// One or more templates on a Tera instance of their own.
pub(super) struct Code {
    // Both are large, and most of the one is gone once the other is there.
    source: Mutex<Option<Box<Source>>>,
    tera: OnceLock<Result<Box<Tera>, String>>,
    /// The instance of a code that is lent: until it is freed.
    lent: Option<Mutex<Option<Arc<Tera>>>>,
}

/// What the instance is made of.
pub(super) struct Source {
    /// Names and sources.
    templates: Vec<(String, String)>,
    tables: Tables,
}

impl Source {
    fn compile(self) -> Result<Tera, String> {
        let Self { templates, tables } = self;
        let mut tera = base();
        library::register(&mut tera, tables);
        tera.add_raw_templates(templates).map_err(|error| error.to_string())?;
        Ok(tera)
    }
}

/// A code's Tera instance, for as long as it is used.
pub(super) enum Instance<'c> {
    Kept(&'c Tera),
    Lent(Arc<Tera>),
}

impl Deref for Instance<'_> {
    type Target = Tera;

    fn deref(&self) -> &Tera {
        match self {
            Self::Kept(tera) => tera,
            Self::Lent(tera) => tera,
        }
    }
}

impl Code {
    /// Templates, named and lowered with the same tables, that are compiled when they are first asked for.
    pub(super) fn new(templates: Vec<(String, String)>, tables: Tables) -> Self {
        let source = Mutex::new(Some(Box::new(Source { templates, tables })));
        Self { source, tera: OnceLock::new(), lent: None }
    }

    /// Lets the instance be freed.
    pub(super) fn lend(&mut self) {
        self.lent.get_or_insert_default();
    }

    /// Frees the instance, if it may be.
    pub(super) fn free(&self) {
        if let Some(lent) = &self.lent {
            lock(lent).take();
        }
    }

    /// The source, unless it was compiled already.
    pub(super) fn take_source(&self) -> Option<Box<Source>> {
        lock(&self.source).take()
    }

    /// The Tera instance, or what is wrong with the lowered source: a mistake in the lowering. `again` lowers anew what was freed
    /// and is asked for once more.
    pub(super) fn tera(&self, again: impl FnOnce() -> Option<Box<Source>>) -> Result<Instance<'_>, String> {
        let compile = |source: Option<Box<Source>>| source.ok_or("nothing to compile")?.compile();
        let Some(lent) = &self.lent else {
            let tera = self.tera.get_or_init(|| compile(self.take_source()).map(Box::new));
            return tera.as_deref().map(Instance::Kept).map_err(String::clone);
        };
        let mut lent = lock(lent);
        if let Some(tera) = &*lent {
            return Ok(Instance::Lent(Arc::clone(tera)));
        }
        let tera = Arc::new(compile(self.take_source().or_else(again))?);
        *lent = Some(Arc::clone(&tera));
        Ok(Instance::Lent(tera))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Tera> for Code {
    fn from(tera: Tera) -> Self {
        Self { source: Mutex::new(None), tera: OnceLock::from(Ok(Box::new(tera))), lent: None }
    }
}

/// What every instance begins as: no escaping, and the filters that stand for Go's own constructs.
pub(super) fn base() -> Tera {
    thread_local! {
        // Threads that share one would wait for each other to count what a clone shares.
        static BASE: Tera = {
            let mut tera = Tera::default();
            tera.autoescape_on(Vec::<&str>::new());
            library::register_constructs(&mut tera);
            tera
        };
    }
    BASE.with(Tera::clone)
}
