//! What the judge cannot see: spans, and what is ours alone. Trees and errors are compared in tests/gotemplate_parse.rs.

use super::*;

fn with_set<T>(text: &str, look: impl FnOnce(&TreeSet<'_>) -> T) -> T {
    let arena = Arena::new();
    let source = Source { name: "a", text: text.as_bytes() };
    look(&parse(&arena, source, &Options::new(&|name| name == "f")).unwrap())
}

fn cut(text: &str, span: Span) -> &str {
    &text[span.start..span.end]
}

#[test]
fn spans_cover_actions_with_their_delimiters() {
    let text =
        "a {{- .b -}} c {{ if 1 }}x{{- else -}}y{{ end }}{{ block \"n\" . }}z{{ end }}{{template \"n\"}}";
    with_set(text, |set| {
        let [_, Node::Action(action), _, Node::If(branch), Node::Template(block), Node::Template(call)] =
            set.main().unwrap().root.nodes
        else {
            panic!("{set:?}");
        };
        // A trim marker on the right is no part of the delimiter.
        assert_eq!(cut(text, action.span), "{{- .b -}}");
        assert_eq!(cut(text, branch.open), "{{ if 1 }}");
        assert_eq!(cut(text, branch.middle.unwrap()), "{{- else -}}");
        assert_eq!(cut(text, branch.close), "{{ end }}");
        assert_eq!(cut(text, block.span), "{{ block \"n\" . }}z{{ end }}");
        assert!(block.block && !call.block);
        assert_eq!(cut(text, call.span), "{{template \"n\"}}");
    });
}

#[test]
fn an_else_if_opens_at_the_else_and_shares_the_end() {
    let text = "{{if 1}}a{{else if 2}}b{{else}}c{{end}}";
    with_set(text, |set| {
        let [Node::If(outer)] = set.trees[0].root.nodes else { panic!("{set:?}") };
        let [Node::If(inner)] = outer.else_list.unwrap().nodes else { panic!("{set:?}") };
        assert!(outer.else_chained && !inner.else_chained);
        assert_eq!(cut(text, inner.open), "{{else if 2}}");
        assert_eq!(inner.close, outer.close);
        assert_eq!(set.trees[0].depth, 2);
    });
}

#[test]
fn definitions_come_in_order_and_blank_ones_give_way() {
    with_set("{{define \"x\"}} {{end}}m{{define \"y\"}}1{{end}}{{define \"x\"}}2{{end}}", |set| {
        let trees: Vec<_> =
            set.trees.iter().map(|tree| (tree.name().into_owned(), tree.is_empty())).collect();
        assert_eq!(trees, [("x".to_owned(), false), ("y".to_owned(), false), ("a".to_owned(), false)]);
    });
}

#[test]
fn depth_counts_structures_and_parentheses() {
    with_set("{{if 1}}{{range .}}{{f (f (f .))}}{{end}}{{end}}", |set| assert_eq!(set.trees[0].depth, 4));
}

#[test]
fn an_error_says_where_it_is() {
    let arena = Arena::new();
    let source = Source { name: "a", text: b"x\n{{ if .b }}\n{{ wrong }}" };
    let error = parse(&arena, source, &Options::new(&|_| false)).unwrap_err();
    assert_eq!((error.line, error.pos), (3, 17));
    assert_eq!(source.line_column(error.pos), (3, 3));
}
