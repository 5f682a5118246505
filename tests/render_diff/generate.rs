//! Charts out of random choices: templates that mostly fit the values they are rendered with, and now and then do not.
//!
//! Maps are changed only in ways that cannot make one contain itself: Go would not survive printing it.

use pintle::value::quote::quote;

use crate::judge::choices::Choices;

use vocabulary::{LITERALS, TYPES, Type, calls, paths};

#[path = "vocabulary.rs"]
pub mod vocabulary;

pub struct Generator<'c> {
    c: Choices<'c>,
    /// The variables that are visible.
    vars: Vec<(String, Type)>,
    names: usize,
    dot: Type,
    /// Whether `$` is the file's dot.
    rooted: bool,
    ranges: usize,
    /// How many of the helpers may be included.
    helpers: usize,
}

const HELPERS: &[(&str, Type)] =
    &[("h.item", Type::Item), ("h.root", Type::Root), ("h.any", Type::Any), ("h.str", Type::Str)];

impl<'c> Generator<'c> {
    pub fn new(bytes: &'c [u8]) -> Self {
        Self {
            c: Choices::new(bytes),
            vars: Vec::new(),
            names: 0,
            dot: Type::Root,
            rooted: true,
            ranges: 0,
            helpers: 0,
        }
    }

    /// A chart: its templates, beside [`VALUES`].
    pub fn chart(mut self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let main = {
            self.helpers = HELPERS.len();
            self.body(4, 3)
        };
        files.push(("templates/x.yaml".to_owned(), main));
        let mut helpers = String::new();
        for (at, (name, dot)) in HELPERS.iter().enumerate() {
            self.helpers = at;
            (self.dot, self.rooted, self.vars) = (*dot, *dot == Type::Root, Vec::new());
            let body = self.body(2, 1);
            helpers.push_str(&format!("{{{{- define \"{name}\" -}}}}{body}{{{{- end }}}}\n"));
        }
        files.push(("templates/_h.tpl".to_owned(), helpers));
        files
    }

    /// One expression, for what is worth looking at by itself.
    pub fn expression(mut self) -> String {
        let wanted = self.c.pick(TYPES);
        let body = self.command(wanted, 3);
        format!("{{{{ {body} }}}}")
    }

    fn body(&mut self, most: usize, depth: usize) -> String {
        let count = self.c.below(most + 1);
        let mark = self.vars.len();
        let body = (0..=count).map(|_| self.statement(depth)).collect();
        self.vars.truncate(mark);
        body
    }

    fn left(&mut self) -> &'static str {
        self.c.pick(&["{{ ", "{{", "{{- ", "{{ "])
    }

    fn right(&mut self) -> &'static str {
        self.c.pick(&[" }}", "}}", " -}}", " }}"])
    }

    fn action(&mut self, inside: &str) -> String {
        let (left, right) = (self.left(), self.right());
        format!("{left}{inside}{right}")
    }

    fn statement(&mut self, depth: usize) -> String {
        if self.c.one_in(12) {
            return self.oddity(depth);
        }
        match self.c.below(if depth == 0 { 8 } else { 14 }) {
            0 => self.c.pick(&["a: ", "\n", " - x\n", "k: v\n  ", "{ }", "text"]).to_owned(),
            1..=3 => {
                let wanted = self.c.pick(TYPES);
                let inside = self.pipeline(wanted, 2);
                self.action(&inside)
            }
            4 => {
                let wanted = self.c.pick(TYPES);
                let value = self.pipeline(wanted, 2);
                let inside = match self.c.below(3) {
                    0 if !self.vars.is_empty() => {
                        let at = self.c.below(self.vars.len());
                        let name = self.vars[at].0.clone();
                        self.vars[at].1 = wanted;
                        format!("{name} = {value}")
                    }
                    _ => {
                        let name = self.declare(wanted);
                        format!("{name} := {value}")
                    }
                };
                self.action(&inside)
            }
            5 => {
                // Something that changes a map.
                let inside = match self.c.below(6) {
                    0..=2 => {
                        let (map, key) = (
                            self.operand(Type::Map, 0),
                            self.c.pick(&["\"a\"", "\"new\"", "\"app\"", "\"c\""]),
                        );
                        let value = match self.c.below(3) {
                            0 => "(dict \"q\" 1)".to_owned(),
                            1 => "(list 1 \"x\")".to_owned(),
                            _ => self.operand(Type::Str, 1),
                        };
                        format!("$_ := set {map} {key} {value}")
                    }
                    3 => format!(
                        "$_ := unset {} {}",
                        self.operand(Type::Map, 0),
                        self.c.pick(&["\"a\"", "\"app\"", "\"b\""])
                    ),
                    4 => format!("$_ := merge {} {}", self.operand(Type::Map, 0), self.operand(Type::Map, 1)),
                    _ => format!(
                        "$_ := mergeOverwrite {} {}",
                        self.operand(Type::Map, 0),
                        self.operand(Type::Map, 1)
                    ),
                };
                self.action(&inside)
            }
            6 if self.helpers > 0 => {
                let inside = self.inclusion();
                self.action(&inside)
            }
            6 | 7 if self.ranges > 0 => self.c.pick(&["{{ break }}", "{{- continue }}"]).to_owned(),
            6 | 7 => {
                let wanted = self.c.pick(TYPES);
                format!("[{}]", {
                    let inside = self.operand(wanted, 1);
                    self.action(&inside)
                })
            }
            8 | 9 => {
                let condition = if self.c.one_in(2) { Type::Bool } else { Type::Any };
                let mark = self.vars.len();
                let pipe = self.condition(condition);
                let opening = self.action(&format!("if {pipe}"));
                let mut whole = opening + &self.body(2, depth - 1);
                while self.c.one_in(3) {
                    let other = self.condition(Type::Any);
                    whole += &self.action(&format!("else if {other}"));
                    whole += &self.body(1, depth - 1);
                }
                if self.c.one_in(2) {
                    whole += &self.action("else");
                    whole += &self.body(1, depth - 1);
                }
                self.vars.truncate(mark);
                whole + &self.action("end")
            }
            10 | 11 => {
                let wanted = self.c.pick(&[Type::Str, Type::Map, Type::Any, Type::Item, Type::Num]);
                let mark = self.vars.len();
                let pipe = if self.c.one_in(4) {
                    let value = self.pipeline(wanted, 1);
                    format!("{} := {value}", self.declare(wanted))
                } else {
                    self.pipeline(wanted, 1)
                };
                let opening = self.action(&format!("with {pipe}"));
                let dot = std::mem::replace(&mut self.dot, wanted);
                let mut whole = opening + &self.body(2, depth - 1);
                self.dot = dot;
                while self.c.one_in(4) {
                    let other = self.condition(Type::Map);
                    whole += &self.action(&format!("else with {other}"));
                    let dot = std::mem::replace(&mut self.dot, Type::Map);
                    whole += &self.body(1, depth - 1);
                    self.dot = dot;
                }
                if self.c.one_in(3) {
                    whole += &self.action("else");
                    whole += &self.body(1, depth - 1);
                }
                self.vars.truncate(mark);
                whole + &self.action("end")
            }
            _ => self.range(depth),
        }
    }

    fn range(&mut self, depth: usize) -> String {
        let (over, element) = match self.c.below(9) {
            0 | 1 => (self.operand(Type::Strs, 2), Type::Str),
            2 => ("$.Values.items".to_owned(), Type::Item),
            3 => (self.operand(Type::List, 2), Type::Any),
            4 | 5 => (self.operand(Type::Map, 1), Type::Any),
            6 => (self.c.pick(&["3", "0", "(until 2)", "$.Release.Revision"]).to_owned(), Type::Int),
            7 => ("$.Values.labels".to_owned(), Type::Str),
            _ => (self.operand(Type::Any, 1), Type::Any),
        };
        let mark = self.vars.len();
        let inside = match self.c.below(5) {
            0 | 1 => format!("range {over}"),
            4 if self.vars.len() > 1 => {
                // Variables that are there already are given the elements.
                let (key, value) = (self.c.below(self.vars.len()), self.c.below(self.vars.len()));
                (self.vars[key].1, self.vars[value].1) = (Type::Any, element);
                let (key, value) = (&self.vars[key].0, &self.vars[value].0);
                if self.c.one_in(2) {
                    format!("range {value} = {over}")
                } else {
                    format!("range {key}, {value} = {over}")
                }
            }
            2 => format!("range {} := {over}", self.declare(element)),
            _ => {
                let key = self.declare(Type::Any);
                format!("range {key}, {} := {over}", self.declare(element))
            }
        };
        let opening = self.action(&inside);
        let dot = std::mem::replace(&mut self.dot, element);
        self.ranges += 1;
        let mut whole = opening + &self.body(2, depth - 1);
        self.ranges -= 1;
        self.dot = dot;
        if self.c.one_in(4) {
            whole += &self.action("else");
            whole += &self.body(1, depth - 1);
        }
        self.vars.truncate(mark);
        whole + &self.action("end")
    }

    /// What charts rarely have.
    fn oddity(&mut self, depth: usize) -> String {
        match self.c.below(9) {
            0 => self
                .c
                .pick(&["{{/* c */}}", "{{- /* {{ x }} */ -}}", "\n{{- /*\n*/}}\n", "{{/**/}}", "{{ \n1 }}"])
                .to_owned(),
            1 | 2 => {
                let text = self.text(depth.min(1));
                self.action(&text)
            }
            3 => {
                // A variable that is declared within an expression.
                let wanted = self.c.pick(TYPES);
                let value = self.operand(wanted, 1);
                let inside = format!("print ({} := {value})", self.declare(wanted));
                self.action(&inside)
            }
            4 if self.helpers > 0 => {
                let at = self.c.below(self.helpers);
                self.action(&format!("template \"{}\"", HELPERS[at].0))
            }
            4 | 5 => {
                // Fields of what calls give, with arguments and without.
                let wanted = self.c.pick(TYPES);
                let (base, field) =
                    (self.pipeline(wanted, 1), self.c.pick(&["a", "name", "c.e", "Foo", "a.b.c"]));
                let mut inside = format!("({base}).{field}");
                if self.c.one_in(3) {
                    let arg = self.operand(Type::Any, 1);
                    inside = if self.c.one_in(2) {
                        format!("{inside} {arg}")
                    } else {
                        format!("{arg} | {inside}")
                    };
                }
                self.action(&inside)
            }
            6 => {
                // What follows a failure is not looked at, nor what `and` and `or` need not look at.
                let (a, b) = (self.operand(Type::Any, 1), self.operand(Type::Any, 2));
                let name = self.c.pick(&["and", "or", "print", "eq", "list"]);
                self.action(&format!("{name} {a} (fail \"late\") {b}"))
            }
            7 if depth > 0 => {
                self.names += 1;
                let dot = self.operand(Type::Map, 1);
                let opening = self.action(&format!("block \"b{}\" {dot}", self.names));
                let (vars, ranges) = (std::mem::take(&mut self.vars), std::mem::take(&mut self.ranges));
                let (dot, rooted) =
                    (std::mem::replace(&mut self.dot, Type::Map), std::mem::take(&mut self.rooted));
                let whole = opening + &self.body(2, depth - 1) + &self.action("end");
                (self.vars, self.ranges, self.dot, self.rooted) = (vars, ranges, dot, rooted);
                whole
            }
            _ => {
                let wanted = self.c.pick(TYPES);
                let (first, then) = (self.operand(Type::Any, 1), self.pipeline(wanted, 2));
                self.action(&format!("print {first} ({then}) | len | print (1 | add 1)"))
            }
        }
    }

    /// A call of `tpl` with a template.
    fn text(&mut self, depth: usize) -> String {
        let (vars, ranges) = (std::mem::take(&mut self.vars), std::mem::take(&mut self.ranges));
        let dot = if self.rooted { std::mem::replace(&mut self.dot, Type::Root) } else { self.dot };
        let mut body = self.body(1, depth);
        if self.c.one_in(3) {
            body = format!("{{{{ define \"t\" }}}}{body}{{{{ end }}}}<{{{{ include \"t\" . }}}}>");
        }
        (self.vars, self.ranges, self.dot) = (vars, ranges, dot);
        format!("tpl {} {}", quote(body.as_bytes()), if self.rooted { "$" } else { "." })
    }

    fn declare(&mut self, of: Type) -> String {
        // Few names, so that they hide one another.
        let name = format!("$v{}", self.names % 4);
        self.names += 1;
        self.vars.push((name.clone(), of));
        name
    }

    fn condition(&mut self, of: Type) -> String {
        if self.c.one_in(6) {
            let value = self.pipeline(of, 1);
            return format!("{} := {value}", self.declare(of));
        }
        self.pipeline(of, 2)
    }

    fn inclusion(&mut self) -> String {
        let (name, dot) = match HELPERS[self.c.below(self.helpers)] {
            // Of no use without the root.
            (_, Type::Root) if !self.rooted => HELPERS[0],
            helper => helper,
        };
        let dot = match dot {
            Type::Root => "$".to_owned(),
            Type::Item => self
                .c
                .pick(&[
                    "(index $.Values.items 0)",
                    "(dict \"name\" \"n\" \"port\" 1)",
                    "(last $.Values.items)",
                ])
                .to_owned(),
            other => self.operand(other, 1),
        };
        match self.c.below(5) {
            0 => format!("template \"{name}\" {dot}"),
            1 => format!("include \"{name}\" {dot} | nindent 2"),
            2 => format!("include \"{name}\" {dot} | trim | quote"),
            _ => format!("include \"{name}\" {dot}"),
        }
    }

    /// Commands joined by pipes.
    fn pipeline(&mut self, wanted: Type, depth: usize) -> String {
        if depth == 0 || self.c.one_in(2) {
            return self.command(wanted, depth);
        }
        // What the last command takes last comes through the pipe.
        let (name, params) = self.c.pick(calls(wanted));
        let Some((last, first)) = params.split_last() else { return self.command(wanted, depth) };
        let from = self.pipeline(*last, depth - 1);
        let args: String = first.iter().map(|of| format!(" {}", self.operand(*of, depth - 1))).collect();
        format!("{from} | {name}{args}")
    }

    fn command(&mut self, wanted: Type, depth: usize) -> String {
        if depth == 0 || self.c.one_in(3) {
            return self.operand(wanted, depth);
        }
        let (name, params) = self.c.pick(calls(wanted));
        let mut args: Vec<String> = params.iter().map(|of| self.operand(*of, depth - 1)).collect();
        if self.c.one_in(25) {
            // The wrong number of arguments.
            if args.pop().is_none() || self.c.one_in(2) {
                args.extend(["1".to_owned(), "\"x\"".to_owned()]);
            }
        }
        args.insert(0, name.to_owned());
        args.join(" ")
    }

    fn operand(&mut self, wanted: Type, depth: usize) -> String {
        // Something of another type than is wanted.
        if self.c.one_in(24) {
            let other = self.c.pick(TYPES);
            return self.path(other);
        }
        match self.c.below(8) {
            0 | 1 if depth > 0 => {
                let fields = if self.c.one_in(if wanted == Type::Map { 10 } else { 30 }) { ".a" } else { "" };
                format!("({}){fields}", self.pipeline(wanted, depth - 1))
            }
            2 | 3 => self.variable(wanted).unwrap_or_else(|| self.path(wanted)),
            4 | 5 => match LITERALS.iter().find(|(of, _)| *of == wanted) {
                Some((_, literals)) => self.c.pick(literals).to_owned(),
                None => self.path(wanted),
            },
            _ => self.path(wanted),
        }
    }

    fn variable(&mut self, wanted: Type) -> Option<String> {
        let fitting: Vec<String> = self
            .vars
            .iter()
            .filter(|(_, of)| *of == wanted || wanted == Type::Any)
            .map(|(name, _)| name.clone())
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let at = self.c.below(fitting.len());
        Some(fitting[at].clone())
    }

    fn path(&mut self, wanted: Type) -> String {
        let own: &[&str] = match (self.dot, wanted) {
            (Type::Item, Type::Str) => &[".name"],
            (Type::Item, Type::Num) => &[".port"],
            (Type::Item, Type::Any) => &[".opts", ".opts.z", ".missing", "."],
            (Type::Map, Type::Any | Type::Str) => &[".a", ".b", ".c", "."],
            (Type::Any, Type::Any) => &[".", ".a", ".a.b"],
            (dot, wanted) if dot == wanted => &["."],
            _ => &[],
        };
        if !own.is_empty() && self.c.one_in(2) {
            return self.c.pick(own).to_owned();
        }
        if self.c.one_in(40) {
            return self
                .c
                .pick(&[
                    ".Values.nothing.x",
                    ".Values.name.x",
                    "$.Values.missing.x",
                    ".missing",
                    "$.Release.Nope",
                    "nil",
                    "$.Values.list.x",
                ])
                .to_owned();
        }
        let candidates = paths(wanted);
        let path = if candidates.is_empty() { ".Values.name" } else { self.c.pick(candidates) };
        match (self.rooted, self.dot) {
            (_, Type::Root) if self.c.one_in(2) => path.to_owned(),
            (true, _) => match path {
                "." => "$".to_owned(),
                path => format!("${path}"),
            },
            // In a helper that is not given the root nothing is known.
            _ => match LITERALS.iter().find(|(of, _)| *of == wanted) {
                Some((_, literals)) => self.c.pick(literals).to_owned(),
                None => ".".to_owned(),
            },
        }
    }

    /// A template in a string, for `tpl`.
    pub fn tpl(mut self) -> String {
        let body = self.body(2, 1);
        format!("{{{{ tpl {} . | quote }}}}", quote(body.as_bytes()))
    }
}
