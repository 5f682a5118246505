//! Errors as a person reads them: the source line, the line of the output, and no secret.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{fmt::Write as _, sync::Arc};

use pintle::{
    chart,
    manifest::{self, Order},
    render::{GeneratedKey, GeneratedValues, Inputs, Lookup, LookupRecord, Program, Release, Rendered},
    yaml,
};
use tera::Value;

const PASSWORD: &str = "hunter\"2";

/// A cluster with one Secret.
struct OneSecret;

impl Lookup for OneSecret {
    fn lookup(&self, query: &LookupRecord) -> Result<Value, String> {
        // hunter"2, a key of two lines, credentials of a registry, a URL, and lines for an environment.
        let secret = "kind: Secret\ndata:\n  password: aHVudGVyIjI=\n  key: bGluZSBvbmUKbGluZSB0d28K\n  registry: \
                      eyJhdXRocyI6eyJyLmV4YW1wbGUiOnsiYXV0aCI6ImRYTmxjanBvZFc1MFpYSXpjbVE9In19fQ==\n  url: \
                      cG9zdGdyZXM6Ly93ZWI6aHVudGVyNHRoQGRiL3g=\n  env: QT1iClRPS0VOPWh1bnRlciA1dGgK\n";
        Ok(match &*query.name {
            "" => yaml::parse(&format!("items:\n- {}", secret.trim_end().replace('\n', "\n  "))).unwrap(),
            _ => yaml::parse(secret).unwrap(),
        })
    }
}

/// Everything was generated before.
struct Kept;

impl GeneratedValues for Kept {
    fn kept(&self, _: &GeneratedKey) -> Option<Value> {
        Some(Value::from("generated-before"))
    }
}

fn render(template: &str) -> Result<Rendered, pintle::render::Error> {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let files = vec![
        file("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
        file("templates/a.yaml", template),
        file("templates/_h.tpl", "{{ define \"h\" }}\n  {{ .Values.a.b }}\n{{ end }}"),
    ];
    let chart = chart::load_files(files, &chart::Limits::default()).unwrap();
    let mut inputs = Inputs::offline(Value::from(tera::Map::new()), Release::install("rel", "ns"));
    (inputs.lookup, inputs.generated) = (Arc::new(OneSecret), Arc::new(Kept));
    Program::new(&chart)?.render(&inputs)
}

#[test]
fn the_source_line_is_shown() {
    let mut all = String::new();
    for template in [
        "a: {{ .Values.x.y.z }}\n",
        "\n\n\tname: é {{ include \"h\" . }}\n",
        "{{ if }}\n",
        "a: 1\n{{ fail \"no such plan\" }}",
        "{{ tpl \"a\\n {{ .Values.x.y }}\" . }}",
    ] {
        let error = render(template).unwrap_err();
        writeln!(all, "{error}\n{}", error.excerpt()).unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn no_error_repeats_a_secret() {
    let secret = "(lookup \"v1\" \"Secret\" \"ns\" \"s\").data";
    let mut all = String::new();
    for template in [
        format!("{{{{ fail {secret}.password }}}}"),
        format!("{{{{ fail (b64dec {secret}.password) }}}}"),
        format!("{{{{ fail (printf \"%q\" (b64dec {secret}.password)) }}}}"),
        format!("{{{{ fail (b64dec {secret}.key | trim | upper | lower) }}}}"),
        format!("{{{{ fail (b64dec {secret}.key | splitList \"\\n\" | first) }}}}"),
        "{{ fail (lookup \"v1\" \"Secret\" \"ns\" \"\" | toJson) }}".to_owned(),
        format!(
            "{{{{ b64dec {secret}.password | atoi }}}}{{{{ b64dec {secret}.password | mustToDate \"2006\" }}}}"
        ),
        format!("{{{{ fail (b64dec {secret}.key | trim | b64enc) }}}}"),
        format!("{{{{ fail (b64dec {secret}.password | upper) }}}}"),
        format!("{{{{ fail (b64dec {secret}.password | urlquery) }}}}"),
        format!("{{{{ fail (b64dec {secret}.password | toJson) }}}}"),
        format!(
            "{{{{ $auth := (get (b64dec {secret}.registry | fromJson).auths \"r.example\").auth }}}}{{{{ fail (print $auth \" \" \
             (b64dec $auth) \" \" (b64dec $auth | splitList \":\" | last)) }}}}"
        ),
        format!("{{{{ fail ((urlParse (b64dec {secret}.url)).userinfo | splitList \":\" | last) }}}}"),
        format!("{{{{ fail (b64dec {secret}.env | splitList \"TOKEN=\" | last | trim) }}}}"),
        format!("{{{{ tpl (printf \"%s {{{{ .Values.x.y }}}}\" (b64dec {secret}.password)) . }}}}"),
        "{{ fail (randAlphaNum 20) }}".to_owned(),
        "{{ $x := randAlphaNum 20 }}{{ include $x . }}".to_owned(),
    ] {
        let text = match render(&template) {
            Ok(_) => "no error".to_owned(),
            Err(error) => format!("{error}\n{}", error.excerpt()),
        };
        let known = [PASSWORD, "aHVudGVyIjI=", "hunter", "line one", "line two", "generated-before"];
        for secret in known.into_iter().chain(["HUNTER", "dXNlcjpodW50ZXIzcmQ=", "bGluZSBvbmU"]) {
            assert!(!text.contains(secret), "{template}: {text}");
        }
        writeln!(all, "{template}\n    {}", text.trim_end().replace('\n', "\n    ")).unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_line_of_the_output_is_shown() {
    let mut all = String::new();
    for template in [
        "a: 1\n---\nkind: Service\nspec:\n  ports: [\nb: 2\n",
        "kind: A\nmetadata:\n  name: {{ \"x: y: z\" }}\n",
        "kind: A\n---\n\n\nkind: B\n\tx: 1\n",
        "a: 1\n---\nkind: Secret\nstringData:\n  password: hunter2: hunter2\n",
        "kind: [a]\n",
        "- a\n- b\n",
        "a: &x 1\nb: *y\n",
        "  password: {{ (lookup \"v1\" \"Secret\" \"ns\" \"s\").data.password | b64dec }}: x\n",
    ] {
        let rendered = render(template).unwrap();
        let text = rendered.files[0].text().into_owned();
        let error = manifest::sort([("c/templates/a.yaml", text.as_bytes())], Order::Install).unwrap_err();
        let told = rendered.secrets.hide(&format!("{error}\n{}", error.excerpt()));
        assert!(!told.contains("hunter"), "{told}");
        writeln!(all, "{told}").unwrap();
    }
    insta::assert_snapshot!(all);
}
