use super::{Known, Lowered, Param, Signature, Tables, Vocabulary, lower_with_sites};
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

fn with_lowered<T>(text: &str, check: impl FnOnce(&Lowered<'_>) -> T) -> T {
    let arena = Arena::new();
    let source = Source { name: "t", text: text.as_bytes() };
    let set = parse(&arena, source, &Options::new(&|name| !matches!(name, "break" | "continue"))).unwrap();
    check(&lower_with_sites(set.main().unwrap(), source, &AnyFunction, &mut Tables::default()))
}

fn lowered(text: &str) -> String {
    with_lowered(text, |lowered| lowered.source.clone())
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
    assert_eq!(lowered("{{ .Get \"a\" }}"), "{{[d,\"a\"]|n_Get|_print}}");
}

#[test]
fn lists_do_not_nest_deeper_than_tera_allows() {
    assert_eq!(
        lowered("{{ f 1 (f 2 (f 3 (f 4 5))) }}"),
        "{%set_global v1=[3,[4,5]|g_f]|g_f%}{{[1,[2,v1]|g_f]|g_f|_print}}"
    );
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
        "{%set_global v2=d|p0%}{%set_global v1=d|p1%}{%if v1|_truth%}{%set_global v1=1%}{%endif%}{{[v2,v1]|g_f|_print}}"
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
        "{%for e1 in d|p0|_range%}{{e1|_put(c=2)}}{%for e3 in 2|_cell|s1|_range%}{{e3|_put(c=4)}}{%else%}{{0|_outline}}\
         {%if \"break\"|_left%}{%endif%}{%endfor%}{%endfor%}"
    );
}

#[test]
fn variables_are_global_and_unique() {
    assert_eq!(
        lowered("{{ $x := 1 }}{{ if .a }}{{ $x := 2 }}{{ $x = 3 }}{{ $x }}{{ end }}{{ $x }}"),
        "{%set_global v1=1%}{%if d|q0%}{%set_global v2=2%}{%set_global v2=3%}{{v2|_print}}{%endif%}{{v1|_print}}"
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
        "{%set_global v1=d|p0%}{%set_global v2=v1%}{%for e3 in v2|_pairs%}{{e3[0]|_print}}{{e3[1]|_print}}{{e3[1]|x1}}\
         {%else%}none{%endfor%}"
    );
    assert_eq!(
        lowered("{{ range $v := .a }}{{ $v = 1 }}{{ break }}{{ end }}"),
        "{%for e1 in d|p0|_range%}{%set_global v2=e1%}{%set_global v2=1%}{%break%}{%endfor%}"
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
        "{%set_global v1=d|p0%}{%if v1|_truth%}{{v1|_print}}{%else%}{%set_global v2=d|p1%}{%if v2|_truth%}{{v2|_print}}\
         {%endif%}{%endif%}"
    );
    assert_eq!(
        lowered("{{ or .a .b }}"),
        "{%set_global v1=d|p0%}{%if not (v1|_truth)%}{%set_global v1=d|p1%}{%endif%}{{v1|_print}}"
    );
}

#[test]
fn text_is_written_as_it_is_or_as_a_constant() {
    assert_eq!(lowered("a{{ \"b\" }}{{ 1 }}{{ true }}c"), "ab1truec");
    assert_eq!(lowered("{{ \"{{\" }} x {{ \"}}\" }}"), "{{0|_k}}");
    assert_eq!(lowered("a{{ 'x' }}{% raw %}"), "{{0|_k}}");
    assert_eq!(
        lowered("{{ f -5 }}{{ f 1.5 }}{{ f \"\\\"\\n\\\\\" }}"),
        "{{( -5)|h_f|_print}}{{0|_k|h_f|_print}}{{\"\\\"\\n\\\\\"|h_f|_print}}"
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
    with_lowered(&text, |lowered| {
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
    with_lowered("{{ f .a.b (g .c) }}", |lowered| {
        assert_eq!(lowered.source, "{{[d|p0,d|p1|h_g]|g_f|_print}}");
        let found = lowered
            .map
            .offsets()
            .iter()
            .enumerate()
            .map(|(number, at)| (*at, print(lowered.map.site(number, &lowered.sites).unwrap().node)));
        let found: Vec<_> = found.collect();
        let expected =
            [(5, ".a.b"), (10, ".c"), (13, "g .c"), (18, "f .a.b (g .c)"), (22, "{{f .a.b (g .c)}}")];
        assert_eq!(found, expected.map(|(at, node)| (at, node.to_owned())));
    });
}

#[test]
fn signs_do_not_meet() {
    assert_eq!(
        lowered("{{ if not -3 }}{{ end }}{{ not -3 }}"),
        "{%if not ( -3)|_truth%}{%endif%}{{not ( -3)|_truth}}"
    );
}

#[test]
fn and_and_or_do_not_nest_conditions() {
    let text = format!("{{{{ f {}.x{} }}}}", "(or .a ".repeat(100), ")".repeat(100));
    with_lowered(&text, |lowered| {
        let mut depth = 0_i32;
        for (at, _) in lowered.source.match_indices("{%") {
            let tag = &lowered.source[at + 2..];
            depth += i32::from(tag.starts_with("if")) - i32::from(tag.starts_with("endif"));
            assert!(depth <= 1, "{}", lowered.source);
        }
    });
}
