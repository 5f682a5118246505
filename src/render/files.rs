//! `.Files`: the files of a chart that are no templates (Helm's engine/files.go).

use std::borrow::Cow;

use tera::{Map, Value};

use crate::{
    chart::{self, Chart, Unread},
    functions::Param,
    value::typed::{self, Type},
    yaml,
};

use super::{
    call::{check_arg, check_count},
    glob::Glob,
    run::{Fault, Run},
};

/// The object `.Files`. What was left unread stays so until it is asked for, and is put into `unread`.
pub(super) fn object(chart: &Chart, unread: &mut Vec<Unread>) -> Value {
    let read = chart.files.iter().map(|file| (file.name.to_string(), file.data.value()));
    let left = chart.unread.iter().map(|file| {
        unread.push(file.clone());
        (file.name.to_string(), typed::unread(unread.len() - 1))
    });
    typed::make(Type::Files, read.chain(left))
}

/// The same object with nothing left unread.
///
/// # Errors
/// When a file cannot be read (any more).
pub(super) fn read_whole(files: &Value, unread: &[Unread]) -> Result<Value, chart::Error> {
    let read = |(name, value): (&str, &Value)| {
        let file = typed::unread_number(value).and_then(|number| unread.get(number));
        let value = file.map_or_else(|| Ok(value.clone()), |file| file.read().map(Value::bytes));
        Ok((name.to_owned(), value?))
    };
    Ok(typed::make(Type::Files, entries(files).map(read).collect::<Result<Vec<_>, chart::Error>>()?))
}

/// What is in a file.
fn content<'v>(run: &Run, value: &'v Value) -> Result<Cow<'v, [u8]>, Fault> {
    if let Some(file) = typed::unread_number(value).and_then(|number| run.program.unread.get(number)) {
        return file.read().map(Cow::Owned).map_err(|error| Fault::Message(error.to_string()));
    }
    Ok(Cow::Borrowed(value.as_bytes().or_else(|| typed::text_bytes(value)).unwrap_or_default()))
}

/// Calls a method of `.Files`, or of what `.Files.Glob` gave.
pub(super) fn call(run: &Run, files: &Value, name: &str, args: &[Value]) -> Result<Value, Fault> {
    let takes = usize::from(!matches!(name, "AsConfig" | "AsSecrets"));
    check_count(name, takes, args.len())?;
    if let Some(arg) = args.first() {
        check_arg(run, 0, Param::String, arg)?;
    }
    let wanted = args.first().and_then(typed::text_lossy).unwrap_or_default();
    let content =
        || typed::field(files, &wanted).map_or(Ok(Cow::Borrowed(&[][..])), |file| content(run, file));
    Ok(match name {
        "Get" => typed::text(content()?.into_owned()),
        "GetBytes" => Value::bytes(content()?.into_owned()),
        "Lines" => {
            let lines = lines(&content()?);
            run.scope.name_type(&lines, "[]string");
            lines
        }
        "Glob" => {
            let glob = Glob::new(&wanted);
            let found = matching(files, glob.as_ref());
            typed::make(Type::Files, found.map(|(name, content)| (name.to_owned(), content.clone())))
        }
        "AsConfig" => as_config(run, files)?,
        "AsSecrets" => as_secrets(run, files)?,
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
pub(super) fn as_config(run: &Run, files: &Value) -> Result<Value, Fault> {
    as_yaml(run, files, json_text)
}

/// Files as the `data` of a Secret.
pub(super) fn as_secrets(run: &Run, files: &Value) -> Result<Value, Fault> {
    as_yaml(run, files, |content| Value::from(data_encoding::BASE64.encode(content)))
}

/// The files by the last part of their names. Of several with one name, Go keeps any; here it is the last by path.
fn as_yaml(run: &Run, files: &Value, written: impl Fn(&[u8]) -> Value) -> Result<Value, Fault> {
    let mut sorted: Vec<_> = entries(files).collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let mut map = Map::new();
    for (name, value) in sorted {
        let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        map.insert(base.to_owned().into(), written(&content(run, value)?));
    }
    // What cannot be written gives the empty string, as in Helm.
    let text = yaml::to_string(&Value::from(map)).unwrap_or_default();
    Ok(Value::from(text.strip_suffix('\n').unwrap_or(&text)))
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
