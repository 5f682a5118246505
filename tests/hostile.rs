//! Charts that mean harm: each ends with a clear error within the limits, or is rendered after all.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{fmt::Write as _, time::Duration};

use pintle::{
    chart, render,
    values::{coalesce, process_dependencies, set},
    yaml,
};

/// Far below what is allowed otherwise, so that the tests are quick.
fn limits() -> render::Limits {
    render::Limits {
        depth: 200,
        output_bytes: 1 << 20,
        text_bytes: 1 << 18,
        made_bytes: 16 << 20,
        time: Duration::from_secs(600),
    }
}

fn chart(template: &str, values: &str) -> chart::Chart {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let files = vec![
        file("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        file("values.yaml", values),
        file("x.txt", &"x".repeat(2000)),
        file("templates/a.yaml", template),
    ];
    chart::load_files(files, &chart::Limits::default()).unwrap()
}

fn render_with(template: &str, values: &str, limits: render::Limits) -> Result<String, String> {
    let chart = chart(template, values);
    let user = tera::Value::from(tera::Map::new());
    let chart = process_dependencies(&chart, &user).map_err(|error| error.to_string())?;
    let values = coalesce(&chart, &user).map_err(|error| error.to_string())?;
    let program = render::Program::new(&chart).map_err(|error| error.to_string())?;
    let mut inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
    inputs.limits = limits;
    let rendered = program.render(&inputs).map_err(|error| error.to_string())?;
    Ok(rendered.files.iter().map(|file| file.text().into_owned()).collect())
}

fn render(template: &str) -> Result<String, String> {
    render_with(template, "", limits())
}

/// The error of each template, with all that repeats cut short.
fn refusals(templates: &[&str]) -> String {
    let mut all = String::new();
    for template in templates {
        let error = render(template).map(|text| format!("no error but {} bytes", text.len()));
        let mut error = error.unwrap_or_else(|error| error);
        let lines = error.lines().count();
        if lines > 8 {
            let kept: Vec<_> = error.lines().take(4).collect();
            error = format!("{}\n… {} lines", kept.join("\n"), lines - 4);
        }
        writeln!(all, "{template}\n    {}", error.replace('\n', "\n    ")).unwrap();
    }
    all
}

#[test]
fn what_never_ends_is_ended() {
    insta::assert_snapshot!(refusals(&[
        r#"{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#,
        r#"{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}"#,
        r#"{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}"#,
        r#"{{ define "a" }}{{ tpl "{{ include \"a\" . }}" . }}{{ end }}{{ include "a" . }}"#,
        r#"{{ $_ := set .Values "t" "{{ tpl .Values.t . }}" }}{{ tpl .Values.t . }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" (list $d) }}{{ toJson $d }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d | len }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ merge $d $d | len }}"#,
        r#"{{ $l := list }}{{ range until 100000 }}{{ $l = list $l }}{{ end }}{{ len $l }}"#,
        r#"{{ $d := dict }}{{ range until 100000 }}{{ $d = dict "d" $d }}{{ end }}{{ $d }}"#,
        r#"{{ range until 5000000 }}{{ end }}"#,
        r#"{{ range 5000000 }}{{ end }}"#,
    ]));
}

#[test]
fn what_grows_without_end_is_refused() {
    insta::assert_snapshot!(refusals(&[
        r#"{{ range 200000 }}many bytes{{ end }}"#,
        r#"{{ define "a" }}{{ if . }}{{ include "a" (rest .) }}{{ include "a" (rest .) }}{{ end }}x{{ end }}{{ include "a" (until 60) }}"#,
        r#"{{ repeat 1000000000 "x" }}"#,
        r#"{{ repeat 9223372036854775807 "xx" }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = cat $x $x }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = b64enc $x }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = replace "x" "xx" $x }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = regexReplaceAll "x" $x "xx" }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = list $x $x | join "" }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = list $x $x | toJson }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = list $x $x | toYaml }}{{ end }}"#,
        r#"{{ $x := "x" }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x | toPrettyJson }}{{ end }}"#,
        r#"{{ $x := "'" }}{{ range until 60 }}{{ $x = quote $x $x }}{{ end }}"#,
        r#"{{ $x := "'" }}{{ range until 60 }}{{ $x = html $x }}{{ end }}"#,
        r#"{{ $x := "'" }}{{ range until 60 }}{{ $x = urlquery $x }}{{ end }}"#,
        r#"{{ $x := list 1 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}"#,
        r#"{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}"#,
        r#"{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}"#,
        r#"{{ $x := dict }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ deepCopy $x }}"#,
        r#"{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toPrettyJson $x }}"#,
        r#"{{ $d := dict }}{{ $e := dict }}{{ range 900 }}{{ $d = dict "d" $d "e" $d }}{{ $e = dict "d" $e "e" $e }}{{ end }}{{ deepEqual $d $e }}"#,
        r#"{{ $d := list 1 }}{{ $e := list 1 }}{{ range 900 }}{{ $d = list $d $d }}{{ $e = list $e $e }}{{ end }}{{ has $d (list $e) }}"#,
        r#"{{ $d := dict }}{{ $e := dict }}{{ range 900 }}{{ $d = dict "d" $d "e" $d }}{{ $e = dict "d" $e "e" $e }}{{ end }}{{ merge $d $e | len }}"#,
        r#"{{ $d := dict }}{{ range 900 }}{{ $d = dict "d" $d "e" $d }}{{ end }}{{ toToml $d | len }}"#,
        r#"{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $e := dict }}{{ $_ := set $e "d" $e }}{{ deepEqual $d $e }}"#,
        r#"{{ range 400000 }}{{ range 400000 }}{{ end }}{{ end }}"#,
        r#"{{ range $i, $x := until 200000 }}{{ end }}"#,
        r#"{{ range 20000 }}{{ $x := $.Files.Get "x.txt" }}{{ end }}"#,
        r#"{{ $x := dict }}{{ range 2000 }}{{ $_ := set $x (toString .) . }}{{ end }}{{ range 1000 }}{{ $y := omit $x "a" }}{{ end }}"#,
        r#"{{ range 1000 }}{{ $x := tpl (print "{{ 1 }}" . (repeat 10000 " ")) $ }}{{ end }}"#,
        r#"{{ define "a" }}{{ if . }}{{ tpl (print (repeat 10000 "x") "{{ include \"a\" . }}") (rest .) }}{{ else }}{{ fail "x" }}{{ end }}{{ end }}{{ include "a" (until 60) }}"#,
        r#"{{ printf "%1000000d" 1 }}"#,
        r#"{{ printf "%*d" 1000000 1 }}"#,
        r#"{{ printf "%.1000000f" 1.0 }}"#,
        r#"{{ range until 60 }}{{ printf (printf "%%%dd" 999999) 1 }}{{ end }}"#,
        r#"{{ indent 1000000000 "x" }}"#,
        r#"{{ nindent 9223372036854775807 "x" }}"#,
        r#"{{ "a\nb\nc" | indent 100000 }}"#,
        r#"{{ wrapWith 1 (repeat 1000 "x") (repeat 1000 "y") }}"#,
        r#"{{ randAlphaNum 1000000000 }}"#,
        r#"{{ until 1000000000 }}"#,
        r#"{{ untilStep 0 1000000000 1 }}"#,
        r#"{{ seq 1000000000 }}"#,
        r#"{{ $l := list }}{{ range until 100 }}{{ $l = append $l (until 100000) }}{{ end }}"#,
        r#"{{ $l := list }}{{ range until 100 }}{{ $l = append $l (print . (repeat 200000 "x")) }}{{ end }}"#,
        r#"{{ $d := dict }}{{ range until 100 }}{{ $_ := set $d (toString .) (upper (repeat 200000 "x")) }}{{ end }}"#,
        r#"{{ splitList "" (repeat 200000 "x") | len }}"#,
        r#"{{ fromJson (printf "{\"a\":%s1%s}" (repeat 20000 "[") (repeat 20000 "]")) }}"#,
        r#"{{ fromYaml (printf "a: %s1%s" (repeat 20000 "[") (repeat 20000 "]")) }}"#,
        r#"{{ fromYaml "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n" }}"#,
    ]));
}

/// A level takes stack not only for its template, but for the blocks that were split off from that too.
#[test]
fn what_nests_and_never_ends_is_ended() {
    let mut all = String::new();
    for call in [r#"{{ include "a" . }}"#, r#"{{ template "a" . }}"#] {
        for (open, many) in [("{{ if true }}", 1_600), ("{{ range 1 }}", 3_000), ("{{ with 1 }}", 100)] {
            let body = format!("{}{call}{}", open.repeat(many), "{{ end }}".repeat(many));
            let template = format!("{{{{ define \"a\" }}}}{body}{{{{ end }}}}{call}");
            let limits = render::Limits { depth: render::Limits::default().depth, ..limits() };
            let error = render_with(&template, "", limits).unwrap_err();
            writeln!(all, "{many} {open} {call}: {}", error.lines().last().unwrap().trim()).unwrap();
        }
    }
    let many: String = (0..20_000).map(|n| format!("{{{{ $x{n} := 1 }}}}")).collect();
    let template =
        format!(r#"{{{{ define "a" }}}}{many}{{{{ include "a" . }}}}{{{{ end }}}}{{{{ include "a" . }}}}"#);
    writeln!(all, "variables: {}", render(&template).unwrap_err()).unwrap();
    insta::assert_snapshot!(all);
}

/// The line that an error shows is cut to what is around the place.
#[test]
fn of_long_lines_a_part_is_shown() {
    let template = format!("{}{{{{ .Values.a.b }}}}{}", "é".repeat(3_000), "x".repeat(3_000));
    let chart = chart(&template, "");
    let user = tera::Value::from(tera::Map::new());
    let values = coalesce(&chart, &user).unwrap();
    let inputs = render::Inputs::offline(values, render::Release::install("rel", "ns"));
    let error = render::Program::new(&chart).unwrap().render(&inputs).unwrap_err();
    let excerpt = error.excerpt();
    let lines: Vec<&str> = excerpt.lines().collect();
    let at = lines[2].chars().position(|c| c == '^').unwrap();
    let shown: String = lines[1].chars().skip(at).take(4).collect();
    assert_eq!(shown, ".a.b", "{excerpt}");
    assert!(excerpt.len() < 3_000);
}

/// Expressions that others need exponential time for; and those that are small to write and large to hold.
#[test]
fn regular_expressions_take_linear_time_and_little_memory() {
    insta::assert_snapshot!(refusals(&[
        r#"{{ regexMatch "^(a+)+$" (print (repeat 50000 "a") "!") }}"#,
        r#"{{ regexMatch "^(a|aa)+$" (print (repeat 50000 "a") "!") }}"#,
        r#"{{ regexFind "(x+x+)+y" (repeat 50000 "x") }}"#,
        r#"{{ regexReplaceAll "(.*)(.*)(.*)(.*)(.*)z" (repeat 20000 "a") "$1" | len }}"#,
        r#"{{ regexMatch "((a{1000}){1000}){1000}" "a" }}"#,
        r#"{{ regexMatch "(((((a{10}){10}){10}){10}){10}){10}" "a" }}"#,
        r#"{{ regexMatch "(\\pL{1000}|\\pN{1000}){1}" "a" }}"#,
        r#"{{ regexMatch (print (repeat 20000 "(") (repeat 20000 ")")) "a" }}"#,
        r#"{{ regexMatch (repeat 20000 "a?") "a" }}"#,
    ]));
}

#[test]
fn templates_may_nest_deep() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    // Nobody says how deep: what counts is that it ends, and well.
    let mut all = String::new();
    for (name, template) in [
        ("parentheses", format!("{{{{ {} }}}}", nested("(", "1", ")", 20_000))),
        ("calls", format!("{{{{ {} }}}}", nested("(print ", "1", ")", 20_000))),
        ("conditions", nested("{{ if true }}", "x", "{{ end }}", 5_000)),
        ("loops", nested("{{ range 1 }}", "x", "{{ end }}", 5_000)),
        ("else", format!("{{{{ if false }}}}{}{{{{ end }}}}", "{{ else if false }}x".repeat(5_000))),
        ("fields", format!("{{{{ .Values{} }}}}", ".a".repeat(100_000))),
        ("pipes", format!("{{{{ 1{} }}}}", " | print".repeat(20_000))),
        ("arguments", format!("{{{{ print{} }}}}", " 1".repeat(100_000))),
        ("and", format!("{{{{ and{} }}}}", " true".repeat(20_000))),
        ("and in and", format!("{{{{ {} }}}}", nested("and 1 (", "print 1", ")", 9_000))),
        ("or in if", format!("{{{{ if {} }}}}x{{{{ end }}}}", nested("or 0 (not (", "print 1", "))", 4_000))),
        ("variables", "{{ $x := 1 }}".repeat(20_000)),
        ("comments", "{{/* x */}}".repeat(100_000)),
        (
            "defines",
            (0..5_000).fold(String::new(), |text, n| format!("{text}{{{{ define \"{n}\" }}}}{{{{ end }}}}")),
        ),
        ("open", "{{".repeat(100_000)),
    ] {
        let outcome = match render(&template) {
            Ok(text) => format!("{} bytes", text.len()),
            Err(error) => {
                let cut = |line: &str| line.chars().take(160).collect::<String>();
                error.lines().map(cut).take(4).collect::<Vec<_>>().join("\n    ")
            }
        };
        writeln!(all, "{name}: {outcome}").unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_render_ends_in_its_time() {
    let limits = render::Limits { time: Duration::from_millis(300), ..render::Limits::default() };
    for template in [
        "{{ range 4000000 }}{{ range 4000000 }}{{ end }}{{ end }}",
        "{{ range 4000000 }}{{ $x := repeat 1000000 \"x\" }}{{ end }}",
        "{{ $x := repeat 10000 \"ab\" }}{{ range 4000000 }}{{ $y := regexReplaceAll \"a(b|c)*\" $x \"$1\" }}{{ end }}",
        "{{ define \"a\" }}{{ if . }}{{ include \"a\" (rest .) }}{{ include \"a\" (rest .) }}{{ end }}{{ end }}{{ include \"a\" (until 60) }}",
        "{{ $l := until 400000 }}{{ range 4000000 }}{{ $y := has 1.5 $l }}{{ end }}",
        "{{ range 1000 }}{{ $x := derivePassword 1 \"long\" \"p\" \"u\" \"s\" }}{{ end }}",
        "{{ range 1000 }}{{ $x := bcrypt \"x\" }}{{ end }}",
    ] {
        let error = render_with(template, "", limits).unwrap_err();
        assert!(error.contains("rendering took"), "{template}: {error}");
    }
}

#[test]
fn a_values_file_of_a_million_lines_is_read() {
    let mut values = String::new();
    for line in 0..1_000_000 {
        writeln!(values, "key{line}: value").unwrap();
    }
    let text = render_with("{{ .Values.key999999 }} {{ len .Values }}", &values, limits()).unwrap();
    assert_eq!(text, "value 1000000");
}

#[test]
fn values_that_nest_deep_or_live_off_aliases_are_refused() {
    let refused = |text: &str| yaml::parse(text).unwrap_err().to_string();
    let laughs = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, n| {
        format!("{text}a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "))
    });
    insta::assert_snapshot!(
        [
            refused(&"[".repeat(100_000)),
            refused(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
            refused(&"{a: ".repeat(100_000)),
            refused(&"- ".repeat(100_000)),
            refused(&(0..3_000).fold(String::new(), |text, n| format!("{text}{}a:\n", " ".repeat(n)))),
            refused(&"? ".repeat(20_000)),
            refused(&laughs),
            refused("a: &a [*a]"),
            refused("a: &a {b: *a}"),
        ]
        .join("\n")
    );
}

#[test]
fn lists_of_set_do_not_grow_without_end() {
    let refused = |text: &str| set::parse(text, set::Style::Typed).unwrap_err();
    let wide: String = (0..20).map(|n| format!("a{n}[65536]=1,")).collect();
    insta::assert_snapshot!(
        [
            refused(&format!("a{}=1", "[65536]".repeat(30))),
            refused(&wide),
            refused(&format!("a{}=1", "[0]".repeat(2_000))),
            refused(&format!("a{}=1", ".a".repeat(2_000))),
        ]
        .join("\n"),
        @r"
    lists have more than the maximum of 1048576 items in all
    lists have more than the maximum of 1048576 items in all
    lists are nested deeper than the maximum of 1000
    value name nested level is greater than maximum supported nested level of 30
    "
    );
}
