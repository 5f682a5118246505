//! `.Files`: the files of a chart that are no templates (Helm's engine/files.go).

use tera::{Map, Value};

use crate::{
    chart::File,
    functions::Param,
    value::typed::{self, Type},
    yaml,
};

use super::{
    call::{check_arg, check_count},
    glob::Glob,
    run::{Fault, Run},
};

/// The object `.Files`.
pub(super) fn object(files: &[File]) -> Value {
    typed::make(Type::Files, files.iter().map(|file| (file.name.to_string(), file.data.value())))
}

/// Calls a method of `.Files`, or of what `.Files.Glob` gave.
pub(super) fn call(run: &Run, files: &Value, name: &str, args: &[Value]) -> Result<Value, Fault> {
    let takes = usize::from(!matches!(name, "AsConfig" | "AsSecrets"));
    check_count(name, takes, args.len())?;
    if let Some(arg) = args.first() {
        check_arg(run, 0, Param::String, arg)?;
    }
    let wanted = args.first().and_then(typed::text_lossy).unwrap_or_default();
    let content = || typed::field(files, &wanted).and_then(Value::as_bytes).unwrap_or_default();
    Ok(match name {
        "Get" => typed::text(content().to_vec()),
        "GetBytes" => Value::bytes(content().to_vec()),
        "Lines" => {
            let lines = lines(content());
            run.scope.name_type(&lines, "[]string");
            lines
        }
        "Glob" => {
            let glob = Glob::new(&wanted);
            let found = matching(files, glob.as_ref());
            typed::make(Type::Files, found.map(|(name, content)| (name.to_owned(), content.clone())))
        }
        "AsConfig" => as_config(files),
        "AsSecrets" => as_secrets(files),
        _ => Value::none(),
    })
}

fn matching<'f>(files: &'f Value, glob: Option<&'f Glob>) -> impl Iterator<Item = (&'f str, &'f Value)> {
    entries(files).filter(move |(name, _)| glob.is_some_and(|glob| glob.matches(name)))
}

/// The files whose names match, as a plain map.
pub(super) fn globbed(files: &Value, glob: Option<&Glob>) -> Value {
    Value::from(
        matching(files, glob)
            .map(|(name, content)| (name.to_owned().into(), content.clone()))
            .collect::<Map>(),
    )
}

fn entries(files: &Value) -> impl Iterator<Item = (&str, &Value)> {
    files.as_map().into_iter().flatten().filter_map(|(key, value)| Some((key.as_str()?, value)))
}

/// The lines of a text.
pub(super) fn lines(content: &[u8]) -> Value {
    if content.is_empty() {
        return crate::value::empty_list();
    }
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    Value::from(
        content.split(|byte| *byte == b'\n').map(|line| typed::text(line.to_vec())).collect::<Vec<_>>(),
    )
}

/// Files as the `data` of a ConfigMap.
pub(super) fn as_config(files: &Value) -> Value {
    as_yaml(files, json_text)
}

/// Files as the `data` of a Secret.
pub(super) fn as_secrets(files: &Value) -> Value {
    as_yaml(files, |content| Value::from(data_encoding::BASE64.encode(content)))
}

/// The files by the last part of their names. Of several with one name, Go keeps any; here it is the last by path.
fn as_yaml(files: &Value, content: impl Fn(&[u8]) -> Value) -> Value {
    let mut sorted: Vec<_> = entries(files).collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let map: Map = sorted
        .into_iter()
        .map(|(name, value)| {
            let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
            let bytes = value.as_bytes().or_else(|| typed::text_bytes(value)).unwrap_or_default();
            (base.to_owned().into(), content(bytes))
        })
        .collect();
    // What cannot be written gives the empty string, as in Helm.
    let text = yaml::to_string(&Value::from(map)).unwrap_or_default();
    Value::from(text.strip_suffix('\n').unwrap_or(&text))
}

/// Text as encoding/json writes it: each byte that is not UTF-8 is a replacement character.
fn json_text(bytes: &[u8]) -> Value {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('\u{FFFD}', chunk.invalid().len()));
    }
    Value::from(text)
}
