//! Values as native templates see them.
//!
//! Helm reads all numbers as floats, which Tera prints as `3.0`; a native template sees whole numbers as integers. Objects of
//! Go types become plain maps, lists and strings.

use tera::{Map, Value, value::ValueKind};

use crate::value::{
    Scope,
    print::to_text,
    typed::{self, Type},
};

/// A value for native templates, with what templates changed in it.
pub(super) fn view(scope: &Scope, value: &Value) -> Result<Value, crate::value::Error> {
    let value = scope.materialise(value)?;
    Ok(plain(scope, &value).unwrap_or(value))
}

/// The whole numbers that a float holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value in its plain form; none if it has that already. What is materialised nests no deeper than values may.
fn plain(scope: &Scope, value: &Value) -> Option<Value> {
    match value.kind() {
        ValueKind::F64 => {
            let number = value.as_f64()?;
            #[allow(clippy::cast_possible_truncation, reason = "the bounds are checked")]
            (number.fract() == 0.0 && number.abs() <= EXACT).then(|| Value::from(number as i64))
        }
        ValueKind::I128 | ValueKind::U64 | ValueKind::U128 => value.as_i64().map(Value::from),
        ValueKind::Array => {
            let items = value.as_array()?;
            let first = items.iter().position(|item| plain(scope, item).is_some())?;
            let mut plainer = items[..first].to_vec();
            plainer
                .extend(items[first..].iter().map(|item| plain(scope, item).unwrap_or_else(|| item.clone())));
            Some(Value::from(plainer))
        }
        ValueKind::Map => match Type::of(value) {
            Some(kind) => typed_plain(scope, kind, value),
            None => {
                let map = value.as_map()?;
                let changed: Vec<_> =
                    map.iter().filter_map(|(key, value)| Some((key.clone(), plain(scope, value)?))).collect();
                if changed.is_empty() {
                    return None;
                }
                let mut map = map.clone();
                map.extend(changed);
                Some(Value::from(map))
            }
        },
        _ => None,
    }
}

fn typed_plain(scope: &Scope, kind: Type, value: &Value) -> Option<Value> {
    let entries = || value.as_map().into_iter().flatten().filter(|(key, _)| !typed::is_marker(key));
    match kind {
        Type::VersionSet => typed::items(value).map(Value::from),
        Type::Files => Some(Value::from(
            entries()
                .map(|(key, content)| {
                    (key.clone(), typed::text(content.as_bytes().unwrap_or_default().to_vec()))
                })
                .collect::<Map>(),
        )),
        Type::StringMap | Type::Capabilities | Type::KubeVersion | Type::BuildInfo | Type::Certificate => {
            let shown = |name: &str| name.starts_with(|c: char| c.is_uppercase()) || kind == Type::StringMap;
            Some(Value::from(
                entries()
                    .filter(|(key, _)| key.as_str().is_some_and(shown))
                    .map(|(key, value)| (key.clone(), plain(scope, value).unwrap_or_else(|| value.clone())))
                    .collect::<Map>(),
            ))
        }
        // Functions of the library take these as they are.
        Type::Time | Type::Semver | Type::Text => None,
        _ => to_text(scope, value).ok().map(Value::from),
    }
}
