//! References between schemas.

use std::borrow::Cow;

use super::json::Json;

/// Splits off what follows `#`.
pub(super) fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// Resolves a reference without a fragment against a base, as RFC 3986 says.
pub(super) fn join(base: &str, reference: &str) -> String {
    let Some((scheme, base_rest)) = base.split_once(':') else { return reference.to_owned() };
    if reference.is_empty() {
        return base.to_owned();
    }
    let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    if has_scheme {
        let Some((scheme, rest)) = reference.split_once("://") else { return reference.to_owned() };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        return format!("{scheme}://{authority}{}", clean(path));
    }
    let Some(hierarchical) = base_rest.strip_prefix("//") else { return base.to_owned() };
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let (authority, path) = hierarchical.split_at(hierarchical.find('/').unwrap_or(hierarchical.len()));
    let path = path.split('?').next().unwrap_or(path);
    let path = if reference.starts_with('/') {
        clean(reference)
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else {
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        clean(&format!("{folder}{reference}"))
    };
    format!("{scheme}://{authority}{path}")
}

/// Removes `.` and `..` from a path.
fn clean(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut trailing = false;
    for part in path.split('/').skip(usize::from(path.starts_with('/'))) {
        trailing = false;
        match part {
            "." => trailing = true,
            ".." => {
                parts.pop();
                trailing = true;
            }
            part => parts.push(part),
        }
    }
    format!("/{}{}", parts.join("/"), if trailing && !parts.is_empty() { "/" } else { "" })
}

/// Undoes percent escapes.
pub(super) fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| char::from(b?).to_digit(16);
        let value = digit(bytes.next())? * 16 + digit(bytes.next())?;
        out.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(out).ok()
}

/// A pointer as it is written in a URL.
pub(super) fn escape(pointer: &str) -> String {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b'=' | b':' | b'@' | b'/')
    };
    if pointer.bytes().all(plain) {
        return pointer.to_owned();
    }
    let mut out = String::new();
    for byte in pointer.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// One part of a pointer, escaped.
pub(super) fn token(name: &str) -> String {
    if !name.contains(['~', '/']) {
        return name.to_owned();
    }
    name.replace('~', "~0").replace('/', "~1")
}

/// What a pointer leads to; an error when it is no pointer, nothing when it leads nowhere.
pub(super) fn lookup<'j>(document: &'j Json, pointer: &str) -> Result<Option<&'j Json>, ()> {
    let mut value = document;
    for part in pointer.split('/').skip(1) {
        let mut part = Cow::from(part);
        if part.contains('~') {
            let bad = |(at, _)| !matches!(part.as_bytes().get(at + 1), Some(b'0' | b'1'));
            if part.match_indices('~').any(bad) {
                return Err(());
            }
            part = part.replace("~1", "/").replace("~0", "~").into();
        }
        let next = match value {
            Json::Object(map) => map.get(&*part),
            Json::Array(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        value = next;
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved() {
        for (base, reference, expected) in [
            ("file:///values.schema.json", "", "file:///values.schema.json"),
            ("file:///values.schema.json", "other.json", "file:///other.json"),
            ("https://a.b/c/d.json", "e.json", "https://a.b/c/e.json"),
            ("https://a.b/c/d.json", "../e.json", "https://a.b/e.json"),
            ("https://a.b/c/d.json", "/e.json", "https://a.b/e.json"),
            ("https://a.b/c/d.json", "http://x.y/z", "http://x.y/z"),
            ("https://a.b/c/d.json", "urn:x:y", "urn:x:y"),
            ("urn:x:y", "z", "urn:x:y"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} {reference}");
        }
    }
}
