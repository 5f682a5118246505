//! Charts out of random choices: templates that mostly fit the values they are rendered with, and now and then do not.
//!
//! Maps are changed only in ways that cannot make one contain itself: Go would not survive printing it.

use pintle::value::quote::quote;

use crate::judge::choices::Choices;

/// What an expression evaluates to, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Str,
    /// A float, as all numbers of values are.
    Num,
    Int,
    Bool,
    Map,
    /// A list of strings.
    Strs,
    /// A list of anything.
    List,
    /// One of `.Values.items`.
    Item,
    /// The dot of a file.
    Root,
    Any,
}

const TYPES: &[Type] =
    &[Type::Str, Type::Num, Type::Int, Type::Bool, Type::Map, Type::Strs, Type::List, Type::Any];

pub const VALUES: &str = r#"
name: web
empty: ""
multi: "one\ntwo: 2\n"
spaced: "  a b  "
unicode: "Straße ☃"
quoted: "it's \"x\" \\ {{"
tplText: "{{ .Values.name }}-{{ .Release.Name }}"
count: 3
ratio: 1.5
big: 1000000
huge: 1e21
neg: -3
zero: 0
enabled: true
disabled: false
nothing: null
map: {a: x, b: 2, c: {d: [1, 2], e: deep}, nil: null}
labels: {app: web, "tier/x": "be ck", z: ""}
list: [1, two, null, {k: v}, [5], true]
names: [b, a, c]
items: [{name: x, port: 80}, {name: y, port: 8080, opts: {z: true}}, {name: null}]
emptyMap: {}
emptyList: []
"#;

/// Paths from the root by the type of what they lead to.
fn paths(wanted: Type) -> &'static [&'static str] {
    match wanted {
        Type::Str => &[
            ".Values.name",
            ".Values.empty",
            ".Values.multi",
            ".Values.spaced",
            ".Values.unicode",
            ".Values.quoted",
            ".Values.map.a",
            ".Values.labels.app",
            ".Values.map.c.e",
            ".Release.Name",
            ".Release.Namespace",
            ".Chart.Name",
            ".Chart.Version",
            ".Template.Name",
            ".Release.Service",
        ],
        Type::Num => &[
            ".Values.count",
            ".Values.ratio",
            ".Values.big",
            ".Values.huge",
            ".Values.neg",
            ".Values.zero",
            ".Values.map.b",
        ],
        Type::Int => &[".Release.Revision"],
        Type::Bool => &[".Values.enabled", ".Values.disabled", ".Release.IsInstall", ".Release.IsUpgrade"],
        Type::Map => &[".Values.map", ".Values.labels", ".Values.emptyMap"],
        Type::Strs => &[".Values.names", ".Values.emptyList"],
        Type::List => {
            &[".Values.list", ".Values.items", ".Values.names", ".Values.map.c.d", ".Values.emptyList"]
        }
        Type::Item => &[],
        Type::Root => &["."],
        Type::Any => &[
            ".Values.nothing",
            ".Values.missing",
            ".Values.map.nil",
            ".Values.map.c",
            ".Values.list",
            ".Values.items",
            ".Values.map.missing",
            ".Values.emptyMap.missing",
            ".Release",
            ".Values.labels",
        ],
    }
}

const LITERALS: &[(Type, &[&str])] = &[
    (
        Type::Str,
        &[
            "\"a\"",
            "\"\"",
            "\"web\"",
            "`raw \\n`",
            "\"two words\"",
            "\"%d\"",
            "\"é\"",
            "\"3\"",
            "\"a,b,,c\"",
            "\"k: v\\nl: [1, 2]\"",
            "\"<b>&'\"",
        ],
    ),
    (Type::Num, &["1.5", "0.0", "1e3", "-2.25", "3.0"]),
    (Type::Int, &["0", "1", "2", "3", "7", "-1", "10", "0x1F", "1_000", "'a'", "1000000"]),
    (Type::Bool, &["true", "false"]),
];

/// A function: what it is called, and what it takes; the last one may come through a pipe.
type Call = (&'static str, &'static [Type]);

fn calls(wanted: Type) -> &'static [Call] {
    use Type::{Any, Bool, Int, List, Map, Num, Str, Strs};
    match wanted {
        Str | Type::Root => &[
            ("quote", &[Any]),
            ("quote", &[Any, Any]),
            ("squote", &[Any]),
            ("upper", &[Str]),
            ("lower", &[Str]),
            ("trim", &[Str]),
            ("title", &[Str]),
            ("trunc", &[Int, Str]),
            ("indent", &[Int, Str]),
            ("nindent", &[Int, Str]),
            ("print", &[Any, Any]),
            ("print", &[Num]),
            ("println", &[Any]),
            ("cat", &[Any, Any]),
            ("replace", &[Str, Str, Str]),
            ("toString", &[Any]),
            ("toYaml", &[Any]),
            ("toYaml", &[Map]),
            ("toJson", &[Any]),
            ("toPrettyJson", &[Any]),
            ("toRawJson", &[Any]),
            ("join \"-\"", &[List]),
            ("join", &[Str, Strs]),
            ("b64enc", &[Str]),
            ("sha256sum", &[Str]),
            ("trimSuffix", &[Str, Str]),
            ("trimPrefix", &[Str, Str]),
            ("trimAll", &[Str, Str]),
            ("substr 0 2", &[Str]),
            ("substr", &[Int, Int, Str]),
            ("repeat 2", &[Str]),
            ("nospace", &[Str]),
            ("snakecase", &[Str]),
            ("camelcase", &[Str]),
            ("kebabcase", &[Str]),
            ("kindOf", &[Any]),
            ("typeOf", &[Any]),
            ("abbrev 5", &[Str]),
            ("initials", &[Str]),
            ("wrap 5", &[Str]),
            ("html", &[Any]),
            ("js", &[Any]),
            ("urlquery", &[Any]),
            ("printf \"%s\"", &[Str]),
            ("printf \"%v|%v\"", &[Any, Any]),
            ("printf \"%d\"", &[Int]),
            ("printf \"%d %s\"", &[Num, Any]),
            ("printf \"%5.2f|%-6s|%q\"", &[Num, Str, Any]),
            ("printf \"%t %T\"", &[Bool, Any]),
            ("printf \"%x %+v %#v\"", &[Str, Any, Any]),
            ("printf", &[Str, Any]),
            ("plural \"one\" \"many\"", &[Int]),
            ("untitle", &[Str]),
            ("swapcase", &[Str]),
            ("seq", &[Int, Int]),
            ("required \"needed\"", &[Str]),
            ("adler32sum", &[Str]),
            ("base", &[Str]),
            ("ternary \"y\" \"n\"", &[Bool]),
        ],
        Bool => &[
            ("eq", &[Str, Str]),
            ("eq", &[Num, Num]),
            ("eq", &[Int, Int]),
            ("eq", &[Any, Any]),
            ("eq", &[Str, Str, Str]),
            ("ne", &[Str, Str]),
            ("ne", &[Any, Any]),
            ("lt", &[Int, Int]),
            ("gt", &[Num, Num]),
            ("le", &[Str, Str]),
            ("ge", &[Int, Num]),
            ("lt", &[Any, Any]),
            ("not", &[Any]),
            ("not", &[Bool]),
            ("and", &[Bool, Bool]),
            ("or", &[Bool, Bool]),
            ("and", &[Any, Any]),
            ("or", &[Any, Any, Any]),
            ("hasKey", &[Map, Str]),
            ("has", &[Any, List]),
            ("contains", &[Str, Str]),
            ("hasPrefix", &[Str, Str]),
            ("hasSuffix", &[Str, Str]),
            ("empty", &[Any]),
            ("kindIs \"map\"", &[Any]),
            ("kindIs \"string\"", &[Any]),
            ("typeIs \"float64\"", &[Any]),
            ("deepEqual", &[Any, Any]),
            ("deepEqual", &[List, List]),
            ("any", &[Any, Any]),
            ("all", &[Any, Any]),
            ("semverCompare \">=1.0\"", &[Str]),
            ("isAbs", &[Str]),
        ],
        Int => &[
            ("len", &[Str]),
            ("len", &[List]),
            ("len", &[Map]),
            ("len", &[Any]),
            ("add", &[Num, Int]),
            ("add", &[Int, Int, Int]),
            ("sub", &[Num, Num]),
            ("mul", &[Int, Num]),
            ("div", &[Num, Int]),
            ("mod", &[Int, Int]),
            ("int", &[Any]),
            ("int64", &[Num]),
            ("int", &[Str]),
            ("atoi", &[Str]),
            ("max", &[Num, Int]),
            ("min", &[Int, Int]),
            ("add1", &[Num]),
            ("toDecimal", &[Str]),
        ],
        Num => &[
            ("float64", &[Any]),
            ("floor", &[Num]),
            ("ceil", &[Num]),
            ("round", &[Num, Int]),
            ("addf", &[Num, Num]),
            ("mulf", &[Num, Num]),
            ("divf", &[Num, Num]),
            ("maxf", &[Num, Num]),
        ],
        Map => &[
            ("dict", &[]),
            ("dict \"a\"", &[Str]),
            ("dict \"a\"", &[Any]),
            ("dict \"a\" 1 \"b\"", &[Num]),
            ("dict", &[Str, Str]),
            ("deepCopy", &[Map]),
            ("pick", &[Map, Str]),
            ("omit", &[Map, Str]),
            ("pick .Values.map \"a\" \"c\"", &[]),
            ("fromYaml", &[Str]),
            ("fromJson", &[Str]),
            ("fromYaml \"a: 1\\nb: {c: x}\"", &[]),
            ("default", &[Map, Map]),
            ("unset", &[Map, Str]),
            ("merge", &[Map, Map]),
            ("mergeOverwrite", &[Map, Map]),
            ("set", &[Map, Str, Str]),
            ("set", &[Map, Str, Num]),
            ("merge (dict \"a\" (dict \"q\" 1))", &[Map]),
        ],
        Strs => &[
            ("list", &[Str, Str]),
            ("splitList \",\"", &[Str]),
            ("splitList", &[Str, Str]),
            ("sortAlpha", &[Strs]),
            ("sortAlpha", &[List]),
            ("append", &[Strs, Str]),
            ("uniq", &[Strs]),
            ("reverse", &[Strs]),
            ("without", &[Strs, Str]),
            ("keys .Values.map | sortAlpha", &[]),
            ("rest", &[Strs]),
            ("initial", &[Strs]),
            ("compact", &[Strs]),
            ("toStrings", &[List]),
        ],
        List => &[
            ("list", &[]),
            ("list", &[Any]),
            ("list", &[Num, Str, Any]),
            ("append", &[List, Any]),
            ("prepend", &[List, Any]),
            ("concat", &[List, Strs]),
            ("reverse", &[List]),
            ("uniq", &[List]),
            ("compact", &[List]),
            ("rest", &[List]),
            ("initial", &[List]),
            ("slice", &[List, Int, Int]),
            ("slice", &[List, Int]),
            ("until", &[Int]),
            ("untilStep 0 10", &[Int]),
            ("without", &[List, Any]),
            ("fromYamlArray", &[Str]),
            ("fromJsonArray \"[1,{}]\"", &[]),
            ("chunk 2", &[List]),
            ("default", &[List, List]),
        ],
        Type::Item | Any => &[
            ("index", &[List, Int]),
            ("index", &[Map, Str]),
            ("index .Values \"map\" \"c\"", &[]),
            ("index", &[Map, Str, Str]),
            ("index", &[Str, Int]),
            ("get", &[Map, Str]),
            ("dig \"c\" \"e\" \"none\"", &[Map]),
            ("dig \"x\" \"y\" 1", &[Map]),
            ("default", &[Any, Any]),
            ("default", &[Str, Any]),
            ("coalesce", &[Any, Any, Any]),
            ("ternary", &[Any, Any, Bool]),
            ("first", &[List]),
            ("last", &[List]),
            ("required \"must be\"", &[Any]),
            ("fail", &[Str]),
            ("and", &[Any, Any]),
            ("or", &[Any, Any]),
            ("mustFirst", &[Strs]),
            ("index .Values.items 1 \"opts\"", &[]),
            ("toJson", &[Any]),
            ("fromJson", &[Str]),
            ("tuple", &[Any, Str]),
            ("slice", &[Str, Int, Int]),
            ("noSuch", &[Any]),
            ("mustToJson", &[Any]),
            ("date \"2006\"", &[Str]),
        ],
    }
}

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
                if self.c.one_in(3) {
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
        let inside = match self.c.below(4) {
            0 | 1 => format!("range {over}"),
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
        let (name, dot) = HELPERS[self.c.below(self.helpers)];
        let dot = match dot {
            Type::Root if self.rooted => "$".to_owned(),
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
        let wanted = if self.c.one_in(24) { self.c.pick(TYPES) } else { wanted };
        match self.c.below(8) {
            0 | 1 if depth > 0 => {
                let fields = if self.c.one_in(20) { ".a" } else { "" };
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
