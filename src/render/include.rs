//! Running one template from another: `include`, `{{template}}`, and blocks that were split off.

use tera::{Context, Value};

use crate::value::{quote::quote, typed};

use super::{
    call::OwnError,
    error::GoError,
    run::{Fault, Run, Stop, UnitRef},
    unit::{Running, TemplateId},
};

/// How often Helm lets one name be included within itself.
const MAX_NESTED: u32 = 1000;

/// `include NAME DATA`
pub(super) fn include(run: &Run, args: &[Value]) -> Result<Value, OwnError> {
    let [name, data] = args else { return Ok(Value::from("")) };
    // No template has a name that is not UTF-8, but the error tells it.
    let bytes = typed::text_bytes(name).unwrap_or_default();
    let name = name.as_str().unwrap_or_default();
    let nested = run.included.borrow().get(name).copied().unwrap_or(0);
    if nested > MAX_NESTED {
        let text =
            format!("rendering template has a nested reference name: {name}: unable to execute template");
        return Err(GoError::new(text).into());
    }
    let Some((unit, template)) = run.resolve(name) else {
        let text = format!("template: no template {} associated with template \"gotpl\"", quote(bytes));
        return Err(GoError::new(text).into());
    };
    if let Some(count) = run.included.borrow_mut().get_mut(name) {
        *count += 1;
    } else {
        run.included.borrow_mut().insert(name.into(), 1);
    }
    let result = rendered(run, unit, template, data);
    if let Some(count) = run.included.borrow_mut().get_mut(name) {
        *count -= 1;
    }
    result.map_err(|stop| match stop {
        Stop::Error(error) => OwnError::Error(error),
        stop => OwnError::Fault(stop.into()),
    })
}

/// Refuses the name of a template that there is not, before what it is given is looked at.
pub(super) fn defined(run: &Run, name: &Value) -> Result<Value, Fault> {
    resolve(run, name).map(|_| Value::none())
}

fn resolve(run: &Run, name: &Value) -> Result<(usize, usize), Fault> {
    let name = name.as_str().unwrap_or_default();
    run.resolve(name)
        .ok_or_else(|| Fault::Message(format!("template {} not defined", quote(name.as_bytes()))))
}

/// `{{template "name" dot}}`
pub(super) fn template(run: &Run, args: &Value) -> Result<Value, Fault> {
    run.tick()?;
    let Some([name, dot]) = args.as_array() else { return Ok(Value::from("")) };
    let (unit, template) = resolve(run, name)?;
    // Go unwinds to where the execution began: no caller adds to the error.
    rendered(run, unit, template, dot).map_err(Fault::from)
}

fn rendered(run: &Run, unit: usize, template: usize, dot: &Value) -> Result<Value, Stop> {
    let names = run.frames.borrow().last().map_or(0, |frame| frame.names);
    let mut out = Vec::with_capacity(256);
    run.execute(unit, template, names, dot.clone(), &mut out)?;
    text(out)
}

/// What a template wrote.
pub(super) fn text(out: Vec<u8>) -> Result<Value, Stop> {
    match String::from_utf8(out) {
        Ok(text) => Ok(Value::from(text)),
        // Tera writes nothing else.
        Err(_) => Err(Stop::Error(Box::new(GoError::new("a template wrote what is not UTF-8")))),
    }
}

/// A block that was split off, because it nests too deep or may not be reached, by its number. It shares the frame of the template
/// that it belongs to.
pub(super) fn outline(run: &Run, number: &Value) -> Result<Value, Fault> {
    run.tick()?;
    let Some(block) = Block::of(run, Some(number)) else { return Ok(Value::from("")) };
    let mut context = Context::new();
    context.insert_value("d", block.dot.clone());
    run.deeper(|| block.run(run, &context)).map_err(Fault::Limit)?
}

/// A block of the template that is running.
struct Block<'r> {
    unit: UnitRef<'r>,
    template: TemplateId,
    number: usize,
    /// The dot of the template.
    dot: Value,
}

impl<'r> Block<'r> {
    fn of(run: &'r Run, number: Option<&Value>) -> Option<Self> {
        let number = usize::try_from(number?.as_i64()?).ok()?;
        let frames = run.frames.borrow();
        let frame = frames.last()?;
        Some(Self { unit: run.unit(frame.unit), template: frame.template, number, dot: frame.dot.clone() })
    }

    fn run(self, run: &Run, context: &Context) -> Result<Value, Fault> {
        let Self { unit, template, number, dot } = self;
        let mut out = Vec::with_capacity(256);
        if let Err(error) = run.render_block(&unit, template, number, context, &mut out) {
            let cells = run.frames.borrow().last().map(|frame| frame.cells.clone()).unwrap_or_default();
            let running = Running {
                template,
                outlined: Some(number),
                no_dot: dot.is_none(),
                cells: &cells,
                site: None,
            };
            match run.explain(&unit, running, &error) {
                // What was written before the jump counts.
                Stop::Jump(keyword) => {
                    if let Some(frame) = run.frames.borrow_mut().last_mut() {
                        frame.left = Some(keyword);
                    }
                }
                stop => return Err(stop.into()),
            }
        }
        text(out).map_err(Fault::from)
    }
}
