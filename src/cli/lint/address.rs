//! E-mail addresses and URLs, as far as Helm's linter looks at them.

use crate::value::net;

/// What the linter takes for a letter beyond ASCII.
fn foreign(c: char) -> bool {
    matches!(c, '\u{a0}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{ffef}')
}

/// An address of a person: words with dots between or a quoted text, and a domain of at least two labels whose last one
/// begins and ends with a letter.
pub(super) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let word = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || foreign(c);
    let plain = local.split('.').all(|part| !part.is_empty() && part.chars().all(word));
    let quoted = local.len() >= 2
        && local.starts_with('"')
        && local.ends_with('"')
        && local[1..local.len() - 1].chars().all(|c| c != '"' && c != '\n' && (c.is_ascii() || foreign(c)));
    if !plain && !quoted {
        return false;
    }
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let Some((labels, last)) = domain.rsplit_once('.') else { return false };
    let letter = |c: char| c.is_ascii_alphabetic() || foreign(c);
    let edge = |c: char| letter(c) || c.is_ascii_digit();
    let inner = |c: char| edge(c) || "-_~".contains(c);
    let sound = |label: &str, edge: &dyn Fn(char) -> bool, inner: &dyn Fn(char) -> bool| {
        label.starts_with(edge) && label.ends_with(edge) && label.chars().all(inner)
    };
    let dotted = |c: char| inner(c) || c == '.';
    sound(last, &letter, &inner) && sound(labels, &edge, &dotted)
}

/// A URL, or a host and path without a scheme.
pub(super) fn is_url(text: &str) -> bool {
    if text.chars().count() >= 2083
        || text.len() <= 3
        || text.starts_with('.')
        || text.contains(char::is_whitespace)
    {
        return false;
    }
    let assumed = format!("http://{text}");
    let whole = if text.contains(':') && !text.contains("://") { &assumed } else { text };
    let Ok(parsed) = net::url(whole) else { return false };
    if parsed.host.starts_with('.')
        || (parsed.host.is_empty() && !parsed.path.is_empty() && !parsed.path.contains('.'))
    {
        return false;
    }
    let rest = match text.split_once("://") {
        Some((scheme, rest)) => {
            if !["ftp", "tcp", "udp", "ws", "wss", "http", "https"].contains(&scheme) {
                return false;
            }
            rest
        }
        None => text,
    };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next().is_some_and(|address| net::ipv6(address).is_ok());
    }
    let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
    let number = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
    let host = host.strip_suffix('.').unwrap_or(host);
    let letter = |c: char| c.is_ascii_alphanumeric() || ('\u{a1}'..='\u{ffff}').contains(&c);
    port.is_none_or(number)
        && !host.is_empty()
        && host.starts_with(letter)
        && host.ends_with(letter)
        && host.chars().all(|c| letter(c) || "-_.".contains(c))
        && !host.contains("..")
}

/// A URL with a scheme.
pub(super) fn is_request_url(text: &str) -> bool {
    // A fragment is part of the path here.
    net::url(&text.replace('#', "%23")).is_ok_and(|url| url.absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("a@b.c", true),
            ("first.last+tag@sub.example.com", true),
            ("a@b", false),
            ("@b.c", false),
            ("a@b.c1", false),
            ("a b@c.d", false),
            ("a..b@c.d", false),
            ("\"a b\"@c.de", true),
            ("é@bücher.example", true),
            ("maintainers", false),
        ] {
            assert_eq!(is_email(text), expected, "{text}");
        }
        for (text, expected) in [
            ("https://example.com/x?y#z", true),
            ("example.com", true),
            ("github.com/a/b", true),
            ("example.com:8080/x", true),
            ("foo", false),
            ("https://foo bar", false),
            ("mailto:a@b.c", true),
            ("gopher://x.y", false),
            (".com", false),
            ("http://127.0.0.1/", true),
        ] {
            assert_eq!(is_url(text), expected, "{text}");
        }
        for (text, expected) in [
            ("https://x.y/z", true),
            ("x.y/z", false),
            ("/x", false),
            ("", false),
            ("mailto:x", true),
            ("http://[x", false),
        ] {
            assert_eq!(is_request_url(text), expected, "{text}");
        }
    }
}
