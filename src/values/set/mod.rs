//! The grammar of `--set` and its kin.
//!
//! `a.b=1,c[0].d=x,e={1,2}` with `\` before a character that means itself. What a value becomes depends on the flag:
//! see [`Style`]. Existing values are changed in place, and what has the wrong shape for a path is an error in the
//! words of Go's failed type assertion, as in Helm.

mod json;
mod parser;

use tera::{Map, Value};

/// How the text after `=` becomes a value.
pub enum Style<'r> {
    /// `--set`: booleans, null and integers (int64) where the text is one, else a string.
    Typed,
    /// `--set-string`: always a string.
    Text,
    /// `--set-json`: JSON, numbers float64.
    Json,
    /// `--set-literal`: all that follows the first `=`, nothing in it special.
    Literal,
    /// `--set-file`: what the function gives for the text, which is a path; a Go string, of any bytes.
    File(&'r mut dyn FnMut(&str) -> Result<Vec<u8>, String>),
}

/// How deep a path may go, in maps. Helm's own limit.
const MAX_LEVEL: usize = 30;
/// The largest index of a list. Helm's own limit.
const MAX_INDEX: i64 = 65_536;
/// How many items all lists together may get, which Helm does not limit.
const MAX_ITEMS: usize = 1 << 20;
/// How deep lists may nest, which Helm does not limit.
const MAX_LISTS: usize = 1_000;

/// Sets what `text` says in `values`, which is a map. The error is that of Helm's `strvals`.
pub fn parse_into(text: &str, style: Style<'_>, values: Value) -> Result<Value, String> {
    let mut map = values.into_map().unwrap_or_default();
    parser::Parser::new(text, style).parse(&mut map)?;
    Ok(Value::from(map))
}

/// The values that `text` sets, from nothing.
pub fn parse(text: &str, style: Style<'_>) -> Result<Value, String> {
    parse_into(text, style, Value::from(Map::default()))
}

pub(super) use json::parse_json;

#[cfg(test)]
mod tests {
    use super::*;

    fn show(result: Result<Value, String>) -> String {
        result.map_or_else(
            |e| format!("error: {e}"),
            |v| serde_json::to_string(&crate::values::tests::sorted(&v)).unwrap(),
        )
    }

    fn typed(text: &str) -> String {
        show(parse(text, Style::Typed))
    }

    #[test]
    fn typed_values() {
        insta::assert_snapshot!(
            [
                "name1=null,f=false,t=TRUE",
                "a=1,b=-2,c=+3,d=007,e=0,f=1.5,g=9223372036854775808",
                "a=\\,b,c\\=d=e\\\\",
                "a.b.c=1,a.b.d=2",
                "a={},b={1,x,true,},c={1",
                "a={1,2}b=3",
                "l[0]=a,l[2]=c,l[1].x=1,l[3][1]=y",
                "l[0].a=1,l[0].b=2",
                "a=",
                "a=,b",
                "a",
                "a,b=1",
                "a.",
                "a.=1",
                ".a=1",
                "=1",
                "a[",
                "a[0",
                "a[0]",
                "a[x]=1",
                "a[-1]=1",
                "a[65537]=1",
                "a[99999999999999999999]=1",
                "a[0]b=1",
                "a=1,a.b=2",
                "a=x,a[0]=2",
                "a[0]=1,a[0][1]=2",
                "a[0]=1,a[0].b=2",
                "a=\\",
                "\u{1f600}=\u{1f600}",
                "",
                ",",
                "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e=1",
                "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f=1",
            ]
            .map(|text| format!("{text}\n  {}", typed(text)))
            .join("\n")
        );
    }

    #[test]
    fn other_styles() {
        let json = |text| show(parse(text, Style::Json));
        let literal = |text| show(parse(text, Style::Literal));
        insta::assert_snapshot!(
            [
                show(parse("a=1,b=true,c=null,d={1,2}", Style::Text)),
                json("a={\"b\": [1, null]}, c=1.5 ,d=,e=  ,f=\"x,y\""),
                json("a[1]=[1],b=truec=1"),
                json("a=01"),
                json("a=x"),
                json("a=1."),
                literal("a.b=1,c=\\{x}"),
                literal("a[0].b=x=y"),
                literal("a[0]"),
                literal("a"),
                literal("a\\.b="),
                show(parse("a=f1,b={f2,f3}", Style::File(&mut |path| Ok(format!("<{path}>").into_bytes())))),
                show(parse(
                    "a=f1",
                    Style::File(&mut |path| Err(format!("open {path}: no such file or directory")))
                )),
            ]
            .join("\n")
        );
    }

    #[test]
    fn existing_values_are_changed_in_place() {
        let base = parse_into("a.b=1,a.c[0]=x", Style::Typed, Value::from(Map::default())).unwrap();
        let changed = parse_into("a.c[1]=y,a.d=2", Style::Typed, base.clone());
        assert_eq!(show(changed), r#"{"a":{"b":1,"c":["x","y"],"d":2}}"#);
        assert_eq!(show(Ok(base)), r#"{"a":{"b":1,"c":["x"]}}"#);
    }

    #[test]
    fn lists_of_lists_end_somewhere() {
        let text = format!("a{}=1", "[0]".repeat(100_000));
        assert!(typed(&text).starts_with("error: "));
    }
}
