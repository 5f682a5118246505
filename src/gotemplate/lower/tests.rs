use super::{
    Constant, Form, Known, Lowered, NO_PATH, Op, Param, PathUse, Signature, Tables, Vocabulary,
    lower_with_sites,
};
use crate::gotemplate::{
    Options,
    ast::{Arena, Source},
    parse, print,
};

/// Functions enough for the tests: any name is one that takes anything.
struct AnyFunction;

impl Vocabulary for AnyFunction {
    fn signature(&self, function: &str) -> Option<Signature> {
        let answer = match function {
            "quote" | "include" => Known::Text,
            "eq" => Known::Bool,
            _ => Known::Any,
        };
        let (fixed, variadic) = if function == "not" { (1, false) } else { (0, true) };
        Some(Signature { fixed, variadic, answer })
    }

    fn param(&self, function: &str, at: usize) -> Param {
        if function == "include" && at == 0 { Param::String } else { Param::Any }
    }

    fn elements(&self, function: &str) -> Option<&'static str> {
        (function == "until").then_some("int")
    }
}

fn with_lowered<T>(text: &str, check: impl FnOnce(&Lowered<'_>, &Tables) -> T) -> T {
    let arena = Arena::new();
    let source = Source { name: "t", text: text.as_bytes() };
    let set = parse(&arena, source, &Options::new(&|name| !matches!(name, "break" | "continue"))).unwrap();
    let mut tables = Tables::default();
    let lowered = lower_with_sites(set.main().unwrap(), source, &AnyFunction, &mut tables);
    check(&lowered, &tables)
}

/// The lowered source, its expressions written out.
fn lowered(text: &str) -> String {
    with_lowered(text, |lowered, tables| written_out(&lowered.source, tables))
}

fn written_out(source: &str, tables: &Tables) -> String {
    let Some(end) = source.find("|_e") else { return source.to_owned() };
    let before = &source[..end];
    let start = if before.ends_with(']') {
        let mut open = 0;
        before.rfind(|c| {
            open += i32::from(c == ']') - i32::from(c == '[');
            open == 0
        })
    } else {
        before.rfind(|c: char| !c.is_ascii_digit()).map(|at| at + 1)
    };
    let start = start.unwrap_or_default();
    let list = &before[start..];
    let list = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list);
    let mut parts = list.split(',');
    let first: usize = parts.next().unwrap().parse().unwrap();
    let places: Vec<&str> = parts.collect();
    format!(
        "{}{}{}",
        &source[..start],
        expression(tables, first, &places),
        written_out(&source[end + 3..], tables)
    )
}

/// What must run before an expression, cells as `c1`, and the expression, each path a filter `p0` (`q0` where it is tested, `w0` where it is printed; `s0`, `r0` and `x0` where nil has no
/// fields), each function a filter of its argument or of a list of them.
fn expression(tables: &Tables, start: usize, given: &[&str]) -> String {
    struct Part {
        text: String,
        operator: bool,
    }
    fn grouped(part: &Part) -> String {
        if part.operator { format!("({})", part.text) } else { part.text.clone() }
    }
    fn listed(parts: &[Part]) -> String {
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        format!("[{}]", texts.join(","))
    }
    let mut stack: Vec<Part> = Vec::new();
    let mut junctions: Vec<(usize, bool, usize)> = Vec::new();
    let mut before = String::new();
    let mut skips: Vec<usize> = Vec::new();
    for (at, op) in tables.ops.iter().enumerate().skip(start) {
        while let Some((_, is, from)) = junctions.pop_if(|(to, ..)| *to == at) {
            let parts: Vec<String> = stack.drain(from..).map(|part| grouped(&part)).collect();
            stack.push(Part { text: parts.join(if is { " or " } else { " and " }), operator: true });
        }
        while skips.pop_if(|to| *to == at).is_some() {
            before.push_str("}; ");
        }
        let mut operator = false;
        let text = match *op {
            Op::Dot => "d".to_owned(),
            Op::Given(number) => given[number as usize].to_owned(),
            Op::Cell(number) => format!("c{number}"),
            Op::Put(number) => {
                before.push_str(&format!("c{number}={}; ", stack.pop().unwrap().text));
                continue;
            }
            Op::SkipIf { is, to } => {
                let word = if is { "unless" } else { "if" };
                before.push_str(&format!("{word} {} {{", stack.pop().unwrap().text));
                skips.push(to as usize);
                continue;
            }
            Op::Constant(number) => match &tables.constants[number as usize] {
                Constant::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                Constant::Int(int) => int.to_string(),
                Constant::Uint(uint) => uint.to_string(),
                Constant::Float(float) => format!("{float:?}"),
                Constant::Complex(real, imaginary) => format!("({real:?}+{imaginary:?}i)"),
                Constant::Bool(truth) => truth.to_string(),
                Constant::Nil => "none".to_owned(),
            },
            Op::Path { path, form, strict, .. } => {
                let filter = PathUse { path, form, strict }.filter();
                format!("{}|{filter}", grouped(&stack.pop().unwrap()))
            }
            Op::Call { function, args, piped_first, .. } => {
                let args: Vec<Part> = stack.drain(stack.len() - args as usize..).collect();
                let name = tables.functions.get(function);
                match &*args {
                    [] => format!("g_{name}()"),
                    [arg] => format!("{}|h_{name}", grouped(arg)),
                    args => format!("{}|{}_{name}", listed(args), if piped_first { 'r' } else { 'g' }),
                }
            }
            Op::Receiver { path: NO_PATH, .. } | Op::Awaits { .. } => continue,
            Op::Receiver { path, strict, .. } => {
                let filter = PathUse { path, form: Form::Value, strict }.filter();
                format!("{}|{filter}", grouped(&stack.pop().unwrap()))
            }
            Op::Method { method, args, .. } => {
                let args: Vec<Part> = stack.drain(stack.len() - args as usize..).collect();
                let name = tables.methods.get(method);
                format!("{}|m_{name}", listed(&args))
            }
            Op::Construct { construct, args, .. } => {
                let args: Vec<Part> = stack.drain(stack.len() - args as usize..).collect();
                match &*args {
                    [arg] => format!("{}|{}", grouped(arg), construct.name()),
                    args => format!("{}|{}", listed(args), construct.name()),
                }
            }
            Op::Not => {
                operator = true;
                format!("not {}", grouped(&stack.pop().unwrap()))
            }
            Op::JumpIf { is, to } => {
                let to = to as usize;
                if junctions.last().is_none_or(|(end, kind, _)| (*end, *kind) != (to, is)) {
                    junctions.push((to, is, stack.len() - 1));
                }
                continue;
            }
            Op::End => {
                let Some(last) = stack.pop() else { return before.trim_end_matches("; ").to_owned() };
                return before.replace("; }", "}") + &last.text;
            }
        };
        stack.push(Part { text, operator });
    }
    unreachable!("an expression has an end")
}

#[test]
fn fields_are_filters_of_the_dot() {
    assert_eq!(lowered("a {{ .b.c }} {{ $.b }} {{ .b.c | quote }}"), "a {{d|w0}} {{d|w1}} {{d|p0|h_quote}}");
    assert_eq!(lowered("{{ (f .x).y }}{{ f.y }}"), "{{d|p0|h_f|w1}}{{g_f()|w1}}");
}

#[test]
fn calls_take_lists() {
    assert_eq!(lowered("{{ f .x 1 \"s\" true nil }}"), "{{[d|p0,1,\"s\",true,none]|g_f|_print}}");
    assert_eq!(lowered("{{ .x | f 1 | g 2 }}"), "{{[2,[1,d|p0]|g_f]|g_g|_print}}");
    assert_eq!(lowered("{{ .Files.Get \"a\" }}"), "{{[d|p0,\"a\"]|m_Get|_print}}");
    assert_eq!(lowered("{{ .Get \"a\" }}"), "{{[d,\"a\"]|m_Get|_print}}");
}

#[test]
fn calls_nest() {
    assert_eq!(lowered("{{ f 1 (f 2 (f 3 (f 4 5))) }}"), "{{[1,[2,[3,[4,5]|g_f]|g_f]|g_f]|g_f|_print}}");
}

#[test]
fn arguments_are_evaluated_in_order() {
    // Go evaluates what is piped first.
    assert_eq!(lowered("{{ set .x 1 2 | f .y }}"), "{{[[d|p0,1,2]|g_set,d|p1]|r_f|_print}}");
    assert_eq!(lowered("{{ .x | f .y 1 }}"), "{{[d|p0,d|p1,1]|r_f|_print}}");
    assert_eq!(lowered("{{ .x | f 1 }}{{ $ | f .y }}"), "{{[1,d|p0]|g_f|_print}}{{[d|p1,d]|g_f|_print}}");
    // What needs statements of its own brings those before it along.
    assert_eq!(
        lowered("{{ f .x (and .y 1) }}"),
        "{{c2=d|p0; c1=d|p1; if c1|_truth {c1=1}; [c2,c1]|g_f|_print}}"
    );
}

#[test]
fn types_are_checked_before_what_comes_after_may_fail() {
    assert_eq!(lowered("{{ include .x . }}"), "{{[d|p0,d]|g_include}}");
    assert_eq!(lowered("{{ include .x .y }}"), "{{[[d|p0,\"string\",d]|_arg,d|p1]|g_include}}");
}

#[test]
fn a_break_in_the_else_of_a_loop_ends_that_loop() {
    assert_eq!(
        lowered("{{ range .a }}{{ range .b }}{{ else }}x{{ break }}{{ end }}{{ end }}"),
        "{%for e1 in d|p0|_range%}{{c2=e1}}{%for e3 in c2|s1|_range%}{{c4=e3}}{%else%}{{0|_outline}}\
         {%if \"break\"|_left%}{%endif%}{%endfor%}{%endfor%}"
    );
}

#[test]
fn variables_are_cells_and_unique() {
    assert_eq!(
        lowered("{{ $x := 1 }}{{ if .a }}{{ $x := 2 }}{{ $x = 3 }}{{ $x }}{{ end }}{{ $x }}"),
        "{{c1=1}}{%if d|q0%}{{c2=2}}{{c2=3}}{{c2|_print}}{%endif%}{{c1|_print}}"
    );
}

#[test]
fn loops() {
    assert_eq!(
        lowered("{{ range .a }}{{ . }}{{ .b }}{{ end }}"),
        "{%for e1 in d|p0|_range%}{{e1|_print}}{{e1|x1}}{%endfor%}"
    );
    assert_eq!(
        lowered("{{ range $k, $v := .a }}{{ $k }}{{ $v }}{{ $v.c }}{{ else }}none{{ end }}"),
        "{%for e3 in c1=d|p0; c2=c1; c2|_pairs%}{{e3[0]|_print}}{{e3[1]|_print}}{{e3[1]|x1}}\
         {%else%}none{%endfor%}"
    );
    assert_eq!(
        lowered("{{ range $v := .a }}{{ $v = 1 }}{{ break }}{{ end }}"),
        "{%for e1 in d|p0|_range%}{{c2=e1}}{{c2=1}}{%break%}{%endfor%}"
    );
}

#[test]
fn conditions() {
    assert_eq!(
        lowered(
            "{{ if and .a (or (eq .b 1) (not .c)) }}x{{ else if $v }}{{ end }}".replace("$v", ".d").as_str()
        ),
        "{%if d|q0 and ([d|p1,1]|g_eq or (not d|q2))%}x{%elif d|q3%}{%endif%}"
    );
    assert_eq!(
        lowered("{{ with .a }}{{ . }}{{ else with .b }}{{ . }}{{ end }}"),
        "{%if c1=d|p0; c1|_truth%}{{c1|_print}}{%else%}{%if c2=d|p1; c2|_truth%}{{c2|_print}}{%endif%}{%endif%}"
    );
    assert_eq!(lowered("{{ or .a .b }}"), "{{c1=d|p0; unless c1|_truth {c1=d|p1}; c1|_print}}");
}

#[test]
fn text_is_written_as_it_is_or_as_a_constant() {
    assert_eq!(lowered("a{{ \"b\" }}{{ 1 }}{{ true }}c"), "ab1truec");
    assert_eq!(lowered("{{ \"{{\" }} x {{ \"}}\" }}"), "{{0|_k}}");
    assert_eq!(lowered("a{{ 'x' }}{% raw %}"), "{{0|_k}}");
    assert_eq!(
        lowered("{{ f -5 }}{{ f 1.5 }}{{ f \"\\\"\\n\\\\\" }}"),
        "{{-5|h_f|_print}}{{1.5|h_f|_print}}{{\"\\\"\\n\\\\\"|h_f|_print}}"
    );
}

#[test]
fn constants_become_text_and_lines_are_not_kept() {
    assert_eq!(lowered("a\n{{- \"x\" -}}\n\n{{ .b }}\n{{ .c }}"), "ax{{d|w0}}\n{{d|w1}}");
}

#[test]
fn templates_that_nest_deep_are_split() {
    let depth = 50;
    let text = format!("{}{{{{ .x }}}}{}", "{{ if .a }}".repeat(depth), "{{ end }}".repeat(depth));
    with_lowered(&text, |lowered, _| {
        let sources =
            || std::iter::once(&lowered.source).chain(lowered.outlined.iter().map(|block| &block.source));
        assert!(!lowered.outlined.is_empty());
        for source in sources() {
            assert!(source.matches("{%if").count() <= super::outline::MAX_BLOCKS, "{source}");
        }
        assert_eq!(sources().map(|source| source.matches("{%if").count()).sum::<usize>(), depth);
    });
}

#[test]
fn sites_are_the_nodes() {
    with_lowered("{{ f .a.b (g .c) }}", |lowered, tables| {
        let site = |op: &Op| match op {
            Op::Path { site, .. } | Op::Call { site, .. } | Op::Construct { site, .. } => Some(*site),
            _ => None,
        };
        let found = tables.ops.iter().filter_map(site);
        let found: Vec<_> = found.map(|site| print(lowered.sites[site as usize].node)).collect();
        assert_eq!(found, [".a.b", ".c", "g .c", "f .a.b (g .c)", "{{f .a.b (g .c)}}"]);
    });
    with_lowered("{{ range $a := .b }}{{ $a }}{{ end }}", |lowered, _| {
        assert_eq!(lowered.source, "{%for e1 in 0|_e%}{{e1|_print}}{%endfor%}");
        let found = lowered
            .map
            .offsets()
            .iter()
            .enumerate()
            .map(|(number, at)| (*at, print(lowered.map.site(number, &lowered.sites).unwrap().node)));
        assert_eq!(found.collect::<Vec<_>>(), [(23, "{{$a}}".to_owned())]);
    });
}

#[test]
fn expressions_are_given_the_places_that_they_need() {
    with_lowered("{{ .x | f }}{{ range $k, $v := .y }}{{ g $k $v . $.z }}{{ end }}", |lowered, _| {
        assert_eq!(lowered.source, "{{0|_e}}{%for e1 in 5|_e%}{{[9,e1[0],e1[1]]|_e}}{%endfor%}");
    });
}

#[test]
fn signs_do_not_meet() {
    assert_eq!(
        lowered("{{ if not -3 }}{{ end }}{{ not -3 }}"),
        "{%if not -3|_truth%}{%endif%}{{not -3|_truth}}"
    );
}

#[test]
fn and_and_or_do_not_nest_conditions() {
    let text = format!("{{{{ f {}.x{} }}}}", "(or .a ".repeat(100), ")".repeat(100));
    with_lowered(&text, |lowered, _| {
        let mut depth = 0_i32;
        for (at, _) in lowered.source.match_indices("{%") {
            let tag = &lowered.source[at + 2..];
            depth += i32::from(tag.starts_with("if")) - i32::from(tag.starts_with("endif"));
            assert!(depth <= 1, "{}", lowered.source);
        }
    });
}
