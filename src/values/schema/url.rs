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
        let (scheme, rest) = reference.split_once(':').unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        return match rest.strip_prefix("//") {
            Some(rest) => absolute(&scheme, rest),
            None if rest.starts_with('/') => format!("{scheme}:{}", cleaned(rest)),
            None => format!("{scheme}:{rest}"),
        };
    }
    let Some(hierarchical) = base_rest.strip_prefix("//") else { return base.to_owned() };
    // Three slashes begin a path.
    if let Some(rest) = reference.strip_prefix("//").filter(|rest| !rest.starts_with('/')) {
        return absolute(scheme, rest);
    }
    let (authority, path) = hierarchical.split_at(hierarchical.find('/').unwrap_or(hierarchical.len()));
    let path = path.split('?').next().unwrap_or(path);
    let rooted = escape_path(reference.split('?').next().unwrap_or(reference)).starts_with('/');
    let path = if rooted {
        cleaned(reference)
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else {
        let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
        cleaned(&format!("{folder}{reference}"))
    };
    format!("{scheme}://{authority}{path}")
}

/// A URL of what follows `//`, as Go prints it: two slashes are there only if something follows them.
fn absolute(scheme: &str, rest: &str) -> String {
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let slashes = if authority.is_empty() && !path.starts_with('/') { "" } else { "//" };
    format!("{scheme}:{slashes}{authority}{}", cleaned(path))
}

/// A path that may have a query behind it, cleaned and escaped.
fn cleaned(reference: &str) -> String {
    let (path, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    format!("{}{query}", clean(&escape_path(path)))
}

/// The path of a file that a URL names: no host and no query, without escapes.
pub(super) fn file_path(url: &str) -> Option<String> {
    let rest = url.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => &rest[rest.find(['/', '?']).unwrap_or(rest.len())..],
        None if rest.starts_with('/') => rest,
        None => "",
    };
    unescape(path.split('?').next().unwrap_or(path))
}

/// Removes `.` and `..` from a path, and the first of two slashes that it begins with then (url.resolvePath).
fn clean(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let mut out = "/".to_owned();
    let mut first = true;
    for part in path.split('/') {
        match part {
            "." => first = false,
            ".." => {
                out.truncate(out[1..].rfind('/').map_or(1, |at| at + 1));
                first = out.len() == 1;
            }
            part => {
                if !first {
                    out.push('/');
                }
                out.push_str(part);
                first = false;
            }
        }
    }
    if matches!(path.rsplit('/').next(), Some("." | "..")) {
        out.push('/');
    }
    if out[1..].starts_with('/') {
        out.remove(0);
    }
    out
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
    percent(pointer, b"-_.~$&+=:@/")
}

/// A path as Go writes it in a URL (url.EscapedPath): as it is where nothing in it has to be escaped.
fn escape_path(path: &str) -> Cow<'_, str> {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/!$&'()*+,;=:@[]%".contains(&byte);
    if path.bytes().all(valid) {
        return path.into();
    }
    percent(&unescape(path).unwrap_or_else(|| path.to_owned()), b"-_.~$&+,/:;=@").into()
}

/// A text with percent escapes for all but letters, digits and what else is plain.
fn percent(text: &str, plain: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
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
            ("file:///values.schema.json", "file://../a.json", "file://../a.json"),
            ("file:///values.schema.json", "//host/a.json", "file://host/a.json"),
            ("file:///values.schema.json", "///a.json", "file://///a.json"),
            ("file:///values.schema.json", "FILE:///x/../a.json", "file:///a.json"),
            ("file:///values.schema.json", "file:/x/../a.json", "file:/a.json"),
            ("file:///values.schema.json", "file:a.json", "file:a.json"),
            ("file:///values.schema.json", "file://", "file:"),
            ("file:///values.schema.json", "a b.json?c d", "file:///a%20b.json?c d"),
            ("file:///values.schema.json", "a%2Fb,(é).json", "file:///a/b,%28%C3%A9%29.json"),
            ("file:///values.schema.json", "a%2Fb,(e).json", "file:///a%2Fb,(e).json"),
            ("file:///values.schema.json", "%2F\"/a.json", "file:///%22/a.json"),
            ("file:///values.schema.json", "..//a.json", "file:///a.json"),
            ("file:///values.schema.json", "x//y/.//..//../a/.", "file:///x//y/a/"),
            ("https://a.b/c/d.json?e", "?f/../g", "https://a.b/c/d.json?f/../g"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} {reference}");
        }
    }

    #[test]
    fn files_have_no_host_and_no_query() {
        for (url, path) in [
            ("file:///a/b.json", Some("/a/b.json")),
            ("file://../b.json", Some("/b.json")),
            ("file://host:80/a%20b.json?q", Some("/a b.json")),
            ("file://host?q/r", Some("")),
            ("file:/a.json", Some("/a.json")),
            ("file:a.json", Some("")),
            ("https://a/b", None),
        ] {
            assert_eq!(file_path(url).as_deref(), path, "{url}");
        }
    }
}
