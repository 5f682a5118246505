//! What generated templates are made of: values, and what may be done with them.

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

pub const TYPES: &[Type] =
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
pub fn paths(wanted: Type) -> &'static [&'static str] {
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

pub const LITERALS: &[(Type, &[&str])] = &[
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
    (Type::Int, &["0", "1", "2", "3", "7", "-1", "10", "0x1F", "1_000", "'a'"]),
    (Type::Bool, &["true", "false"]),
];

/// A function: what it is called, and what it takes; the last one may come through a pipe.
pub type Call = (&'static str, &'static [Type]);

pub fn calls(wanted: Type) -> &'static [Call] {
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
            ("$.Files.Get", &[Str]),
            ("$.Files.Glob \"*\" | len | print", &[]),
            ("$.Values.YAML", &[Any]),
            ("(toDate \"2006-01-02\" \"2020-03-04\").Format", &[Str]),
            ("$.Capabilities.KubeVersion.String", &[]),
            ("printf \"%t %T\"", &[Bool, Any]),
            ("printf \"%x %+v %#v\"", &[Str, Any, Any]),
            ("printf", &[Str, Any]),
            ("plural \"one\" \"many\"", &[Int]),
            ("untitle", &[Str]),
            ("swapcase", &[Str]),
            ("seq 1", &[Int]),
            ("seq 0 2 7", &[]),
            ("required \"needed\"", &[Str]),
            ("adler32sum", &[Str]),
            ("base", &[Str]),
            ("ternary \"y\" 2 .Values.enabled", &[]),
            ("empty .Values.name | ternary \"y\"", &[Any]),
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
            ("$.Capabilities.APIVersions.Has", &[Str]),
            ("(semver \"1.2.3\").LessThan (semver \"1.2.4\") | or", &[Any]),
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
            ("$.Values.Table", &[Str]),
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
            // Past the end of a list, Go shows what its memory has in store.
            ("slice .Values.list 1 2", &[]),
            ("slice .Values.names 1 2", &[]),
            ("slice .Values.list", &[]),
            ("until 3", &[]),
            ("until (int .Values.count)", &[]),
            ("untilStep 0 10", &[Int]),
            ("untilStep 5 0 -2", &[]),
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
            ("ternary \"x\"", &[Any, Bool]),
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
            ("slice \"text\" 1", &[Int]),
            ("noSuch", &[Any]),
            (".a", &[Any]),
            ("$.Values.map.c", &[Any]),
            ("index $.Values.items 9", &[]),
            ("include \"h.none\"", &[Any]),
            ("tpl \"{{ .a.b }}\"", &[Map]),
            ("tpl \"{{ . }\"", &[Any]),
            ("mustToJson", &[Any]),
            ("date \"2006\"", &[Str]),
        ],
    }
}
