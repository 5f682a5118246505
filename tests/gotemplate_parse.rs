//! The template parser against Go's own: the same trees, positions and error texts.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod judge;

use std::{cell::RefCell, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use judge::{
    Judge,
    choices::{Choices, choices},
};
use pintle::{
    gotemplate::{
        Options,
        ast::{Arena, Branch, List, Node, NodeRef, Operand, Pipe, Source},
        error_context, parse, print_bytes,
    },
    value::quote::quote,
};
use proptest::prelude::*;
use serde_json::json;

const NAME: &str = "chart/templates/a.yaml";
const FUNCTIONS: &[&str] = &["printf", "include", "quote", "eq", "not", "f", "é"];

/// What a parse depends on beside the text.
#[derive(Clone, Copy, Debug, Default)]
struct Mode {
    comments: bool,
    delimiters: (&'static str, &'static str),
    /// Functions beside the usual ones.
    more: &'static [&'static str],
}

fn judged(text: &[u8], mode: Mode) -> Result<String, String> {
    thread_local! {
        static JUDGE: RefCell<Judge> = RefCell::new(Judge::start());
    }
    let functions = [FUNCTIONS, mode.more].concat();
    let request = json!({
        "op": "template.parse",
        "name": NAME,
        "text": STANDARD.encode(text),
        "functions": functions,
        "comments": mode.comments,
        "left": mode.delimiters.0,
        "right": mode.delimiters.1,
    });
    JUDGE.with_borrow_mut(|judge| judge.ask(&request)).map(|answer| answer.as_str().unwrap().to_owned())
}

fn ours(text: &[u8], mode: Mode) -> Result<String, String> {
    let arena = Arena::new();
    let functions = |name: &str| FUNCTIONS.contains(&name) || mode.more.contains(&name);
    let options =
        Options { comments: mode.comments, delimiters: mode.delimiters, ..Options::new(&functions) };
    let set = parse(&arena, Source { name: NAME, text }, &options).map_err(|error| error.to_string())?;
    let mut trees = set.trees.clone();
    trees.sort_by_key(|tree| tree.name);
    let mut dump = Dump { source: set.source, out: String::new() };
    for tree in trees {
        let printed = quote(&print_bytes(tree.root));
        let _ = writeln!(dump.out, "tree {} empty={}\n{printed}", quote(tree.name), tree.is_empty());
        dump.list(tree.root);
    }
    Ok(dump.out)
}

/// Shows nodes as the judge does.
struct Dump<'a> {
    source: Source<'a>,
    out: String,
}

impl<'a> Dump<'a> {
    fn line(&mut self, kind: &str, node: impl Into<NodeRef<'a>>, more: &[&dyn std::fmt::Display]) {
        let node = node.into();
        let (location, _) = error_context(&self.source, node);
        let _ = write!(self.out, "{kind} {} {location}", node.pos());
        for more in more {
            let _ = write!(self.out, " {more}");
        }
        self.out.push('\n');
    }

    fn list(&mut self, list: List<'a>) {
        self.line("list", list, &[&list.nodes.len()]);
        for node in list.nodes {
            self.node(*node);
        }
    }

    fn branch(&mut self, kind: &str, node: Node<'a>, branch: &'a Branch<'a>) {
        self.line(kind, node, &[&branch.line, &branch.else_list.is_some()]);
        self.pipe(branch.pipe);
        self.list(branch.list);
        if let Some(list) = branch.else_list {
            self.list(list);
        }
    }

    fn node(&mut self, node: Node<'a>) {
        match node {
            Node::Text(text) => self.line("text", node, &[&quote(text.text)]),
            Node::Comment(comment) => self.line("comment", node, &[&quote(comment.text)]),
            Node::Action(action) => {
                self.line("action", node, &[&action.line]);
                self.pipe(action.pipe);
            }
            Node::Break(jump) => self.line("break", node, &[&jump.line]),
            Node::Continue(jump) => self.line("continue", node, &[&jump.line]),
            Node::If(branch) => self.branch("if", node, branch),
            Node::Range(branch) => self.branch("range", node, branch),
            Node::With(branch) => self.branch("with", node, branch),
            Node::Template(invocation) => {
                self.line("template", node, &[&invocation.line, &quote(invocation.name)]);
                if let Some(pipe) = invocation.pipe {
                    self.pipe(pipe);
                }
            }
        }
    }

    fn pipe(&mut self, pipe: &'a Pipe<'a>) {
        let printed = quote(&print_bytes(pipe));
        self.line("pipe", pipe, &[&pipe.line, &pipe.is_assign, &pipe.decl.len(), &printed]);
        for variable in pipe.decl {
            self.operand(Operand::Variable(*variable));
        }
        for command in pipe.cmds {
            self.line("command", command, &[]);
            for operand in command.args {
                self.operand(*operand);
            }
        }
    }

    fn operand(&mut self, operand: Operand<'a>) {
        let join = |fields: &mut dyn Iterator<Item = &'a str>| fields.collect::<Vec<_>>().join(" ");
        match operand {
            Operand::Identifier(node) => self.line("identifier", operand, &[&node.name]),
            Operand::Variable(node) => {
                let names = join(&mut std::iter::once(node.name()).chain(node.fields()));
                self.line("variable", operand, &[&names]);
            }
            Operand::Dot(_) => self.line("dot", operand, &[]),
            Operand::Nil(_) => self.line("nil", operand, &[]),
            Operand::Field(node) => self.line("field", operand, &[&join(&mut node.fields())]),
            Operand::Chain(node) => {
                self.line("chain", operand, &[&join(&mut node.fields())]);
                self.operand(node.base);
            }
            Operand::Bool(node) => self.line("bool", operand, &[&node.value]),
            Operand::Number(node) => {
                let mut faces = Vec::new();
                faces.extend(node.int.map(|int| format!("int={int}")));
                faces.extend(node.uint.map(|uint| format!("uint={uint}")));
                faces.extend(node.float.map(|float| format!("float={:016x}", float.to_bits())));
                faces.extend(node.complex.map(|(real, imaginary)| {
                    format!("complex={:016x},{:016x}", real.to_bits(), imaginary.to_bits())
                }));
                let faces: Vec<&dyn std::fmt::Display> = faces.iter().map(|face| face as _).collect();
                self.line("number", operand, &faces);
            }
            Operand::String(node) => self.line("string", operand, &[&quote(node.text)]),
            Operand::Pipe(pipe) => self.pipe(pipe),
        }
    }
}

fn check(text: &[u8], mode: Mode) {
    let (ours, judged) = (ours(text, mode), judged(text, mode));
    assert_eq!(ours, judged, "template {:?}", String::from_utf8_lossy(text));
}

/// Templates that are worth a name.
#[test]
fn named_cases() {
    let cases: &[&[u8]] = &[
        // Text and trimming.
        b"",
        b" ",
        b"a",
        b"{",
        b"{ {",
        b"}}",
        b"a {{- 1 -}} b",
        b"a {{-1}}",
        b"a\n{{-\n1\n-}}\nb",
        b"{{- /* c */ -}} x",
        b"{{/* c */}}x",
        b"x{{/* c",
        b"x{{/* c */",
        b"x{{/* c */ }}",
        b"x{{/* c */ -}}\n y",
        b"{{/**/ - }}",
        b"{{- -}}",
        b"{{ - }}",
        b"{{1 - }}",
        b"{{1 -}}",
        b"{{1-}}",
        b"{{\xff}}",
        b"\xff{{1}}\xfe",
        b"{{/*\xff*/}}",
        // Actions that go wrong.
        b"{{",
        b"{{ ",
        b"{{}}",
        b"{{ | }}",
        b"{{1|}}",
        b"{{1||2}}",
        b"{{.a | 1}}",
        b"{{.a | .}}",
        b"{{.a|nil}}",
        b"{{.a|\"x\"}}",
        b"{{.a | true}}",
        b"{{.a | (1)}}",
        b"{{.a\n\n",
        b"{{\n\n\"",
        b"{{\n`",
        b"{{\n'",
        b"{{'\\",
        b"{{f\n#}}",
        b"{{#}}",
        b"{{,}}",
        b"{{f,}}",
        b"{{f ,1}}",
        b"{{f :1}}",
        b"{{f := 1}}",
        b"{{=}}",
        b"{{:}}",
        b"{{a:b}}",
        b"{{f!}}",
        b"{{.a!}}",
        b"{{$a!}}",
        b"{{.a.}}",
        b"{{..}}",
        b"{{..a}}",
        b"{{. .a}}",
        b"{{$ .a}}",
        b"{{$.a}}",
        b"{{$.a.b.c}}",
        b"{{.a$}}",
        b"{{1.a}}",
        b"{{1 .a}}",
        b"{{nil.a}}",
        b"{{nil}}",
        b"{{true.a}}",
        b"{{\"s\".a}}",
        b"{{f.a}}",
        b"{{f.a.b 1}}",
        b"{{(f).a.b}}",
        b"{{(f) .a}}",
        b"{{(f)(f)}}",
        b"{{f(f)}}",
        b"{{(f}}",
        b"{{f)}}",
        b"{{()}}",
        b"{{(())}}",
        b"{{((1))}}",
        b"{{(1 | f)}}",
        b"{{(1 | 2)}}",
        b"{{($x := 1)}}",
        b"{{($x := 1).a}}{{$x}}",
        b"{{(range)}}",
        b"{{(end)}}",
        b"{{g}}",
        b"{{g 1}}",
        b"{{if g}}{{end}}",
        b"{{unknownfunctionwithalongname}}",
        b"{{if unexpectedlonglonglong}}",
        b"{{.Values.a \"a string that is long\" 12}}{{end}}",
        b"{{end}}",
        b"{{else}}",
        b"{{end",
        b"{{end 1}}",
        b"{{else 1}}",
        b"{{else",
        b"{{else if",
        b"{{1}}{{else}}",
        // Literals.
        b"{{1_000}}",
        b"{{1__0}}",
        b"{{0x1F}}",
        b"{{0x}}",
        b"{{0xg}}",
        b"{{017}}",
        b"{{089}}",
        b"{{0o17}}",
        b"{{0b11}}",
        b"{{0b12}}",
        b"{{1e3}}",
        b"{{1e}}",
        b"{{1.5}}",
        b"{{.5}}",
        b"{{5.}}",
        b"{{.}}",
        b"{{+1}}",
        b"{{-1}}",
        b"{{+}}",
        b"{{-}}",
        b"{{--1}}",
        b"{{1+2i}}",
        b"{{1+2}}",
        b"{{1i}}",
        b"{{1+i}}",
        b"{{i}}",
        b"{{0i}}",
        b"{{1-0i}}",
        b"{{0x1p4}}",
        b"{{0x1p4+0x1p2i}}",
        b"{{0b1+1i}}",
        b"{{1e999}}",
        b"{{1e999+1i}}",
        b"{{1e400i}}",
        b"{{9223372036854775807}}",
        b"{{9223372036854775808}}",
        b"{{18446744073709551616}}",
        b"{{-9223372036854775809}}",
        b"{{1e18}}",
        b"{{1e19}}",
        b"{{1e20}}",
        b"{{-1e18}}",
        b"{{-1e19}}",
        b"{{9.223372036854775808e18}}",
        b"{{1.8446744073709551616e19}}",
        b"{{1a}}",
        b"{{1\xc3\xa9}}",
        b"{{0x1.8}}",
        b"{{0X1.8P1}}",
        b"{{1E+2}}",
        b"{{1e-2}}",
        b"{{00}}",
        b"{{0_1}}",
        b"{{0x_1}}",
        b"{{_1}}",
        b"{{1_}}",
        b"{{.",
        b"{{+",
        b"{{1.",
        b"{{'a'}}",
        b"{{'ab'}}",
        b"{{''}}",
        b"{{'\\n'}}",
        b"{{'\\xff'}}",
        b"{{'\\''}}",
        b"{{'\\\"'}}",
        b"{{'\xff'}}",
        b"{{'\xc3\xa9'}}",
        b"{{'a\n'}}",
        b"{{\"\\xff\"}}",
        b"{{\"\\q\"}}",
        b"{{\"a\nb\"}}",
        b"{{`a\r\nb`}}",
        b"{{\"\xff\"}}",
        b"{{`\xff`}}",
        b"{{\"\\\xff\"}}",
        b"{{\"\\u00e9\\U0001f600\\101\"}}",
        b"{{\"\\ud800\"}}",
        b"{{\"a\"\"b\"}}",
        b"{{\"a\" \"b\"}}",
        b"{{true}}{{false}}",
        b"{{truex}}",
        // Variables.
        b"{{$x}}",
        b"{{$x := 1}}{{$x}}",
        b"{{$x = 1}}{{$x}}",
        b"{{$x := $x}}",
        b"{{$x, $y := 1}}",
        b"{{$x,}}",
        b"{{$x , }}",
        b"{{$x:=1}}",
        b"{{$x=1}}",
        b"{{$x :=}}",
        b"{{$x := }}",
        b"{{$x := 1 | f}}",
        b"{{$x f}}",
        b"{{$x.a := 1}}",
        b"{{$ := 1}}{{$}}",
        b"{{$1 := 1}}{{$1}}",
        b"{{if $x := 1}}{{$x}}{{else}}{{$x}}{{end}}{{$x}}",
        b"{{if 1}}{{$x := 1}}{{else}}{{$x}}{{end}}",
        b"{{with $x := 1}}{{$x}}{{end}}{{$x}}",
        b"{{if 1}}{{$x := 1}}{{end}}{{$x}}",
        b"{{$x := 1}}{{if 1}}{{$x := 2}}{{end}}{{$x}}",
        b"{{define \"a\"}}{{$x}}{{end}}",
        b"{{$x := 1}}{{define \"a\"}}{{$x}}{{end}}",
        b"{{$x := 1}}{{block \"a\" $x}}{{$x}}{{end}}",
        b"{{block \"a\" $x := 1}}{{end}}{{$x}}",
        b"{{template \"a\" $x := 1}}{{$x}}",
        b"{{$\xc3\xa9 := 1}}{{$\xc3\xa9.\xc3\xa9}}",
        b"{{\xc3\xa9}}",
        b"{{\xcc\x81}}",
        // Control structures.
        b"{{if}}{{end}}",
        b"{{if }}{{end}}",
        b"{{if 1}}",
        b"{{if 1}}{{else}}",
        b"{{if 1}}{{else}}{{else}}{{end}}",
        b"{{if 1}}a{{else if 2}}b{{else}}c{{end}}d",
        b"{{if 1}}a{{else if 2}}b{{end}}{{end}}",
        b"{{if 1}}{{else with 2}}{{end}}",
        b"{{with 1}}{{else if 2}}{{end}}",
        b"{{with 1}}a{{else with 2}}b{{else}}c{{end}}",
        b"{{range 1}}{{else range 2}}{{end}}",
        b"{{range 1}}{{else if 2}}{{end}}{{end}}",
        b"{{if 1}}{{else if}}{{end}}",
        b"{{if 1}}\n{{else if g}}{{end}}",
        b"{{if 1}}\n{{else\nif \"}}",
        b"{{if\n1}}\n{{/* }}",
        b"{{if 1}}\n{{/* }}",
        b"{{if 1}}\n{{f}}\n{{/* }}",
        b"{{if 1}}{{define \"a\"}}{{end}}{{end}}",
        b"{{range .}}{{break}}{{end}}",
        b"{{range .}}{{continue}}{{end}}",
        b"{{break}}",
        b"{{continue}}",
        b"{{break 1}}",
        b"{{continue 1}}",
        b"{{range .}}{{else}}{{break}}{{end}}",
        b"{{range .}}{{range .}}{{else}}{{break}}{{end}}{{continue}}{{end}}{{break}}",
        b"{{range .}}{{if 1}}{{break}}{{end}}{{end}}",
        b"{{range .}}{{block \"a\" .}}{{break}}{{end}}{{end}}",
        b"{{range .}}{{define \"a\"}}{{end}}{{end}}",
        b"{{range $x := .}}{{$x}}{{end}}",
        b"{{range $i, $x := .}}{{$i}}{{$x}}{{end}}{{$x}}",
        b"{{range $i, $x}}{{end}}",
        b"{{range $i,}}{{end}}",
        b"{{range $i, 1}}{{end}}",
        b"{{range $i, $x, $y := .}}{{end}}",
        b"{{range $i, $x = .}}{{end}}",
        b"{{range $x := 1}}{{$x}}{{end}}",
        b"{{range 10}}{{.}}{{end}}",
        b"{{range ($i, $x := .)}}{{end}}",
        b"{{$i := 1}}{{range $i, $i}}{{end}}",
        b"{{if $a, $b := 1}}{{end}}",
        b"{{range break}}{{end}}",
        b"{{.break}}",
        b"{{$break := 1}}",
        b"{{range .}}{{.a.continue}}{{end}}",
        // Templates.
        b"{{template}}",
        b"{{template \"a\"}}",
        b"{{template `a`}}",
        b"{{template \"a\" .}}",
        b"{{template \"a\" . | f}}",
        b"{{template a}}",
        b"{{template 1}}",
        b"{{template \"\\q\"}}",
        b"{{template \"a\" | f}}",
        b"{{template \"a\"\n\n",
        b"{{template (f)}}",
        b"{{template \"\\xff\\n\" .}}",
        b"{{template $x}}",
        b"{{template .a}}",
        b"{{define}}{{end}}",
        b"{{define a}}{{end}}",
        b"{{define \"a\"}}",
        b"{{define \"a\" .}}{{end}}",
        b"{{define \"a\"}}{{else}}{{end}}",
        b"{{define `a`}}x{{end}}y",
        b"{{define \"\\q\"}}{{end}}",
        b"{{define \"a\"}}{{define \"b\"}}{{end}}{{end}}",
        b"{{define \"a\"}}x{{end}}{{define \"a\"}}y{{end}}",
        b"{{define \"a\"}}x{{end}}{{define \"a\"}} {{end}}",
        b"{{define \"a\"}} {{end}}{{define \"a\"}}x{{end}}",
        b"{{define \"a\"}}{{/* */}}{{end}}\n\n{{define \"a\"}}x\n{{end\n}}",
        b"{{define \"chart/templates/a.yaml\"}}x{{end}}",
        b"{{define \"chart/templates/a.yaml\"}}x{{end}}y",
        b"{{define \"chart/templates/a.yaml\"}} {{end}}y",
        b"{{define \"a\n",
        b"{{\ndefine \"a\"\n",
        b"{{ define \"a\" }}{{end}}",
        b"{{define \"a\"}}\n{{if 1}}\n{{else}}\n{{end}}\n{{else\n\nif}}",
        b"{{- define \"a\" -}} x {{- end -}} y",
        b"{{block}}{{end}}",
        b"{{block \"a\"}}{{end}}",
        b"{{block \"a\" .}}x{{end}}y",
        b"{{block \"a\" .}}\n\n{{else}}{{end}}",
        b"\n{{block \"a\"\n.}}\n\n{{else\n\n}}{{end}}",
        b"{{block a .}}{{end}}",
        b"{{block \"a\" .}}{{block \"b\" .}}{{end}}{{end}}",
        b"{{block \"a\" .}}x{{end}}{{block \"a\" .}}y{{end}}",
        b"{{block \"a\" .}}{{define \"b\"}}{{end}}{{end}}",
        b"{{if 1}}{{block \"a\" .}}\n{{/*",
        b"{{block \"a\" .}}",
        b"{{if 1}}{{block \"a\" .}}{{end}}",
        b"{{define \"a\"}}{{block \"b\" .}}x{{end}}{{end}}{{block \"b\" .}} {{end}}",
        // Keywords in odd places.
        b"{{if if}}{{end}}",
        b"{{f if}}",
        b"{{f end}}",
        b"{{f define}}",
        b"{{define}}",
        b"{{with}}",
        b"{{with with}}",
        b"{{.if}}",
        b"{{$if := 1}}",
        b"{{else else}}",
        b"{{block block}}",
        b"{{nil nil}}",
        b"{{f nil}}",
        b"{{f . nil}}",
        b"{{f .}}",
        b"{{f . .}}",
        b"{{f .a.b.c $.d (f .e).g}}",
        b"{{f (f (f 1) 2) | f | f 3}}",
    ];
    for text in cases {
        for comments in [false, true] {
            check(text, Mode { comments, ..Mode::default() });
        }
    }
}

/// Other delimiters, and functions named as keywords.
#[test]
fn named_cases_of_other_modes() {
    for text in ["<1>", "<- 1 ->  ", "a <- /*c*/ -> b", "<1", "<(>", "<$x->", "<$x>y", "{{1}}", "<if 1><end>"]
    {
        check(text.as_bytes(), Mode { delimiters: ("<", ">"), ..Mode::default() });
        check(text.as_bytes(), Mode { delimiters: ("<", ""), ..Mode::default() });
    }
    for text in ["{{break}}", "{{range .}}{{break}}{{continue 1}}{{end}}", "{{f continue}}"] {
        check(text.as_bytes(), Mode { more: &["break", "continue"], ..Mode::default() });
    }
}

/// Pieces of which templates are made, the wrong ones too.
const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{- ",
    " -}}",
    "{{-",
    "-}}",
    "-",
    " ",
    "\n",
    "\t",
    "\r\n",
    "/*",
    "*/",
    "(",
    ")",
    "|",
    ",",
    ":=",
    "=",
    ":",
    "$",
    "$x",
    "$y",
    "$x.a",
    ".",
    ".a",
    ".a.b",
    "..",
    "nil",
    "true",
    "false",
    "if",
    "else",
    "end",
    "range",
    "with",
    "define",
    "block",
    "template",
    "break",
    "continue",
    "f",
    "quote",
    "printf",
    "unknown",
    "\"s\"",
    "\"a long string of text\"",
    "\"\\n\"",
    "\"",
    "`r`",
    "`",
    "'c'",
    "'",
    "\\",
    "0",
    "1",
    "1.5",
    "1e3",
    "0x1F",
    "0b1",
    "07",
    "1_0",
    "1i",
    "1+2i",
    "+",
    "é",
    "text",
    "# ",
    "%",
    "!",
    "\u{0}",
    "\u{a0}",
    "😀",
    "{{end}}",
    "{{else}}",
    "{{if .a}}",
    "{{range $x, $y := .a}}",
    "{{with $x := .a}}",
    "{{define \"d\"}}",
    "{{block \"b\" .}}",
    "{{else if .b}}",
    "{{else with .b}}",
    "{{template \"d\" .}}",
    "{{break}}",
    "{{/* c */}}",
    "{{- /* c */ -}}",
    "{{$x := 1}}",
];

/// Any pieces in any order.
fn soup(c: &mut Choices<'_>) -> String {
    c.join(0, 24, "", |c| c.pick(PIECES).to_owned())
}

/// Any pieces within one action.
fn action_soup(c: &mut Choices<'_>) -> String {
    let separator = c.pick(&["", " "]);
    let inside = c.join(0, 12, separator, |c| c.pick(PIECES).replace("{{", ""));
    format!("{{{{$x := 1}}}}{{{{{inside}}}}}")
}

fn literal(c: &mut Choices<'_>) -> String {
    match c.below(12) {
        0 => c.text("0123456789", 3) + "1",
        1 => c.pick(&["", "-", "+"]).to_owned() + &c.text("0123456789_", 20),
        2 => {
            let exponent = if c.one_in(2) { c.pick(&["e", "E", "e-", "E+", "p"]) } else { "" };
            let sign = c.pick(&["", "-", "+"]);
            let digits = c.text("0123456789.", 6);
            format!("{sign}{digits}{exponent}{}{}", c.text("0123456789", 3), c.pick(&["", "", "i"]))
        }
        3 => {
            let exponent = c.pick(&["", "p", "P-", "p+"]);
            format!(
                "0{}{}{exponent}{}",
                c.pick(&["x", "X"]),
                c.text("0123456789abcdefF_.", 17),
                c.text("0123456789", 4)
            )
        }
        4 => format!("0{}{}", c.pick(&["", "o", "O", "b", "B"]), c.text("01_7", 6)),
        5 => format!("{}{}{}i", c.text("0123456789.e", 4), c.pick(&["+", "-"]), c.text("0123456789.ei", 4)),
        6 => format!(
            "'{}{}'",
            c.pick(&["", "\\x", "\\u", "\\0", "\\'", "\\", "é", "a"]),
            c.text("0123456789abcdef", 4)
        ),
        7 => format!("\"{}\"", c.text(" abc%.é{}😀", 12)),
        8 => format!(
            "\"{}\"",
            c.join(0, 4, "", |c| c
                .pick(&["\\n", "\\x", "\\u", "\\\"", "\\\\", "\\1", "\\'", "a", "01", "beef"])
                .to_owned())
        ),
        9 => format!("`{}`", c.text(" az\\\"\n\r", 8)),
        10 => "nil".to_owned(),
        _ => "true".to_owned(),
    }
}

fn operand(c: &mut Choices<'_>, depth: usize) -> String {
    match c.below(if depth == 0 { 7 } else { 9 }) {
        0..=2 => {
            let first = c.pick(&["a", "Values", "é", "_x1", "if"]);
            format!(".{first}{}", c.join(0, 2, "", |c| format!(".{}", c.pick(&["b", "c9", "name"]))))
        }
        3 => literal(c),
        4 => format!(
            "${}{}",
            c.pick(&["", "x", "y", "z"]),
            c.join(0, 2, "", |c| format!(".{}", c.pick(&["b", "c"])))
        ),
        5 => ".".to_owned(),
        6 => c.pick(&["f", "quote", "printf", "f.a", "missing"]).to_owned(),
        _ => {
            let space = c.pick(&["", "", " ", "\n "]);
            let pipe = pipeline(c, depth - 1);
            format!("({space}{pipe}{space}){}", c.join(0, 2, "", |c| format!(".{}", c.pick(&["b", "c"]))))
        }
    }
}

fn pipeline(c: &mut Choices<'_>, depth: usize) -> String {
    let declaration = c.pick(&["", "", "", "", "", "$x := ", "$x := ", "$y=", "$x, $y := ", "$z,"]);
    let (bar, space) = (c.pick(&[" | ", "|", " |", "| "]), c.pick(&[" ", " ", " ", "  ", "\n", "\t"]));
    let commands = c.join(1, 3, bar, |c| c.join(1, 3, space, |c| operand(c, depth)));
    format!("{declaration}{commands}")
}

fn left(c: &mut Choices<'_>) -> &'static str {
    c.pick(&["{{", "{{ ", "{{- ", "{{-\n"])
}

fn right(c: &mut Choices<'_>) -> &'static str {
    c.pick(&["}}", " }}", " -}}", "\n-}}"])
}

/// Templates that mostly parse.
fn template(c: &mut Choices<'_>, depth: usize) -> String {
    c.join(0, 4, "", |c| match c.below(if depth == 0 { 9 } else { 14 }) {
        0..=2 => c.text(" az:\n{}é-", 10),
        3..=5 => format!("{}{}{}", left(c), pipeline(c, 2), right(c)),
        6 => format!(
            "{}/*{}*/{}",
            left(c).trim_end_matches(' '),
            c.text(" a}\n", 5),
            right(c).trim_start_matches(' ')
        ),
        7 => {
            let pipe = if c.one_in(2) { pipeline(c, 1) } else { String::new() };
            format!("{}template \"d\" {pipe}{}", left(c), right(c))
        }
        8 => c.pick(&["{{break}}", "{{continue}}", "{{ break -}}"]).to_owned(),
        _ => {
            let keyword = c.pick(&["if", "range", "range", "with", "block \"b\"", "define \"d\""]);
            let pipe = if keyword.starts_with("define") { String::new() } else { pipeline(c, 2) };
            let otherwise = match c.below(7) {
                0..=2 => String::new(),
                3..=4 => format!("{}else{}", left(c), right(c)),
                5 => format!("{}else if {}{}", left(c), pipeline(c, 1), right(c)),
                _ => format!("{}else with {}{}", left(c), pipeline(c, 1), right(c)),
            };
            let (opening, first) =
                (format!("{}{keyword} {pipe}{}", left(c), right(c)), template(c, depth - 1));
            format!("{opening}{first}{otherwise}{}{}end{}", template(c, depth - 1), left(c), right(c))
        }
    })
}

/// Changes a few bytes.
fn mutate(c: &mut Choices<'_>, template: String) -> Vec<u8> {
    let mut bytes = template.into_bytes();
    for _ in 0..=c.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = c.below(bytes.len());
        let byte = if c.one_in(3) { c.byte() } else { c.pick(b"{}()-.$\"' |=:\n") };
        match c.below(3) {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}

/// Bytes of any kind, with delimiters among them.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let chunk =
        prop_oneof![prop::collection::vec(any::<u8>(), 0..6), Just(b"{{".to_vec()), Just(b"}}".to_vec())];
    prop::collection::vec(chunk, 0..8).prop_map(|chunks| chunks.concat())
}

proptest! {
    #![proptest_config(judge::cases(2000))]

    #[test]
    fn soups(bytes in choices(64), comments: bool) {
        check(soup(&mut Choices::new(&bytes)).as_bytes(), Mode { comments, ..Mode::default() });
    }

    #[test]
    fn action_soups(bytes in choices(32)) {
        check(action_soup(&mut Choices::new(&bytes)).as_bytes(), Mode::default());
    }

    #[test]
    fn templates(bytes in choices(400), comments: bool) {
        check(template(&mut Choices::new(&bytes), 3).as_bytes(), Mode { comments, ..Mode::default() });
    }

    #[test]
    fn literals(bytes in choices(32)) {
        check(format!("{{{{f {}}}}}", literal(&mut Choices::new(&bytes))).as_bytes(), Mode::default());
    }

    #[test]
    fn mutations(bytes in choices(300)) {
        let mut choices = Choices::new(&bytes);
        // The edits are chosen first: the template uses up what there is.
        let edits: Vec<u8> = (0..20).map(|_| choices.byte()).collect();
        let text = template(&mut choices, 2);
        check(&mutate(&mut Choices::new(&edits), text), Mode::default());
    }

    #[test]
    fn arbitrary_bytes(text in noise()) {
        check(&text, Mode::default());
    }
}

/// What costs Go nothing costs us nothing, and what we refuse is refused, not overflowed.
#[test]
fn deep_nesting() {
    let nested = |open: &str, close: &str, depth: usize| [open.repeat(depth), close.repeat(depth)].concat();
    for (open, close) in
        [("{{if 1}}", "{{end}}"), ("{{block \"a\" .}}", "{{end}}"), ("{{range .}}", "{{else}}{{end}}")]
    {
        let text = nested(open, close, 10_000);
        if !open.contains("block") {
            let arena = Arena::new();
            let set = parse(&arena, Source { name: NAME, text: text.as_bytes() }, &Options::new(&|_| false))
                .unwrap();
            assert_eq!(set.trees[0].depth, 10_000);
            assert_eq!(print_bytes(set.trees[0].root), text.as_bytes());
        }
        let error = ours(nested(open, close, 100_000).as_bytes(), Mode::default()).unwrap_err();
        assert_eq!(error, format!("template: {NAME}:1: max nesting depth exceeded"));
    }
    let elses = |depth: usize| format!("{{{{if 1}}}}{}{{{{end}}}}", "{{else if 1}}".repeat(depth));
    assert!(ours(elses(1_000).as_bytes(), Mode::default()).is_ok());
    assert!(
        ours(elses(100_000).as_bytes(), Mode::default()).unwrap_err().ends_with("max nesting depth exceeded")
    );
    for depth in [10_000, 10_001, 200_000] {
        let text = format!("{{{{{}1{}}}}}", "(".repeat(depth), ")".repeat(depth));
        let arena = Arena::new();
        let set = parse(&arena, Source { name: NAME, text: text.as_bytes() }, &Options::new(&|_| false));
        let printed = set.map(|set| print_bytes(set.trees[0].root)).map_err(|error| error.to_string());
        if depth == 10_000 {
            assert_eq!(printed.unwrap(), text.as_bytes());
        } else {
            assert_eq!(printed.unwrap_err(), judged(text.as_bytes(), Mode::default()).unwrap_err());
        }
    }
}

/// Many names, long chains and long texts take time in proportion.
#[test]
fn wide_templates() {
    let variables: String = (0..20_000).map(|i| format!("{{{{$v{i} := $}}}}")).collect();
    let uses: String = (0..20_000).map(|i| format!("{{{{$v{i}}}}}")).collect();
    let defines: String = (0..20_000).map(|i| format!("{{{{define \"d{i}\"}}}}x{{{{end}}}}")).collect();
    for text in [
        [variables, uses].concat(),
        defines,
        "{{/* c */}} \n".repeat(50_000),
        "{ ".repeat(300_000),
        format!("{{{{{}}}}}", ".a".repeat(100_000)),
        format!("{{{{f {}}}}}", "1 ".repeat(100_000)),
        format!("{{{{f{}}}}}", " | f".repeat(100_000)),
        format!("{{{{f {}}}}}", "\n".repeat(300_000)),
    ] {
        let arena = Arena::new();
        let source = Source { name: NAME, text: text.as_bytes() };
        parse(&arena, source, &Options::new(&|name| name == "f")).unwrap();
    }
}

/// What the mistakes of every day are answered.
#[test]
fn error_texts() {
    let templates = [
        "a: {{ .Values.a",
        "a: {{ .Values.a }",
        "{{ if .Values.a }}\na: b\n",
        "{{ range .Values.a }}",
        "{{ end }}",
        "{{ if .Values.a }}{{ else }}{{ else }}{{ end }}",
        "{{ else }}",
        "{{ if }}{{ end }}",
        "{{ }}",
        "{{ .Values.a | }}{{ | quote }}",
        "{{ .Values.a | 1 }}",
        "{{ .Values.a-b }}",
        "{{ .Values.[0] }}",
        "{{ .Values.a.}}",
        "{{ Values.a }}",
        "{{ quot .Values.a }}",
        "{{ $name }}",
        "{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}",
        "{{ range $a, $b, $c := .Values.a }}{{ end }}",
        "{{ $a, $b := .Values.a }}",
        "{{ 'single' }}",
        "{{ \"open }}",
        "{{ `open }}",
        "{{ \"a\\d\" }}",
        "{{ (quote .Values.a }}",
        "{{ quote .Values.a) }}",
        "{{ quote(.Values.a) }}",
        "{{ 12x }}",
        "{{ 099 }}",
        "{{ 99999999999999999999 }}",
        "{{ \"a\".b }}",
        "{{ break }}",
        "{{ if .a }}{{ continue }}{{ end }}",
        "{{ define \"x\" }}",
        "{{ define x }}{{ end }}",
        "{{ if .a }}{{ define \"x\" }}{{ end }}{{ end }}",
        "{{ define \"x\" }}1{{ end }}\n{{ define \"x\" }}2{{ end }}",
        "{{ define \"x\" }}{{ else }}{{ end }}",
        "{{ template x }}",
        "{{ include \"x\" . | f # comment }}",
        "{{/* open",
        "{{/* closed */ 1 }}",
        "{{ .a := 1 }}",
        "{{ $x := }}",
        "{{ if eq .a \"b\" && .c }}{{ end }}",
        "{{\n  printf \"%s\"\n    .Values.a\n",
        "{{ “quoted” }}",
    ];
    let mut texts = String::new();
    for template in templates {
        let error = ours(template.as_bytes(), Mode::default()).unwrap_err();
        assert_eq!(judged(template.as_bytes(), Mode::default()).unwrap_err(), error);
        let _ = writeln!(texts, "{template:?}\n  {error}");
    }
    insta::assert_snapshot!(texts);
}
