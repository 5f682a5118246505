//! What a manifest says of itself, as far as Helm reads it.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use crate::chart::Decoder;
use crate::yaml::{self, Shape};

/// The fields of a manifest that say what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `apiVersion`, or nothing.
    pub api_version: String,
    /// `kind`, or nothing.
    pub kind: String,
    /// `metadata.name`, or nothing.
    pub name: String,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
}

/// The Go type of `metadata` in Helm's own struct, which its errors show.
const METADATA: &str =
    r#"struct { Name string "json:\"name\""; Annotations map[string]string "json:\"annotations\"" }"#;

const FIELDS: &[(&str, Shape)] = &[("name", Shape::Text), ("annotations", Shape::Map(&Shape::Text))];
static METADATA_SHAPE: Shape = Shape::Struct(FIELDS);
static HEAD: Shape =
    Shape::Struct(&[("apiVersion", Shape::Text), ("kind", Shape::Text), ("metadata", Shape::Struct(FIELDS))]);

impl Head {
    /// Reads a document and its head. The error is that of Helm's YAML library.
    pub(super) fn parse(document: &str) -> Result<(Self, Value), String> {
        // Helm's reader gives the last line its end: a block of text has it. Errors count lines without it.
        let whole = match document.ends_with('\n') {
            true => Cow::Borrowed(document),
            false => Cow::Owned(format!("{document}\n")),
        };
        let object = yaml::parse_json(&whole).or_else(|_| yaml::parse_json(document));
        Self::of(document, object.map_err(|e| e.to_string())?)
    }

    /// Reads a document as [`Head::parse`] does, and refuses the same, but keeps of it what the head is read from.
    pub(super) fn parse_alone(document: &str) -> Result<(Self, Value), String> {
        // encoding/json takes names of fields in any case, and letters beyond ASCII for some of their letters.
        let wanted = |key: &str| {
            !key.is_ascii() || ["apiVersion", "kind", "metadata"].iter().any(|f| key.eq_ignore_ascii_case(f))
        };
        let object = yaml::parse_json_part(document, &wanted).map_err(|e| e.to_string())?;
        Self::of(document, object)
    }

    fn of(document: &str, object: Value) -> Result<(Self, Value), String> {
        let text = |e: yaml::Error| e.to_string();
        let mut head = Self::default();
        if Decoder::read(&object, |decoder, document| head.decode(decoder, document)).is_err() {
            // A number or a boolean may stand for a string here; how it is written is lost in the object.
            let shaped = yaml::parse_shaped(document.as_bytes(), &HEAD, false).map_err(text)?;
            head = Self::default();
            Decoder::read(&shaped, |decoder, document| head.decode(decoder, document))?;
        }
        Ok((head, object))
    }

    fn decode(&mut self, decoder: &mut Decoder, document: &Value) {
        decoder.fields(document, "util.SimpleHead", &HEAD, |d, field, value| match field {
            "apiVersion" => d.string(value, &mut self.api_version),
            "kind" => d.string(value, &mut self.kind),
            _ => {
                let mut annotations = Some(std::mem::take(&mut self.annotations));
                d.fields(value, METADATA, &METADATA_SHAPE, |d, field, value| match field {
                    "name" => d.string(value, &mut self.name),
                    _ => d.string_map(value, &mut annotations),
                });
                self.annotations = annotations.unwrap_or_default();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_booleans_of_annotations_are_text() {
        let (head, _) =
            Head::parse("metadata: {name: 12, annotations: {a: 1.50, b: true, c: null}}\nKIND: Pod\n")
                .unwrap();
        assert_eq!(head.name, "12");
        assert_eq!(head.kind, "Pod");
        let annotations: Vec<_> = head.annotations.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(annotations, ["a=1.5", "b=true", "c="]);
    }

    #[test]
    fn errors_count_no_line_that_is_not_there() {
        for (document, line) in [("kind: Pod\ntext\n ---", 3), ("kind: Pod\ntext\n ---\n", 4)] {
            let error = Head::parse(document).unwrap_err();
            let expected =
                format!("error converting YAML to JSON: yaml: line {line}: could not find expected ':'");
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn what_is_no_object_is_refused_in_go_s_words() {
        for (document, expected) in [
            ("[]", "json: cannot unmarshal array into Go value of type util.SimpleHead"),
            ("text", "json: cannot unmarshal string into Go value of type util.SimpleHead"),
            ("kind: []", "json: cannot unmarshal array into Go struct field SimpleHead.kind of type string"),
            (
                "metadata: {annotations: {a: {}}}",
                "json: cannot unmarshal object into Go struct field .metadata.annotations of type string",
            ),
            (
                "metadata: 1",
                "json: cannot unmarshal number into Go struct field SimpleHead.metadata of type struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }",
            ),
        ] {
            let error = Head::parse(document).unwrap_err();
            assert_eq!(error, format!("error unmarshaling JSON: while decoding JSON: {expected}"));
        }
    }
}
