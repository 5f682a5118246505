//! The names of functions in native templates, and those of their arguments.
//!
//! Go's functions are called by position. Here each argument has a name, and a filter gets what is piped as the first argument
//! that is not named. Every function has its name of Go's charts, and that in Tera's style: `toYaml` and `to_yaml`.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use crate::functions::{self, Function, Param};

/// The arguments of functions that take several, in Go's order. The last one of a variadic function is a list.
const NAMES: &[(&str, &[&str])] = &[
    ("abbrev", &["width", "text"]),
    ("abbrevboth", &["left", "right", "text"]),
    ("add", &["numbers"]),
    ("addf", &["numbers"]),
    ("append", &["list", "item"]),
    ("biggest", &["number", "others"]),
    ("buildCustomCert", &["cert", "key"]),
    ("cat", &["values"]),
    ("chunk", &["size", "list"]),
    ("coalesce", &["values"]),
    ("concat", &["lists"]),
    ("contains", &["part", "text"]),
    ("date", &["layout", "time"]),
    ("dateInZone", &["layout", "time", "zone"]),
    ("dateModify", &["change", "time"]),
    ("decryptAES", &["password", "text"]),
    ("deepEqual", &["value", "other"]),
    ("default", &["value", "given"]),
    ("derivePassword", &["counter", "kind", "password", "user", "site"]),
    ("dict", &["entries"]),
    ("dig", &["map", "keys", "default"]),
    ("div", &["number", "by"]),
    ("divf", &["number", "by"]),
    ("durationRoundTo", &["duration", "unit"]),
    ("durationTruncateTo", &["duration", "unit"]),
    ("encryptAES", &["password", "text"]),
    ("eq", &["value", "others"]),
    ("ge", &["value", "other"]),
    ("genCA", &["name", "days"]),
    ("genCAWithKey", &["name", "days", "key"]),
    ("genSelfSignedCert", &["name", "ips", "dns", "days"]),
    ("genSelfSignedCertWithKey", &["name", "ips", "dns", "days", "key"]),
    ("genSignedCert", &["name", "ips", "dns", "days", "ca"]),
    ("genSignedCertWithKey", &["name", "ips", "dns", "days", "ca", "key"]),
    ("get", &["map", "key"]),
    ("gt", &["value", "other"]),
    ("has", &["item", "list"]),
    ("hasKey", &["map", "key"]),
    ("hasPrefix", &["prefix", "text"]),
    ("hasSuffix", &["suffix", "text"]),
    ("htmlDateInZone", &["time", "zone"]),
    ("htpasswd", &["user", "password"]),
    ("include", &["name", "data"]),
    ("indent", &["spaces", "text"]),
    ("index", &["value", "keys"]),
    ("join", &["sep", "list"]),
    ("keys", &["maps"]),
    ("kindIs", &["kind", "value"]),
    ("le", &["value", "other"]),
    ("list", &["items"]),
    ("lookup", &["api_version", "kind", "namespace", "name"]),
    ("lt", &["value", "other"]),
    ("max", &["number", "others"]),
    ("maxf", &["number", "others"]),
    ("merge", &["map", "others"]),
    ("mergeOverwrite", &["map", "others"]),
    ("min", &["number", "others"]),
    ("minf", &["number", "others"]),
    ("mod", &["number", "by"]),
    ("mul", &["number", "by"]),
    ("mulf", &["number", "by"]),
    ("ne", &["value", "other"]),
    ("nindent", &["spaces", "text"]),
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
    ("regexReplaceAll", &["pattern", "text", "with"]),
    ("regexReplaceAllLiteral", &["pattern", "text", "with"]),
    ("regexSplit", &["pattern", "text", "count"]),
    ("repeat", &["count", "text"]),
    ("replace", &["from", "to", "text"]),
    ("required", &["message", "value"]),
    ("round", &["number", "places", "half"]),
    ("semverCompare", &["constraint", "version"]),
    ("set", &["map", "key", "value"]),
    ("slice", &["list", "bounds"]),
    ("split", &["sep", "text"]),
    ("splitList", &["sep", "text"]),
    ("splitn", &["sep", "count", "text"]),
    ("sub", &["number", "by"]),
    ("subf", &["number", "by"]),
    ("substr", &["start", "end", "text"]),
    ("ternary", &["yes", "no", "condition"]),
    ("toDate", &["layout", "text"]),
    ("tpl", &["text", "data"]),
    ("trimAll", &["characters", "text"]),
    ("trimPrefix", &["prefix", "text"]),
    ("trimSuffix", &["suffix", "text"]),
    ("trunc", &["length", "text"]),
    ("tuple", &["items"]),
    ("typeIs", &["type", "value"]),
    ("typeIsLike", &["type", "value"]),
    ("unset", &["map", "key"]),
    ("untilStep", &["start", "stop", "step"]),
    ("without", &["list", "items"]),
    ("wrap", &["width", "text"]),
    ("wrapWith", &["width", "sep", "text"]),
];

/// Further arguments of which there is but one, so that it need not be given as a list.
const SINGLE: &[&str] = &["given", "half"];

/// Functions whose names are other words in Tera's style than the rule gives.
const STYLED: &[(&str, &str)] = &[
    ("genCA", "gen_ca"),
    ("genCAWithKey", "gen_ca_with_key"),
    ("decryptAES", "decrypt_aes"),
    ("encryptAES", "encrypt_aes"),
    ("urlJoin", "url_join"),
    ("urlParse", "url_parse"),
];

/// The functions that the renderer itself has.
pub(super) const OWN: &[&str] = &["include", "lookup", "tpl"];

/// Words of Tera's grammar, which are no names.
const RESERVED: &[&str] = &["and", "not", "or", "in", "is"];

/// The objects of a chart's templates.
const OBJECTS: &[&str] =
    &["Capabilities", "Chart", "Files", "Release", "Subcharts", "Template", "Values", "dot"];

/// Filters that are there for native templates alone.
const NATIVE: &[&str] = &["as_config", "as_secrets", "bytes", "call", "glob", "lines", "text"];

/// Filters of Tera's whose names functions of charts have too. With these arguments they are Tera's, else the function's.
const SHARED: &[(&str, &[&str])] = &[
    ("default", &["boolean"]),
    ("first", &[]),
    ("get", &["default"]),
    ("int", &["base"]),
    ("join", &[]),
    ("keys", &[]),
    ("last", &[]),
    ("lower", &[]),
    ("replace", &[]),
    ("split", &["pat"]),
    ("trim", &["pat"]),
    ("upper", &[]),
    ("values", &[]),
];

/// The same the other way round: with these arguments they are the function's, else Tera's.
const TERAS: &[(&str, &[&str])] = &[("indent", &["spaces"]), ("round", &["places"])];

/// Names that are Tera's; the function has another one.
const RENAMED: &[(&str, &str)] = &[("reverse", "go_reverse"), ("title", "go_title")];

/// A function's names in native templates.
struct Known {
    /// The name in Go's charts.
    go: &'static str,
}

static BY_NAME: LazyLock<HashMap<Cow<'static, str>, Known>> = LazyLock::new(|| {
    let mut by_name = HashMap::new();
    for go in functions::all().iter().map(|function| function.name).chain(OWN.iter().copied()) {
        for name in spellings(go) {
            by_name.entry(name).or_insert(Known { go });
        }
    }
    by_name
});

/// The function of charts that a native template means by a name: its name in Go's charts.
pub(super) fn function(name: &str) -> Option<&'static str> {
    BY_NAME.get(name).map(|known| known.go).or_else(|| {
        let name = name.strip_prefix("go_")?;
        [SHARED, TERAS].concat().iter().find(|(shared, _)| *shared == name).map(|(shared, _)| *shared)
    })
}

/// Whether a filter, given these arguments, is one of Tera's own.
pub(super) fn is_teras<'n>(name: &str, mut given: impl Iterator<Item = &'n str>) -> bool {
    let listed = |list: &[(&str, &'static [&'static str])]| {
        list.iter().find(|(shared, _)| *shared == name).map(|(_, keys)| *keys)
    };
    if let Some(keys) = listed(TERAS) {
        return !given.any(|key| keys.contains(&key));
    }
    if let Some(keys) = listed(SHARED) {
        return given.any(|key| keys.contains(&key));
    }
    function(name).is_none() && !NATIVE.contains(&name)
}

/// The name under which a filter that is not Tera's is registered: beside that of Tera.
pub(super) fn registered(name: Cow<'static, str>) -> Cow<'static, str> {
    let shared = [SHARED, TERAS].concat().iter().any(|(shared, _)| *shared == name);
    if shared { Cow::Owned(format!("go_{name}")) } else { name }
}

/// The same, for the lowering.
pub(super) fn called(name: &str) -> String {
    let shared = SHARED.iter().chain(TERAS).any(|(shared, _)| *shared == name);
    if shared { format!("go_{name}") } else { name.to_owned() }
}

/// Whether a name is that of one of the objects that all templates have.
pub(super) fn is_object(name: &str) -> bool {
    OBJECTS.contains(&name)
}

/// Whether what is given for an argument of this name is one value, though the function takes more there.
pub(super) fn is_single(argument: &str) -> bool {
    SINGLE.contains(&argument)
}

/// The names by which native templates may call a function of charts, the one in Tera's style first. None for words of Tera's
/// grammar.
#[must_use]
pub fn spellings(go: &'static str) -> Vec<Cow<'static, str>> {
    if RESERVED.contains(&go) {
        return Vec::new();
    }
    if let Some((_, name)) = RENAMED.iter().find(|(name, _)| *name == go) {
        return vec![Cow::Borrowed(*name)];
    }
    let styled = styled(go);
    if styled == go { vec![styled] } else { vec![styled, Cow::Borrowed(go)] }
}

/// A name in Tera's style: `to_yaml` for `toYaml`.
fn styled(go: &'static str) -> Cow<'static, str> {
    if let Some((_, name)) = STYLED.iter().find(|(name, _)| *name == go) {
        return Cow::Borrowed(*name);
    }
    if !go.contains(|c: char| c.is_ascii_uppercase()) {
        return Cow::Borrowed(go);
    }
    let mut name = String::with_capacity(go.len() + 4);
    let mut capital = true;
    for c in go.chars() {
        if c.is_ascii_uppercase() && !capital {
            name.push('_');
        }
        capital = c.is_ascii_uppercase();
        name.push(c.to_ascii_lowercase());
    }
    Cow::Owned(name)
}

/// The names of a function's arguments, one for each parameter, and one more for the list of those that may follow.
pub(super) fn of(function: &Function) -> Vec<&'static str> {
    let count = function.params.len() + usize::from(function.variadic.is_some());
    if let Some(names) = listed(function.name).filter(|names| names.len() == count || function.name == "dig")
    {
        return names.to_vec();
    }
    match (function.params, function.variadic) {
        ([], Some(_)) => vec!["values"],
        ([param], None) => vec![match param {
            Param::String => "text",
            Param::Map => "map",
            Param::List => "list",
            Param::Int | Param::Float64 | Param::Uint32 => "number",
            _ => "value",
        }],
        _ => UNNAMED.get(..count).unwrap_or(UNNAMED).to_vec(),
    }
}

/// The names of arguments for which nobody has thought of better ones.
const UNNAMED: &[&str] = &["arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7", "arg8"];

/// The names of one of the functions that the renderer itself has.
pub(super) fn own(function: &str) -> Vec<&'static str> {
    listed(function).unwrap_or_default().to_vec()
}

/// The names of the arguments of a function of charts in native templates, in Go's order; none if there is no such function.
#[must_use]
pub fn arguments(go: &str) -> Option<Vec<&'static str>> {
    match functions::find(go) {
        Some(function) => Some(of(function)),
        None => OWN.contains(&go).then(|| own(go)),
    }
}

/// The name in Tera's style of a function of charts, and whether its last argument is a list of further ones.
#[must_use]
pub fn names(go: &str) -> Option<(String, bool)> {
    let own = OWN.iter().find(|name| **name == go).copied();
    let found = functions::find(go);
    let name = own.or(found.map(|function| function.name))?;
    let spelled = spellings(name).into_iter().next()?;
    Some((spelled.into_owned(), found.is_some_and(|function| function.variadic.is_some())))
}

/// What a function of charts always answers, if that is known: true for a string, false for a boolean.
#[must_use]
pub fn answer(go: &str) -> Option<bool> {
    if super::super::vocabulary::answers_text(go) {
        return Some(true);
    }
    super::super::vocabulary::answers_bool(go).then_some(false)
}

fn listed(function: &str) -> Option<&'static [&'static str]> {
    let find = |function: &str| NAMES.iter().find(|(name, _)| *name == function).map(|(_, names)| *names);
    find(function).or_else(|| {
        // `mustX` takes what `x` takes, and `date_modify` what `dateModify` does.
        let plain =
            function.replace("must_", "must").replace("_modify", "Modify").replace("_in_zone", "InZone");
        let plain = plain.replace("trimall", "trimAll");
        let mut rest = plain.strip_prefix("must").unwrap_or(&plain).to_owned();
        rest.get_mut(..1)?.make_ascii_lowercase();
        find(&rest)
    })
}

#[cfg(test)]
mod tests {
    use super::{NAMES, UNNAMED, arguments, function, functions, of, own, spellings};

    #[test]
    fn every_argument_has_a_name() {
        for function in functions::all() {
            let names = of(function);
            if function.name == "dig" {
                continue;
            }
            assert_eq!(names.len(), function.params.len() + usize::from(function.variadic.is_some()));
            assert!(!names.iter().any(|name| UNNAMED.contains(name)), "{}", function.name);
        }
    }

    #[test]
    fn only_functions_are_named() {
        for (name, names) in NAMES {
            assert_eq!(arguments(name).as_deref(), Some(*names), "{name}");
        }
        assert_eq!(own("include"), ["name", "data"]);
    }

    #[test]
    fn functions_have_two_names() {
        assert_eq!(spellings("regexReplaceAll"), ["regex_replace_all", "regexReplaceAll"]);
        assert_eq!(spellings("b64enc"), ["b64enc"]);
        assert_eq!(function("to_yaml"), Some("toYaml"));
        assert_eq!(function("go_title"), Some("title"));
        assert_eq!(function("title"), None);
    }
}
