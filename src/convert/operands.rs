//! Pipelines and operands: what stands where in a template, as Tera's expressions.

use crate::gotemplate::ast::{Chain, Command, Number, Operand, Pipe};

use super::{
    Unsupported,
    calls::refusal,
    expr::{Ex, Known, field, quoted, tight},
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
}
