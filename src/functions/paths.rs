//! Slash-separated paths, as Go's package path, whose functions `os…` are the same on Unix.

use tera::Value;

use super::{Call, Family, Function, Native, Outcome, Param, text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("base", base, "The last element of a path."),
    function("dir", dir, "All but the last element of a path."),
    function("clean", clean, "The shortest path to the same place."),
    function("ext", ext, "The extension of a file name, with its dot."),
    function("isAbs", is_abs, "Whether a path begins with a slash."),
    function("osBase", base, "The same as `base`."),
    function("osDir", dir, "The same as `dir`."),
    function("osClean", clean, "The same as `clean`."),
    function("osExt", ext, "The same as `ext`."),
    function("osIsAbs", is_abs, "The same as `isAbs`."),
];

const fn function(name: &'static str, native: Native, summary: &'static str) -> Function {
    Function::new(name, Family::Paths, &[Param::String], native, summary)
}

fn base(call: &Call<'_>) -> Outcome {
    let path = call.bytes(0);
    if path.is_empty() {
        return Ok(Value::from("."));
    }
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
    let path = &path[..end];
    let name = memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..]);
    Ok(if name.is_empty() { Value::from("/") } else { text::slice(name) })
}

fn dir(call: &Call<'_>) -> Outcome {
    let path = call.bytes(0);
    let end = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    Ok(text::value(cleaned(&path[..end]).into()))
}

fn clean(call: &Call<'_>) -> Outcome {
    Ok(text::value(cleaned(call.bytes(0)).into()))
}

/// A path without `.`, `..` after a name, and more than one slash at a place; Go's `path.Clean`.
pub fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.first() == Some(&b'/');
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|&byte| byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." => match kept.last() {
                Some(&last) if last != b".." => drop(kept.pop()),
                _ if rooted => {}
                _ => kept.push(element),
            },
            _ => kept.push(element),
        }
    }
    let mut out = if rooted { b"/".to_vec() } else { Vec::new() };
    out.extend(kept.join(&b'/'));
    if out.is_empty() { b".".to_vec() } else { out }
}

fn ext(call: &Call<'_>) -> Outcome {
    let path = call.bytes(0);
    Ok(match memchr::memrchr2(b'.', b'/', path) {
        Some(at) if path[at] == b'.' => text::slice(&path[at..]),
        _ => Value::from(""),
    })
}

fn is_abs(call: &Call<'_>) -> Outcome {
    Ok(Value::from(call.bytes(0).first() == Some(&b'/')))
}
