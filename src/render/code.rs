//! Lowered source that becomes a Tera instance when it first runs.
//!
//! Of a chart's templates, a render reaches a part: a library chart has hundreds of definitions of which few are used, and
//! most of what a condition guards is switched off. Tera reads what is reached, and nothing else.

use std::sync::{Mutex, OnceLock, PoisonError};

use tera::Tera;

use crate::gotemplate::lower::Tables;

use super::library;

/// One or more templates on a Tera instance of their own.
pub(super) struct Code {
    // Both are large, and most of the one is gone once the other is there.
    source: Mutex<Option<Box<Source>>>,
    tera: OnceLock<Result<Box<Tera>, String>>,
}

/// What the instance is made of.
struct Source {
    /// Names and sources.
    templates: Vec<(String, String)>,
    tables: Tables,
}

impl Code {
    /// Templates, named and lowered with the same tables, that are compiled when they are first asked for.
    pub(super) fn new(templates: Vec<(String, String)>, tables: Tables) -> Self {
        Self { source: Mutex::new(Some(Box::new(Source { templates, tables }))), tera: OnceLock::new() }
    }

    /// The Tera instance, or what is wrong with the lowered source: a mistake in the lowering.
    pub(super) fn tera(&self) -> Result<&Tera, &str> {
        let tera = self.tera.get_or_init(|| {
            let source = self.source.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(source) = source else { return Err("nothing to compile".into()) };
            let Source { templates, tables } = *source;
            let mut tera = base();
            library::register(&mut tera, tables);
            tera.add_raw_templates(templates).map_err(|error| error.to_string())?;
            Ok(Box::new(tera))
        });
        tera.as_deref().map_err(String::as_str)
    }
}

impl From<Tera> for Code {
    fn from(tera: Tera) -> Self {
        Self { source: Mutex::new(None), tera: OnceLock::from(Ok(Box::new(tera))) }
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
