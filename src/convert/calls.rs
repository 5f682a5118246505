//! Pipelines, operands and calls.

use crate::{
    gotemplate::ast::{Chain, Command, Number, Operand, Pipe},
    render::{native_answer, native_arguments, native_names},
};

use super::{
    Unsupported,
    expr::{Ex, Known, field, is_field, quoted, tight},
    names::OBJECTS,
    template::{Dot, Template},
};

impl<'a> Template<'a, '_> {
    /// The value of a pipeline, without what it declares.
    pub(super) fn commands(&mut self, pipe: &Pipe<'a>) -> Result<Ex, Unsupported> {
        let mut value = None;
        for command in pipe.cmds {
            value = Some(self.command(command, value)?);
        }
        match value {
            Some(value) => Ok(value),
            None => self.unsupported("an empty pipeline"),
        }
    }

    fn command(&mut self, command: &Command<'a>, piped: Option<Ex>) -> Result<Ex, Unsupported> {
        let Some((first, args)) = command.args.split_first() else {
            return self.unsupported("an empty command");
        };
        if let Operand::Identifier(function) = first {
            let mut values = args.iter().map(|arg| self.operand(arg)).collect::<Result<Vec<_>, _>>()?;
            values.extend(piped);
            return self.call(function.name, values);
        }
        if args.is_empty() && piped.is_none() {
            return self.operand(first);
        }
        let (base, name) = match first {
            Operand::Field(path) => self.receiver(None, path.fields())?,
            Operand::Variable(variable) if variable.fields().next().is_some() => {
                let base = self.variable(variable.name());
                self.receiver(Some(base), variable.fields())?
            }
            Operand::Chain(chain) => {
                let base = self.operand(&chain.base)?;
                self.receiver(Some(Some(base)), chain.fields())?
            }
            other => {
                let text =
                    format!("can't give argument to non-function {}", crate::gotemplate::print(*other));
                return Ok(refusal(&text));
            }
        };
        let mut values = args.iter().map(|arg| self.operand(arg)).collect::<Result<Vec<_>, _>>()?;
        values.extend(piped);
        Ok(self.method(&base, name, &values))
    }

    /// What a method is called on, and the method's name. Without a base it is the dot.
    fn receiver(
        &mut self,
        base: Option<Option<Ex>>,
        fields: impl DoubleEndedIterator<Item = &'a str>,
    ) -> Result<(Ex, &'a str), Unsupported> {
        let mut fields: Vec<&str> = fields.collect();
        let Some(name) = fields.pop() else { return self.unsupported("a method without a name") };
        let base = match base {
            // Of the template's dot, or of a value.
            None | Some(None) if fields.is_empty() => {
                if base.is_none() {
                    self.dot_value()
                } else {
                    Ex::path("dot")
                }
            }
            None => self.dot_fields(&fields),
            Some(None) => self.root_fields(&fields),
            Some(Some(base)) => Self::fields(base, &fields),
        };
        Ok((base, name))
    }

    fn method(&mut self, base: &Ex, name: &str, args: &[Ex]) -> Ex {
        let ends = |name: &str| base.text == name || base.text.ends_with(&format!(".{name}"));
        if let [arg] = args {
            let item = || Ex::atom(format!("{}[{}]", base.at(tight::FILTER), arg.text)).over(&[base, arg]);
            let filter = |value: &Ex, call: String| {
                Ex::new(format!("{} | {call}", value.at(tight::FILTER)), tight::FILTER).over(&[value, arg])
            };
            match name {
                "Get" if ends("Files") => return item().known(Known::Text),
                "GetBytes" if ends("Files") => return filter(&item(), "bytes".to_owned()),
                "Lines" if ends("Files") => return filter(&item(), "lines".to_owned()),
                "Glob" if ends("Files") => return filter(base, format!("glob(pattern={})", arg.text)),
                "Has" if ends("APIVersions") => {
                    let text = format!("{} in {}", arg.at(tight::TEST + 1), base.text);
                    return Ex::new(text, tight::TEST).known(Known::Bool).over(&[base, arg]);
                }
                _ => {}
            }
        }
        let list: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        let text =
            format!("{} | call(method={}, args=[{}])", base.at(tight::FILTER), quoted(name), list.join(", "));
        let mut ex = Ex::new(text, tight::FILTER);
        ex.lists = 1 + args.iter().map(|arg| arg.lists).max().unwrap_or_default();
        ex
    }

    fn dot_value(&self) -> Ex {
        match &self.dot {
            Dot::Root => Ex::path("dot"),
            Dot::Of(text) => Ex::path(text.clone()),
        }
    }

    fn root_fields(&self, fields: &[&str]) -> Ex {
        match fields.split_first() {
            None => Ex::path("dot"),
            Some((first, rest)) => {
                let ex = Self::fields(Ex::path(self.of_root(first)), rest);
                let known = match fields {
                    ["Release", "Name" | "Namespace" | "Service"]
                    | ["Chart", "Name" | "Version" | "AppVersion"]
                    | ["Template", "Name" | "BasePath"] => Known::Text,
                    _ => Known::Any,
                };
                ex.known(known)
            }
        }
    }

    fn dot_fields(&self, fields: &[&str]) -> Ex {
        match &self.dot {
            Dot::Root => self.root_fields(fields),
            Dot::Of(text) => Self::fields(Ex::path(text.clone()), fields),
        }
    }

    /// Fields of a value. Of nil, the first of them is nil, and a field of that is an error.
    fn fields(base: Ex, fields: &[&str]) -> Ex {
        let mut ex = base;
        for name in fields {
            if matches!(*name, "AsConfig" | "AsSecrets") {
                let filter = if *name == "AsConfig" { "as_config" } else { "as_secrets" };
                ex = Ex::new(format!("{} | {filter}", ex.at(tight::FILTER)), tight::FILTER)
                    .known(Known::Text)
                    .over(&[&ex]);
            } else if ex.path {
                ex = Ex::path(field(&ex.text, name, false));
            } else {
                ex = Ex::atom(format!("{}[{}]", ex.at(tight::ATOM), quoted(name))).over(&[&ex]);
            }
        }
        ex
    }

    /// What a variable holds; none for `$`, which is the template's dot.
    fn variable(&self, name: &str) -> Option<Ex> {
        let name = &name[1..];
        if name.is_empty() {
            return None;
        }
        Some(Ex::path(self.scope.find(name).unwrap_or(name)).known(self.scope.known(name)))
    }

    fn chain(&mut self, chain: &Chain<'a>) -> Result<Ex, Unsupported> {
        let base = self.operand(&chain.base)?;
        let mut fields: Vec<&str> = chain.fields().collect();
        if base.path && base.text != "dot" && !matches!(fields[0], "AsConfig" | "AsSecrets") {
            // What stands in parentheses may be nil.
            let first = fields.remove(0);
            let ex = if OBJECTS.contains(&base.text.as_str()) {
                field(&base.text, first, false)
            } else {
                field(&base.text, first, true)
            };
            return Ok(Self::fields(Ex::path(ex), &fields));
        }
        Ok(Self::fields(base, &fields))
    }

    pub(super) fn operand(&mut self, operand: &Operand<'a>) -> Result<Ex, Unsupported> {
        Ok(match operand {
            Operand::Identifier(function) => return self.call(function.name, Vec::new()),
            Operand::Variable(variable) => {
                let fields: Vec<&str> = variable.fields().collect();
                match self.variable(variable.name()) {
                    None => self.root_fields(&fields),
                    Some(base) => Self::fields(base, &fields),
                }
            }
            Operand::Dot(_) => self.dot_value(),
            Operand::Nil(_) => Ex::atom("none"),
            Operand::Field(path) => {
                let fields: Vec<&str> = path.fields().collect();
                self.dot_fields(&fields)
            }
            Operand::Chain(chain) => return self.chain(chain),
            Operand::Bool(literal) => {
                Ex::atom(if literal.value { "true" } else { "false" }).known(Known::Bool)
            }
            Operand::Number(number) => return self.number(number),
            Operand::String(literal) => match std::str::from_utf8(literal.text) {
                Ok(text) => Ex::text(text),
                Err(_) => return self.unsupported("a string that is not UTF-8"),
            },
            Operand::Pipe(pipe) => {
                if !pipe.decl.is_empty() {
                    return self.unsupported("a variable that is declared in parentheses");
                }
                return self.commands(pipe);
            }
        })
    }

    fn number(&self, number: &Number<'a>) -> Result<Ex, Unsupported> {
        let written = String::from_utf8_lossy(number.text);
        let hex = written.to_ascii_lowercase().contains("0x");
        let float = !number.is_char
            && if hex { written.contains(['p', 'P']) } else { written.contains(['.', 'e', 'E', 'p', 'P']) };
        let text = match (number.complex, float, number.int, number.float) {
            (None, false, Some(int), _) if int > i64::MIN => int.to_string(),
            (None, true, _, Some(value)) if value.is_finite() => {
                let text = value.to_string();
                if text.contains('.') { text } else { text + ".0" }
            }
            _ => return self.unsupported(format!("the number {written}")),
        };
        let known = if float { Known::Any } else { Known::Int };
        let tight = if text.starts_with('-') { tight::MINUS } else { tight::ATOM };
        Ok(Ex::new(text, tight).known(known))
    }

    pub(super) fn include(&mut self, name: &Ex, data: &Ex) -> Ex {
        let text = if data.text == "dot" {
            format!("include(name={})", name.text)
        } else {
            format!("include(name={}, data={})", name.text, data.text)
        };
        Ex::atom(text).known(Known::Text).over(&[name, data])
    }

    /// A call of a function with its arguments in Go's order.
    fn call(&mut self, name: &str, mut args: Vec<Ex>) -> Result<Ex, Unsupported> {
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
fn refusal(text: &str) -> Ex {
    Ex::atom(format!("fail(text={})", quoted(text)))
}

fn joined(kwargs: &[(&str, String)]) -> String {
    kwargs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn filter(value: &Ex, name: &str, kwargs: &[(&str, String)]) -> Ex {
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

/// What Tera has an operator or a literal for.
fn native(name: &str, args: &[Ex]) -> Option<Ex> {
    let binary = |operator: &str, left: &Ex, right: &Ex, before: u8, after: u8, known: Known| {
        Ex::new(format!("{} {operator} {}", left.at(before), right.at(after)), before)
            .known(known)
            .over(&[left, right])
    };
    let compare = |operator: &str| match args {
        [left, right] => Some(Ex {
            tight: tight::COMPARISON,
            ..binary(operator, left, right, tight::COMPARISON + 1, tight::COMPARISON + 1, Known::Bool)
        }),
        _ => None,
    };
    match (name, args) {
        ("and" | "or", [first, rest @ ..]) => {
            let (before, word) = if name == "or" { (tight::OR, "or") } else { (tight::AND, "and") };
            let mut all = first.clone();
            for one in rest {
                let known =
                    if all.known == one.known && all.known != Known::Int { all.known } else { Known::Any };
                all = binary(word, &all, one, before, before + 1, known);
            }
            Some(Ex { path: all.path && rest.is_empty(), ..all })
        }
        ("not" | "empty", [value]) => {
            let text = if value.text.starts_with("not ") || value.tight == tight::MINUS {
                format!("not ({})", value.text)
            } else {
                format!("not {}", value.at(tight::TEST + 1))
            };
            Some(Ex::new(text, tight::TEST).known(Known::Bool).over(&[value]))
        }
        ("eq", [value, others @ ..]) if others.len() > 1 => {
            let list: Vec<&str> = others.iter().map(|other| other.text.as_str()).collect();
            let text = format!("{} in [{}]", value.at(tight::TEST + 1), list.join(", "));
            let mut ex =
                Ex::new(text, tight::TEST).known(Known::Bool).over(&others.iter().collect::<Vec<_>>());
            ex.lists += 1;
            ex.lists = ex.lists.max(value.lists);
            Some(ex)
        }
        ("eq", _) => compare("=="),
        ("ne", _) => compare("!="),
        ("lt", _) => compare("<"),
        ("le", _) => compare("<="),
        ("gt", _) => compare(">"),
        ("ge", _) => compare(">="),
        ("hasKey", [map, key]) => Some(Ex {
            tight: tight::TEST,
            ..binary("in", key, map, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("contains", [part, text]) => Some(Ex {
            tight: tight::TEST,
            ..binary("in", part, text, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("has", [item, list]) if item.known == Known::Text => Some(Ex {
            tight: tight::TEST,
            ..binary("in", item, list, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("hasPrefix" | "hasSuffix", [part, text]) => {
            let test = if name == "hasPrefix" { "starting_with" } else { "ending_with" };
            let text_ = format!("{} is {test}(pat={})", text.at(tight::TEST), part.text);
            Some(Ex::new(text_, tight::TEST).known(Known::Bool).over(&[part, text]))
        }
        ("ternary", [yes, no, condition]) => {
            let text = format!("{} if {} else {}", yes.at(1), condition.at(tight::OR), no.at(1));
            let known = if yes.known == no.known { yes.known } else { Known::Any };
            Some(Ex::new(text, tight::CHOICE).known(known).over(&[yes, no, condition]))
        }
        ("dict", entries) if entries.chunks(2).all(|pair| pair[0].literal.is_some()) => {
            let written: Vec<String> = entries
                .chunks(2)
                .map(|pair| {
                    let value = pair.get(1).map_or("\"\"", |value| value.text.as_str());
                    format!("{}: {value}", pair[0].text)
                })
                .collect();
            let mut text = format!("{{{}", written.join(", "));
            if text.ends_with('}') {
                text.push(' ');
            }
            text.push('}');
            Some(Ex::atom(text).over(&entries.iter().collect::<Vec<_>>()))
        }
        ("list" | "tuple", items) => {
            let written: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            let mut ex =
                Ex::atom(format!("[{}]", written.join(", "))).over(&items.iter().collect::<Vec<_>>());
            ex.lists += 1;
            Some(ex)
        }
        ("index", [value, keys @ ..]) => {
            let mut ex = value.clone();
            for key in keys {
                let name = key.literal.as_deref().filter(|name| is_field(name));
                ex = match name {
                    Some(name) if ex.path => Ex::path(field(&ex.text, name, false)),
                    _ => {
                        let path = ex.path && key.literal.is_some();
                        Ex {
                            path,
                            ..Ex::atom(format!("{}[{}]", ex.at(tight::ATOM), key.text)).over(&[&ex, key])
                        }
                    }
                };
            }
            Some(ex)
        }
        ("dig", [keys @ .., default, map]) if !keys.is_empty() => {
            let listed: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
            let keys_text = format!("[{}]", listed.join(", "));
            let mut ex = filter(map, "dig", &[("keys", keys_text), ("default", default.text.clone())])
                .over(&[default]);
            ex.lists = ex.lists.max(1 + keys.iter().map(|key| key.lists).max().unwrap_or_default());
            Some(ex)
        }
        ("printf", [format, values @ ..]) if values.iter().all(|value| value.known == Known::Text) => {
            let mut parts = format.literal.as_deref()?.split("%s");
            if format.literal.as_deref()?.replace("%s", "").contains('%') {
                return None;
            }
            let mut pieces = vec![parts.next().map(Ex::text)?];
            let mut values_left = values.iter();
            for part in parts {
                pieces.push(values_left.next()?.clone());
                pieces.push(Ex::text(part));
            }
            if values_left.next().is_some() || values.len() > 6 {
                return None;
            }
            concatenated(&pieces)
        }
        ("print", [value]) if value.known == Known::Text => Some(value.clone()),
        ("print", values @ [_, _, ..]) if values.iter().all(|value| value.known == Known::Text) => {
            concatenated(values)
        }
        ("add" | "sub" | "mul", [first, rest @ ..])
            if !rest.is_empty() && args.iter().all(|arg| arg.known == Known::Int) =>
        {
            let (operator, before) = match name {
                "add" => ("+", tight::SUM),
                "sub" => ("-", tight::SUM),
                _ => ("*", tight::PRODUCT),
            };
            let mut all = first.clone();
            for one in rest {
                all = binary(operator, &all, one, before, before + 1, Known::Int);
            }
            Some(all)
        }
        ("add1", [value]) if value.known == Known::Int => {
            Some(binary("+", value, &Ex::atom("1"), tight::SUM, tight::SUM + 1, Known::Int))
        }
        _ => None,
    }
}

fn concatenated(pieces: &[Ex]) -> Option<Ex> {
    let used: Vec<&Ex> = pieces.iter().filter(|piece| piece.literal.as_deref() != Some("")).collect();
    if used.is_empty() || used.len() < 2 {
        return used.first().map(|one| (*one).clone()).filter(|one| one.literal.is_none());
    }
    let text: Vec<String> = used.iter().map(|piece| piece.at(tight::PRODUCT + 1)).collect();
    Some(Ex::new(text.join(" ~ "), tight::PRODUCT).known(Known::Text).over(&used))
}
