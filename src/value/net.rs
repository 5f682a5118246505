//! Addresses and URLs as Go's net/netip and net/url read them, as far as they refuse something.

use super::quote::quote;

fn quoted(text: &str) -> String {
    quote(text.as_bytes())
}

/// Go's `netip.ParseAddr` of an IPv6 address; whether it names a zone.
///
/// # Errors
/// What Go says.
pub fn ipv6(text: &str) -> Result<bool, String> {
    let refuse = |why: &str, at: &str| {
        let place = if at.is_empty() { String::new() } else { format!(" (at {})", quoted(at)) };
        Err(format!("ParseAddr({}): {why}{place}", quoted(text)))
    };
    match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b':') => {}
        Some(b'.') => return ipv4_fields(text, text).map(|()| false),
        Some(_) => return refuse("missing IPv6 address", ""),
        None => return refuse("unable to parse IP", ""),
    }
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    if zone == Some("") {
        return refuse("zone must be a non-empty string", "");
    }
    let mut rest = address;
    let mut ellipsis = false;
    let mut bytes = 0;
    if let Some(after) = rest.strip_prefix("::") {
        ellipsis = true;
        rest = after;
        if rest.is_empty() {
            return Ok(zone.is_some());
        }
    }
    while bytes < 16 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return refuse("each group must have 4 or less digits", rest);
        }
        if digits == 0 {
            return refuse("each colon-separated field must have at least one digit", rest);
        }
        if rest.as_bytes().get(digits) == Some(&b'.') {
            if !ellipsis && bytes != 12 {
                return refuse("embedded IPv4 address must replace the final 2 fields of the address", rest);
            }
            if bytes + 4 > 16 {
                return refuse("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
            }
            ipv4_fields(rest, text)?;
            rest = "";
            bytes += 4;
            break;
        }
        bytes += 2;
        rest = &rest[digits..];
        let Some(after) = rest.strip_prefix(':') else {
            if rest.is_empty() {
                break;
            }
            return refuse("unexpected character, want colon", rest);
        };
        if after.is_empty() {
            return refuse("colon must be followed by more characters", rest);
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis {
                return refuse("multiple :: in address", rest);
            }
            ellipsis = true;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return refuse("trailing garbage after address", rest);
    }
    if bytes < 16 && !ellipsis {
        return refuse("address string too short", "");
    }
    if bytes == 16 && ellipsis {
        return refuse("the :: must expand to at least one field of zeros", "");
    }
    Ok(zone.is_some())
}

/// The four numbers of an IPv4 address within `whole`.
fn ipv4_fields(text: &str, whole: &str) -> Result<(), String> {
    let refuse = |why: &str, at: &str| {
        let place = if at.is_empty() { String::new() } else { format!(" (at {})", quoted(at)) };
        Err(format!("ParseAddr({}): {why}{place}", quoted(whole)))
    };
    let text = text.split('%').next().unwrap_or(text);
    let (mut fields, mut value, mut digits) = (0, 0_u32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return refuse("IPv4 field has octet with leading zero", "");
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return refuse("IPv4 field has value >255", "");
                }
            }
            b'.' => {
                let ends = at == 0 || at == text.len() - 1 || text.as_bytes()[at - 1] == b'.';
                if ends {
                    return refuse("IPv4 field must have at least one digit", &text[at..]);
                }
                if fields == 3 {
                    return refuse("IPv4 address too long", "");
                }
                fields += 1;
                (value, digits) = (0, 0);
            }
            _ => return refuse("unexpected character", text.get(at..).unwrap_or_default()),
        }
    }
    if fields < 3 { refuse("IPv4 address too short", "") } else { Ok(()) }
}

/// A URL, as far as anyone asks.
#[derive(Clone, Copy, Debug)]
pub struct Url<'t> {
    /// Whether it has a scheme.
    pub absolute: bool,
    /// The host, with its port.
    pub host: &'t str,
    /// The path, escaped.
    pub path: &'t str,
}

/// Go's `url.Parse`, and a check of IPv6 hosts.
///
/// # Errors
/// What Go says.
pub fn url(text: &str) -> Result<Url<'_>, String> {
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let parsed = parse(rest).map_err(|why| format!("parse {}: {why}", quoted(rest)))?;
    escapes(fragment, |_, _| true).map_err(|why| format!("parse {}: {why}", quoted(text)))?;
    Ok(parsed)
}

fn parse(text: &str) -> Result<Url<'_>, String> {
    if text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    if text == "*" {
        return Ok(Url { absolute: false, host: "", path: "*" });
    }
    let colon = scheme(text.as_bytes())?;
    let absolute = colon.is_some();
    let (scheme, rest) = colon.map_or(("", text), |colon| (&text[..colon], &text[colon + 1..]));
    let rest = rest.split('?').next().unwrap_or(rest);
    if !rest.starts_with('/') {
        if absolute {
            return Ok(Url { absolute, host: "", path: "" });
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    let (mut path, mut host) = (rest, "");
    if let Some(after) = rest.strip_prefix("//")
        && (absolute || !rest.starts_with("///"))
    {
        let (authority, after) = after.split_at(after.find('/').unwrap_or(after.len()));
        path = after;
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        host = authority.rsplit('@').next().unwrap_or(authority);
        check_host(scheme, host)?;
        if let Some(user) = user {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
            if !user.chars().all(allowed) {
                return Err("net/url: invalid userinfo".into());
            }
            escapes(user, |_, _| true)?;
        }
    }
    escapes(path, |_, _| true)?;
    Ok(Url { absolute, host, path })
}

/// Where the scheme of a URL ends and the rest begins: the place of its colon, or none where it has no scheme.
///
/// # Errors
/// In the words of Go's net/url, when it begins with the colon.
pub fn scheme(raw: &[u8]) -> Result<Option<usize>, String> {
    for (at, byte) in raw.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok(Some(at)),
            _ => break,
        }
    }
    Ok(None)
}

fn check_host(scheme: &str, host: &str) -> Result<(), String> {
    let optional_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()))
    };
    let refuse_port = |port: &str| Err(format!("invalid port {} after host", quoted(port)));
    match host.rfind('[') {
        Some(0) => {
            let Some(end) = host.rfind(']') else { return Err("missing ']' in host".into()) };
            if !optional_port(&host[end + 1..]) {
                return refuse_port(&host[end + 1..]);
            }
            let inner = &host[1..end];
            let (address, zone) = inner.split_at(inner.find("%25").unwrap_or(inner.len()));
            host_escapes(address)?;
            let full = format!("{address}{}", zone.replacen("%25", "%", 1));
            let zoned = ipv6(&full).map_err(|e| format!("invalid host: {e}"))?;
            if !full.contains(':') {
                return Err("invalid IP-literal".into());
            }
            // The formats refuse a zone, which URLs may have.
            if zoned {
                Err("invalid ipv6 address: zone id is not a part of ipv6 address".into())
            } else {
                Ok(())
            }
        }
        Some(_) => Err("invalid IP-literal".into()),
        None => {
            let strict = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
            let colon = if strict { host.find(':') } else { host.rfind(':') };
            if let Some(at) = colon
                && !optional_port(&host[at..])
            {
                return refuse_port(&host[at..]);
            }
            host_escapes(host)
        }
    }
}

/// Escapes in a host, which may only stand for what is not ASCII; and characters that a host may not have.
fn host_escapes(host: &str) -> Result<(), String> {
    escapes(host, |high, whole| high >= 8 || whole == b"%25")?;
    let allowed =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
    match host.chars().find(|c| !allowed(*c)) {
        Some(c) => Err(format!("invalid character {} in host name", quoted(c.encode_utf8(&mut [0; 4])))),
        None => Ok(()),
    }
}

/// Checks percent escapes; `allowed` gets the first digit and the whole.
fn escapes(text: &str, allowed: impl Fn(u32, &[u8]) -> bool) -> Result<(), String> {
    let mut from = 0;
    while let Some(at) = text[from..].find('%') {
        let at = from + at;
        let digit =
            |offset: usize| text.as_bytes().get(at + offset).and_then(|b| char::from(*b).to_digit(16));
        let whole = &text.as_bytes()[at..text.len().min(at + 3)];
        match (digit(1), digit(2)) {
            (Some(high), Some(_)) if allowed(high, whole) => from = at + 3,
            _ => return Err(format!("invalid URL escape {}", quote(whole))),
        }
    }
    Ok(())
}
