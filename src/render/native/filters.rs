//! The filters behind the expressions of native templates: what Tera does by itself, by the rules of charts.

use tera::{
    Kwargs, State, Tera, TeraResult, Value,
    value::{Key, ValueKind},
};

use crate::value::{
    MapRef,
    print::display,
    truth,
    typed::{self, Type},
};

use super::{
    super::{
        call, control, files,
        glob::Glob,
        run::{Fault, Run, with},
    },
    view::view,
};

pub(super) fn register(tera: &mut Tera) {
    tera.register_filter("_item", |value: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let key: &Value = kwargs.must_get("k")?;
        let undefined = kwargs.get::<bool>("u")?.unwrap_or_default();
        with(|run| {
            let found = item(run, value, key)?;
            Ok(found.unwrap_or_else(|| if undefined { Value::undefined() } else { Value::none() }))
        })
    });
    tera.register_filter("_free", |dot: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let variable: &Value = kwargs.must_get("v")?;
        if !variable.is_undefined() {
            return Ok(variable.clone());
        }
        let name: &Value = kwargs.must_get("n")?;
        with(|run| Ok(item(run, dot, name)?.unwrap_or_else(Value::none)))
    });
    plain(
        tera,
        "_each",
        |run, value| if value.is_string() { Ok(value.clone()) } else { control::range(run, value) },
    );
    plain(tera, "_entries", control::pairs);
    plain(tera, "_plain", |run, value| view(&run.scope, value).map_err(message));
    plain(tera, "_in", container);
    plain(tera, "_solid", solid);
    plain(tera, "_fresh", |_, value| {
        Ok(value.as_map().map_or_else(|| value.clone(), |map| Value::from(map.clone())))
    });
    plain(tera, "_text", |run, value| match value.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(Value::from("")),
        _ => control::print(run, value),
    });
    plain(tera, "text", |run, value| match value.kind() {
        ValueKind::Bytes => Ok(typed::text(value.as_bytes().unwrap_or_default().to_vec())),
        _ => display(&run.scope, value).map(|text| Value::from(&*text)).map_err(message),
    });
    tera.register_filter("glob", |files: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let pattern: &str = kwargs.must_get("pattern")?;
        Ok(files::globbed(files, Glob::new(pattern).as_ref()))
    });
    plain(tera, "lines", |_, text| {
        Ok(files::lines(typed::text_bytes(text).or_else(|| text.as_bytes()).unwrap_or_default()))
    });
    plain(tera, "bytes", |_, text| {
        Ok(Value::bytes(typed::text_bytes(text).or_else(|| text.as_bytes()).unwrap_or_default().to_vec()))
    });
    plain(tera, "as_config", files::as_config);
    plain(tera, "as_secrets", files::as_secrets);
    tera.register_filter("call", |value: &Value, kwargs: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        let name: &str = kwargs.must_get("method")?;
        let mut args = vec![value.clone()];
        args.extend(kwargs.get::<Vec<Value>>("args")?.unwrap_or_default());
        with(|run| call::method(run, name, &args))
    });
}

fn plain(
    tera: &mut Tera,
    name: &'static str,
    body: impl Fn(&Run, &Value) -> Result<Value, Fault> + Send + Sync + 'static,
) {
    tera.register_filter(name, move |value: &Value, _: Kwargs, _: &State<'_>| -> TeraResult<Value> {
        with(|run| body(run, value))
    });
}

fn message(error: impl std::fmt::Display) -> Fault {
    Fault::Message(error.to_string())
}

/// What a list or map holds under a key. Of nil that is nothing.
fn item(run: &Run, value: &Value, key: &Value) -> Result<Option<Value>, Fault> {
    if value.is_none() || value.is_undefined() {
        return Ok(None);
    }
    let items = typed::items(value);
    if value.is_map() && (items.is_none() || typed::text_bytes(key).is_some()) {
        let Some(name) = typed::text_lossy(key) else {
            // Tera's maps have other keys too; those of charts do not.
            let key = key.as_bool().map(Key::Bool).or_else(|| key.as_i64().map(Key::I64));
            return Ok(value.as_map().zip(key).and_then(|(map, key)| map.get(&key).cloned()));
        };
        return match Type::of(value) {
            Some(Type::Files) => {
                let content = typed::field(value, &name).and_then(Value::as_bytes).unwrap_or_default();
                Ok(Some(typed::text(content.to_vec())))
            }
            Some(kind) if kind.methods().contains(&&*name) => {
                call::method(run, &name, std::slice::from_ref(value)).map(Some)
            }
            Some(_) => Ok(run.scope.field(value, &name).ok().map(std::borrow::Cow::into_owned)),
            None => Ok(run.scope.get(value, &name).map(std::borrow::Cow::into_owned)),
        };
    }
    #[allow(clippy::cast_possible_truncation, reason = "what is no whole number is refused")]
    let number = key.as_i64().or_else(|| key.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i64));
    let (Some(items), Some(number)) = (items, number) else {
        // The bytes of a text, and what cannot be indexed.
        let Some(index) = crate::functions::find("index") else { return Ok(None) };
        return call::library(run, index, false, &[value.clone(), key.clone()]).map(Some);
    };
    // As in Tera, negative numbers count from the end.
    let at = if number < 0 { number + i64::try_from(items.len()).unwrap_or(i64::MAX) } else { number };
    Ok(usize::try_from(at).ok().and_then(|at| items.get(at).cloned()))
}

/// What `in` looks into.
fn container(run: &Run, value: &Value) -> Result<Value, Fault> {
    if let Some(items) = typed::items(value) {
        return Ok(Value::from(items.to_vec()));
    }
    if value.is_none() || value.is_undefined() {
        return Ok(crate::value::empty_list());
    }
    if !value.is_map() {
        return Ok(value.clone());
    }
    Ok(match run.scope.map(value) {
        Some(MapRef::Changed(map)) => Value::from(map.as_ref().clone()),
        _ => value.clone(),
    })
}

/// A value that Tera takes for true exactly if a chart does.
fn solid(run: &Run, value: &Value) -> Result<Value, Fault> {
    let is_true = truth::is_true(&run.scope, value);
    if value.is_truthy() == is_true {
        return Ok(if value.is_undefined() { Value::none() } else { value.clone() });
    }
    let whole = run.scope.materialise(value).map_err(message)?;
    Ok(match (whole.is_truthy() == is_true, is_true) {
        (true, _) => whole,
        (false, true) => Value::from(true),
        (false, false) => Value::none(),
    })
}
