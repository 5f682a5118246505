//! `tpl`: a text rendered as a template, with templates of its own that it may define.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tera::Value;

use crate::{
    chart::Content,
    value::{quote::quote, typed},
};

use super::{
    call::OwnError,
    compile,
    error::GoError,
    include, program,
    run::{NameScope, Run, Stop},
    unit::{SourceFile, Unit},
};

/// The name under which Helm parses such a text.
const NAME: &str = "gotpl";

/// How many bytes of texts a chart's cache holds.
const CACHE_BYTES: usize = 1 << 20;

/// How much more a compiled text takes, about.
const COMPILED: usize = 20;

/// The texts of one chart that were compiled already.
#[derive(Default)]
pub(super) struct Cache {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    units: HashMap<Content, Arc<Unit>>,
    bytes: usize,
}

impl Cache {
    fn get(&self, text: &[u8]) -> Option<Arc<Unit>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).units.get(text).cloned()
    }

    fn put(&self, text: Content, unit: Arc<Unit>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.bytes + text.len() > CACHE_BYTES {
            inner.units.clear();
            inner.bytes = 0;
        }
        inner.bytes += text.len();
        inner.units.insert(text, unit);
    }
}

/// `tpl TEXT DATA`
pub(super) fn tpl(run: &Run, args: &[Value]) -> Result<Value, OwnError> {
    let [text, data] = args else { return Ok(Value::from("")) };
    let bytes = typed::text_bytes(text).unwrap_or_default();
    if memchr::memmem::find(bytes, b"{{").is_none() {
        return Ok(match text.as_str() {
            Some(plain) if memchr::memmem::find(bytes, program::NO_VALUE.as_bytes()).is_some() => {
                Value::from(plain.replace(program::NO_VALUE, ""))
            }
            Some(_) => text.clone(),
            None => Value::from(&*super::escape::encode(bytes)),
        });
    }
    let unit = match run.program.tpl.get(bytes) {
        Some(unit) => unit,
        None => compile(run, bytes)?,
    };
    // Those around this one are still running, and no other is.
    let around = run.units.borrow().len();
    let number = {
        let mut units = run.units.borrow_mut();
        match units.iter().rposition(|known| Arc::ptr_eq(known, &unit)) {
            Some(number) => number,
            None => {
                units.push(Arc::clone(&unit));
                around
            }
        }
    };
    let names = {
        let outer = run.frames.borrow().last().map_or(0, |frame| frame.names);
        let mut names = run.names.borrow_mut();
        names.push(NameScope { unit: number, outer: Some(outer) });
        names.len() - 1
    };
    let mut out = Vec::with_capacity(bytes.len() * 2);
    let result = match unit.find(NAME) {
        Some(template) => run.execute(number, template, names, data.clone(), &mut out),
        None => Ok(()),
    };
    run.names.borrow_mut().truncate(names);
    run.units.borrow_mut().truncate(around);
    match result {
        Ok(()) => {
            let text = include::text(out).map_err(|stop| OwnError::Fault(stop.into()))?;
            Ok(program::without_no_value(text))
        }
        Err(Stop::Error(error)) => {
            let before = format!("error during tpl function execution for {}: ", quote(bytes));
            Err(GoError::wrap(before, error).into())
        }
        Err(stop) => Err(OwnError::Fault(stop.into())),
    }
}

fn compile(run: &Run, bytes: &[u8]) -> Result<Arc<Unit>, OwnError> {
    run.made(bytes.len().saturating_mul(COMPILED)).map_err(OwnError::Fault)?;
    run.spend(bytes.len() / COMPILED);
    let text = Content::from(bytes.to_vec());
    let source = SourceFile { name: NAME.into(), text: text.clone() };
    match compile::compile(&[source]) {
        Ok(unit) => {
            let unit = Arc::new(unit);
            run.program.tpl.put(text, Arc::clone(&unit));
            Ok(unit)
        }
        Err(error) => {
            let before = format!("cannot parse template {}: ", quote(bytes));
            Err(GoError::wrap(before, Box::new(GoError::new(error.text))).into())
        }
    }
}
