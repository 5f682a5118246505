//! URLs, taken apart and put together as Go's net/url does, and name resolution.

use std::net::{Ipv6Addr, ToSocketAddrs as _};

use tera::{Map, Value, value::Key};

use super::{Call, Error, Family, Function, Outcome, Param, lists, text};
use crate::value::{kind, net, quote, typed};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("urlParse", Family::Urls, &[Param::String], parse_url, "The parts of a URL."),
    Function::new("urlJoin", Family::Urls, &[Param::Map], join_url, "The URL of such parts."),
    Function::new(
        "getHostByName",
        Family::Network,
        &[Param::String],
        host_by_name,
        "An address of a host; an empty text unless names may be resolved.",
    ),
];

/// The part of a URL that a byte is in, which decides whether it stands there as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

fn is_plain(byte: u8, place: Place) -> bool {
    let more: &[u8] = match place {
        Place::Path => b"$&+,/:;=@",
        Place::Host | Place::Zone => b"!\"$&'()*+,:;<=>[]",
        Place::User => b"$&+,;=",
        Place::Fragment => b"!$&()*+,/:;=?@",
    };
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || more.contains(&byte)
}

fn escape(bytes: &[u8], place: Place) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if is_plain(byte, place) {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

fn quoted(bytes: &[u8]) -> String {
    quote::quote(bytes)
}

fn unescape(bytes: &[u8], place: Place) -> Result<Vec<u8>, String> {
    let bad = |bytes: &[u8]| format!("invalid URL escape {}", quoted(bytes));
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            if matches!(place, Place::Host | Place::Zone) && byte < 0x80 && !is_plain(byte, place) {
                return Err(format!("invalid character {} in host name", quoted(&[byte])));
            }
            out.push(byte);
            at += 1;
            continue;
        }
        let sequence = &bytes[at..bytes.len().min(at + 3)];
        let (Some(high), Some(low)) =
            (sequence.get(1).copied().and_then(hex), sequence.get(2).copied().and_then(hex))
        else {
            return Err(bad(sequence));
        };
        let decoded = high << 4 | low;
        let forbidden = match place {
            Place::Host => high < 8,
            Place::Zone => decoded != b' ' && !is_plain(decoded, Place::Host),
            _ => false,
        };
        if forbidden && sequence != b"%25" {
            return Err(bad(sequence));
        }
        out.push(decoded);
        at += 3;
    }
    Ok(out)
}

#[derive(Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

fn cut(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    memchr::memchr(at, bytes).map_or((bytes, &[][..]), |place| (&bytes[..place], &bytes[place + 1..]))
}

/// Go's `url.Parse`.
fn parse(raw: &[u8]) -> Result<Url, String> {
    let (main, fragment) = cut(raw, b'#');
    let mut url = parse_main(main).map_err(|error| format!("parse {}: {error}", quoted(main)))?;
    url.fragment =
        unescape(fragment, Place::Fragment).map_err(|error| format!("parse {}: {error}", quoted(raw)))?;
    Ok(url)
}

fn parse_main(raw: &[u8]) -> Result<Url, String> {
    if raw.iter().any(|byte| *byte < b' ' || *byte == 0x7F) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let mut url = Url::default();
    if raw == b"*" {
        url.path = raw.to_vec();
        return Ok(url);
    }
    let (scheme, rest): (&[u8], &[u8]) =
        net::scheme(raw)?.map_or((&[], raw), |colon| (&raw[..colon], &raw[colon + 1..]));
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = cut(rest, b'?');
    url.query = query.to_vec();
    let mut path = rest;
    if !rest.starts_with(b"/") {
        if !scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if cut(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    } else if (!scheme.is_empty() || !rest.starts_with(b"///")) && rest.starts_with(b"//") {
        let authority = &rest[2..];
        let end = memchr::memchr(b'/', authority).unwrap_or(authority.len());
        path = &authority[end..];
        (url.user, url.host) = parse_authority(&url.scheme, &authority[..end])?;
    }
    url.path = unescape(path, Place::Path)?;
    Ok(url)
}

type User = Option<(Vec<u8>, Option<Vec<u8>>)>;

fn parse_authority(scheme: &[u8], authority: &[u8]) -> Result<(User, Vec<u8>), String> {
    let Some(at) = memchr::memrchr(b'@', authority) else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, &authority[at + 1..])?;
    let user = &authority[..at];
    if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(user, b':');
    let name = unescape(name, Place::User)?;
    let password = if user.contains(&b':') { Some(unescape(password, Place::User)?) } else { None };
    Ok((Some((name, password)), host))
}

fn is_port(text: &[u8]) -> bool {
    text.is_empty() || text[0] == b':' && text[1..].iter().all(u8::is_ascii_digit)
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let check = |port: &[u8]| {
        if is_port(port) { Ok(()) } else { Err(format!("invalid port {} after host", quoted(port))) }
    };
    match memchr::memrchr(b'[', host) {
        Some(1..) => return Err("invalid IP-literal".to_owned()),
        Some(0) => {
            let close = memchr::memrchr(b']', host).ok_or("missing ']' in host")?;
            check(&host[close + 1..])?;
            let inner = &host[1..close];
            let zone = memchr::memmem::find(inner, b"%25").unwrap_or(inner.len());
            let address = unescape(&inner[..zone], Place::Host)?;
            let whole = [address.as_slice(), &unescape(&inner[zone..], Place::Zone)?].concat();
            let valid =
                std::str::from_utf8(&address).ok().is_some_and(|text| text.parse::<Ipv6Addr>().is_ok());
            if !valid || whole.last() == Some(&b'%') {
                return Err(format!("invalid host: ParseAddr({}): unable to parse IP", quoted(&whole)));
            }
            return Ok([b"[", whole.as_slice(), b"]", &host[close + 1..]].concat());
        }
        None => {}
    }
    if let Some(first) = memchr::memchr(b':', host) {
        // Several hosts with ports stand together in the URLs of databases.
        let strict = matches!(scheme, b"http" | b"https");
        let at = if strict { first } else { memchr::memrchr(b':', host).unwrap_or(first) };
        check(&host[at..])?;
    }
    unescape(host, Place::Host)
}

fn user_text(user: &User) -> Vec<u8> {
    match user {
        None => Vec::new(),
        Some((name, None)) => escape(name, Place::User),
        Some((name, Some(password))) => {
            [escape(name, Place::User), b":".to_vec(), escape(password, Place::User)].concat()
        }
    }
}

fn hostname(host: &[u8]) -> &[u8] {
    let end = memchr::memrchr(b':', host).filter(|at| is_port(&host[*at..])).unwrap_or(host.len());
    let name = &host[..end];
    name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]")).unwrap_or(name)
}

fn parse_url(call: &Call<'_>) -> Outcome {
    let url = parse(call.bytes(0)).map_err(|error| Error::new(format!("unable to parse url: {error}")))?;
    let user = user_text(&url.user);
    let parts: [(&'static str, &[u8]); 8] = [
        ("scheme", &url.scheme),
        ("host", &url.host),
        ("hostname", hostname(&url.host)),
        ("path", &url.path),
        ("query", &url.query),
        ("opaque", &url.opaque),
        ("fragment", &url.fragment),
        ("userinfo", &user),
    ];
    Ok(Value::from(
        parts.into_iter().map(|(name, part)| (Key::Str(name), text::slice(part))).collect::<Map>(),
    ))
}

fn part(call: &Call<'_>, name: &str) -> Result<Vec<u8>, Error> {
    let Some(value) = call.scope.get(call.arg(0), name) else { return Ok(Vec::new()) };
    if let Some(bytes) = typed::text_bytes(&value) {
        return Ok(bytes.to_vec());
    }
    Err(match kind::kind_of(&value) {
        "invalid" => lists::nil_pointer(),
        found => Error::new(format!("unable to parse {name} key, must be of type string, but {found} found")),
    })
}

fn join_url(call: &Call<'_>) -> Outcome {
    let scheme = part(call, "scheme")?;
    let (host, path, query) = (part(call, "host")?, part(call, "path")?, part(call, "query")?);
    let (opaque, fragment, user) = (part(call, "opaque")?, part(call, "fragment")?, part(call, "userinfo")?);
    let mut given = None;
    if !user.is_empty() {
        let url = parse(&[b"proto://", user.as_slice(), b"@host"].concat())
            .map_err(|error| Error::new(format!("unable to parse userinfo in dict: {error}")))?;
        given = url.user;
    }
    let mut out = Vec::new();
    if !scheme.is_empty() {
        out.extend_from_slice(&scheme);
        out.push(b':');
    }
    if opaque.is_empty() {
        let authority = !scheme.is_empty() || !host.is_empty() || given.is_some();
        if authority && (!host.is_empty() || !path.is_empty() || given.is_some()) {
            out.extend_from_slice(b"//");
        }
        if given.is_some() {
            out.extend(user_text(&given));
            out.push(b'@');
        }
        out.extend(escape(&host, Place::Host));
        let path = if path == b"*" { path } else { escape(&path, Place::Path) };
        if !path.is_empty() && path[0] != b'/' && !host.is_empty() {
            out.push(b'/');
        }
        if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
            out.extend_from_slice(b"./");
        }
        out.extend(path);
    } else {
        out.extend_from_slice(&opaque);
    }
    if !query.is_empty() {
        out.push(b'?');
        out.extend_from_slice(&query);
    }
    if !fragment.is_empty() {
        out.push(b'#');
        out.extend(escape(&fragment, Place::Fragment));
    }
    Ok(typed::text(out))
}

/// One of the addresses, taken at random as sprig does. Helm does not resolve names either unless it is asked to.
fn host_by_name(call: &Call<'_>) -> Outcome {
    if !call.scope.resolves_names() {
        return Ok(Value::from(""));
    }
    let host = call.text(0);
    let found = (&*host, 0).to_socket_addrs().map(|found| found.map(|address| address.ip().to_string()));
    let mut addresses: Vec<String> = found.map(Iterator::collect).unwrap_or_default();
    addresses.dedup();
    match addresses.len() {
        // What Go says where sprig takes one of none.
        0 => Err(Error::new("invalid argument to Intn")),
        count => Ok(Value::from(addresses.swap_remove(rand::random_range(0..count)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Scope;

    #[test]
    fn urls_are_taken_apart_and_put_together() {
        for url in [
            "https://me:pw@example.com:8080/a/b%20c?x=1#top",
            "mailto:a@b",
            "http://[::1]:80/",
            "/path",
            "proto://auth@host:80/path?query#fragment",
        ] {
            let scope = Scope::new();
            let parts = parse_url(&Call { args: &[Value::from(url)], scope: &scope }).unwrap();
            let joined = join_url(&Call { args: &[parts], scope: &scope }).unwrap();
            assert_eq!(joined.as_str(), Some(url));
        }
        assert_eq!(hostname(b"[::1]:80"), b"::1");
        assert_eq!(parse(b"%zz").err().unwrap(), "parse \"%zz\": invalid URL escape \"%zz\"");
    }
}
