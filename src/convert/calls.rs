//! Calls of functions: as operators where Tera has one, else as filters of what the function works on.

use crate::render::{native_answer, native_arguments, native_names};

use super::{
    Unsupported,
    expr::{Ex, Known, quoted, tight},
    operators::native,
    template::Template,
};

impl Template<'_, '_> {
    pub(super) fn include(&mut self, name: &Ex, data: &Ex) -> Ex {
        let text = if data.text == "dot" {
            format!("include(name={})", name.text)
        } else {
            format!("include(name={}, data={})", name.text, data.text)
        };
        Ex::atom(text).known(Known::Text).over(&[name, data])
    }

    /// A call of a function with its arguments in Go's order.
    pub(super) fn call(&mut self, name: &str, mut args: Vec<Ex>) -> Result<Ex, Unsupported> {
        // Lists may nest twice, and what is called may put another one around.
        for arg in &mut args {
            if arg.lists >= 2 {
                *arg = self.hold("list", arg);
            }
        }
        if name == "default" {
            // It looks at no more.
            args.truncate(2);
        }
        if let Some(ex) = native(name, &args) {
            return Ok(ex);
        }
        match (name, args.as_slice()) {
            ("include", [name, data]) => return Ok(self.include(&name.clone(), &data.clone())),
            ("tpl", [text, data]) if data.text == "dot" => {
                return Ok(filter(text, "tpl", &[]).known(Known::Text));
            }
            ("tpl", [text, data]) => {
                return Ok(filter(text, "tpl", &[("data", data.text.clone())])
                    .known(Known::Text)
                    .over(&[data]));
            }
            _ => {}
        }
        self.general(name, &args)
    }

    /// A function as a filter of the argument that it works on, or as a function where there is no such.
    fn general(&mut self, go: &str, args: &[Ex]) -> Result<Ex, Unsupported> {
        let Some(names) = native_arguments(go) else {
            return self.unsupported(format!("the function {go}"));
        };
        let Some((spelling, variadic)) = native_names(go) else {
            return self.unsupported(format!("the function {go}"));
        };
        let fixed = names.len() - usize::from(variadic);
        if args.len() < fixed || (!variadic && args.len() > fixed) {
            let (want, got) = (if variadic { "at least " } else { "" }, args.len());
            return Ok(refusal(&format!("wrong number of args for {go}: want {want}{fixed} got {got}")));
        }
        let known = match native_answer(go) {
            Some(true) => Known::Text,
            Some(false) => Known::Bool,
            None if matches!(go, "int" | "int64" | "len" | "atoi") => Known::Int,
            None => Known::Any,
        };
        let subject = subject(go, fixed, variadic, args.len());
        let mut kwargs: Vec<(&str, String)> = Vec::new();
        for (at, arg) in args.iter().enumerate().take(fixed).filter(|(at, _)| Some(*at) != subject) {
            kwargs.push((names[at], arg.text.clone()));
        }
        let rest: Vec<&Ex> = args
            .iter()
            .enumerate()
            .skip(fixed)
            .filter(|(at, _)| Some(*at) != subject)
            .map(|(_, arg)| arg)
            .collect();
        let mut lists = 0;
        if !rest.is_empty() {
            let name = names[fixed];
            let listed: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
            let single = matches!(name, "given" | "half");
            if !single {
                lists = 1 + rest.iter().map(|arg| arg.lists).max().unwrap_or_default();
            }
            let list = if single { listed.join(", ") } else { format!("[{}]", listed.join(", ")) };
            kwargs.push((name, list));
        }
        let refs: Vec<&Ex> = args.iter().collect();
        let mut ex = match subject {
            Some(at) => filter(&args[at], &spelling, &kwargs),
            None => Ex::atom(format!("{spelling}({})", joined(&kwargs))),
        };
        ex = ex.known(known).over(&refs);
        ex.lists = ex.lists.max(lists);
        Ok(ex)
    }
}

/// What Go finds wrong when it gets there.
pub(super) fn refusal(text: &str) -> Ex {
    Ex::atom(format!("fail(text={})", quoted(text)))
}

fn joined(kwargs: &[(&str, String)]) -> String {
    kwargs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn filter(value: &Ex, name: &str, kwargs: &[(&str, String)]) -> Ex {
    let call = if kwargs.is_empty() { name.to_owned() } else { format!("{name}({})", joined(kwargs)) };
    Ex::new(format!("{} | {call}", value.at(tight::FILTER)), tight::FILTER).over(&[value])
}

/// Functions that read better as functions.
const PLAIN: &[&str] = &[
    "add",
    "addf",
    "biggest",
    "buildCustomCert",
    "cat",
    "coalesce",
    "concat",
    "derivePassword",
    "dict",
    "dig",
    "fail",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "htpasswd",
    "list",
    "lookup",
    "max",
    "maxf",
    "min",
    "minf",
    "mustDict",
    "print",
    "printf",
    "println",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "tuple",
    "until",
    "untilStep",
    "uuidv4",
    "now",
];

/// Functions that work on their first argument, and on the second.
const FIRST: &[&str] = &[
    "append",
    "div",
    "divf",
    "get",
    "hasKey",
    "index",
    "merge",
    "mergeOverwrite",
    "mod",
    "mul",
    "mulf",
    "mustAppend",
    "mustMerge",
    "mustMergeOverwrite",
    "mustPrepend",
    "mustPush",
    "mustSlice",
    "mustWithout",
    "omit",
    "pick",
    "prepend",
    "push",
    "round",
    "set",
    "slice",
    "sub",
    "subf",
    "unset",
    "without",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "deepEqual",
    "htmlDateInZone",
];
const SECOND: &[&str] = &[
    "dateInZone",
    "date_in_zone",
    "regexFindAll",
    "regexReplaceAll",
    "regexReplaceAllLiteral",
    "regexSplit",
    "mustRegexFindAll",
    "mustRegexReplaceAll",
    "mustRegexReplaceAllLiteral",
    "mustRegexSplit",
];

/// The argument that a function works on: what is piped into the filter.
fn subject(go: &str, fixed: usize, variadic: bool, count: usize) -> Option<usize> {
    if PLAIN.contains(&go) || count == 0 {
        return None;
    }
    if FIRST.contains(&go) {
        return Some(0);
    }
    if SECOND.contains(&go) {
        return Some(1);
    }
    match (go, variadic) {
        ("default", _) if count == 2 => Some(1),
        ("default", _) => None,
        // What is piped comes before the other further arguments.
        (_, true) if fixed == 0 && count == 1 => Some(0),
        (_, true) => None,
        (_, false) => Some(fixed - 1),
    }
}
