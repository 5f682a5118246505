//! The keyword names of functions' arguments, in Go's order.
//!
//! Go's functions have no such names. As a filter, a function gets what is piped as its last argument, as in Go.

use std::borrow::Cow;

use crate::functions::Function;

/// Functions of more than one argument. The last name of a variadic function is that of a list.
const NAMES: &[(&str, &[&str])] = &[
    ("abbrev", &["width", "text"]),
    ("abbrevboth", &["left", "right", "text"]),
    ("append", &["list", "item"]),
    ("buildCustomCert", &["cert", "key"]),
    ("chunk", &["size", "list"]),
    ("concat", &["lists"]),
    ("contains", &["part", "text"]),
    ("date", &["layout", "time"]),
    ("dateInZone", &["layout", "time", "zone"]),
    ("dateModify", &["change", "time"]),
    ("date_in_zone", &["layout", "time", "zone"]),
    ("date_modify", &["change", "time"]),
    ("decryptAES", &["password", "text"]),
    ("deepEqual", &["a", "b"]),
    ("default", &["value", "given"]),
    ("derivePassword", &["counter", "kind", "password", "user", "site"]),
    ("dict", &["entries"]),
    ("div", &["a", "b"]),
    ("encryptAES", &["password", "text"]),
    ("eq", &["a", "others"]),
    ("ge", &["a", "b"]),
    ("genCA", &["name", "days"]),
    ("genCAWithKey", &["name", "days", "key"]),
    ("genSelfSignedCert", &["name", "ips", "dns", "days"]),
    ("genSelfSignedCertWithKey", &["name", "ips", "dns", "days", "key"]),
    ("genSignedCert", &["name", "ips", "dns", "days", "ca"]),
    ("genSignedCertWithKey", &["name", "ips", "dns", "days", "ca", "key"]),
    ("get", &["map", "key"]),
    ("gt", &["a", "b"]),
    ("has", &["item", "list"]),
    ("hasKey", &["map", "key"]),
    ("hasPrefix", &["prefix", "text"]),
    ("hasSuffix", &["suffix", "text"]),
    ("htmlDateInZone", &["time", "zone"]),
    ("htpasswd", &["user", "password"]),
    ("include", &["name", "data"]),
    ("indent", &["width", "text"]),
    ("index", &["value", "keys"]),
    ("join", &["separator", "list"]),
    ("keys", &["maps"]),
    ("kindIs", &["kind", "value"]),
    ("le", &["a", "b"]),
    ("lookup", &["api_version", "kind", "namespace", "name"]),
    ("lt", &["a", "b"]),
    ("max", &["a", "others"]),
    ("maxf", &["a", "others"]),
    ("merge", &["map", "others"]),
    ("mergeOverwrite", &["map", "others"]),
    ("min", &["a", "others"]),
    ("minf", &["a", "others"]),
    ("mod", &["a", "b"]),
    ("mul", &["a", "others"]),
    ("mulf", &["a", "others"]),
    ("ne", &["a", "b"]),
    ("nindent", &["width", "text"]),
    ("omit", &["map", "keys"]),
    ("pick", &["map", "keys"]),
    ("pluck", &["key", "maps"]),
    ("plural", &["one", "many", "count"]),
    ("prepend", &["list", "item"]),
    ("printf", &["format", "values"]),
    ("push", &["list", "item"]),
    ("randInt", &["min", "max"]),
    ("regexFind", &["pattern", "text"]),
    ("regexFindAll", &["pattern", "text", "count"]),
    ("regexMatch", &["pattern", "text"]),
    ("regexReplaceAll", &["pattern", "text", "replacement"]),
    ("regexReplaceAllLiteral", &["pattern", "text", "replacement"]),
    ("regexSplit", &["pattern", "text", "count"]),
    ("repeat", &["count", "text"]),
    ("replace", &["old", "new", "text"]),
    ("required", &["message", "value"]),
    ("round", &["number", "places", "half"]),
    ("semverCompare", &["constraint", "version"]),
    ("set", &["map", "key", "value"]),
    ("slice", &["list", "indices"]),
    ("split", &["separator", "text"]),
    ("splitList", &["separator", "text"]),
    ("splitn", &["separator", "count", "text"]),
    ("sub", &["a", "b"]),
    ("subf", &["a", "others"]),
    ("divf", &["a", "others"]),
    ("substr", &["start", "end", "text"]),
    ("ternary", &["yes", "no", "condition"]),
    ("toDate", &["layout", "text"]),
    ("tpl", &["text", "data"]),
    ("trimAll", &["characters", "text"]),
    ("trimPrefix", &["prefix", "text"]),
    ("trimSuffix", &["suffix", "text"]),
    ("trimall", &["characters", "text"]),
    ("trunc", &["length", "text"]),
    ("typeIs", &["type", "value"]),
    ("typeIsLike", &["type", "value"]),
    ("unset", &["map", "key"]),
    ("untilStep", &["start", "stop", "step"]),
    ("without", &["list", "items"]),
    ("wrap", &["width", "text"]),
    ("wrapWith", &["width", "separator", "text"]),
];

/// The names of a function's arguments, one for each parameter, and one more for the list of those that may follow.
pub(super) fn of(function: &Function) -> Vec<Cow<'static, str>> {
    let count = function.params.len() + usize::from(function.variadic.is_some());
    let listed = listed(function.name).unwrap_or_default();
    if listed.len() == count {
        return listed.iter().map(|name| Cow::Borrowed(*name)).collect();
    }
    match (count, function.variadic.is_some()) {
        (1, false) => vec![Cow::Borrowed("value")],
        (1, true) => vec![Cow::Borrowed("values")],
        _ => (1..=count).map(|number| Cow::Owned(format!("arg{number}"))).collect(),
    }
}

/// The names of one of the functions that the renderer itself has.
pub(super) fn own(function: &str) -> Vec<Cow<'static, str>> {
    listed(function).unwrap_or_default().iter().map(|name| Cow::Borrowed(*name)).collect()
}

fn listed(function: &str) -> Option<&'static [&'static str]> {
    let find = |function: &str| NAMES.iter().find(|(name, _)| *name == function).map(|(_, names)| *names);
    find(function).or_else(|| {
        // `mustX` takes what `x` takes.
        let rest = function.strip_prefix("must")?;
        let mut plain = rest.to_owned();
        plain.get_mut(..1)?.make_ascii_lowercase();
        find(&plain)
    })
}
