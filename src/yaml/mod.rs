//! Parsing and printing YAML as Go's sigs.k8s.io/yaml does.
//!
//! Charts, values and manifests are written against one reader: go-yaml v2 as sigs.k8s.io/yaml wraps it. It follows
//! YAML 1.1 with gaps and additions of its own, turns every document into JSON, and reads that. No other library gives
//! the same values, the same refusals and the same words, so this module is a reader and a writer of its own, made to
//! equal it: `yes` is a boolean, `0777` an octal number, `<<` merges, a key `on` becomes `"true"`, only the first
//! document of a text is read.
//!
//! | to read | use |
//! |---|---|
//! | values as templates see them (all numbers float64) | [`parse`], [`parse_with`] |
//! | a manifest, integers kept exact | [`parse_json`] |
//! | a file with a known structure, such as Chart.yaml | [`parse_shaped`] |
//! | each document of a values file | [`documents`] |
//! | what a values file says of its keys | [`comments()`] |
//!
//! Where it differs on purpose: nesting is limited to 1,000 levels instead of 10,000, and where two keys of a mapping
//! become the same string (`1` and `"1"`), the last one wins; in Go that is up to chance.

mod comments;
mod decode;
mod documents;
mod error;
mod govalue;
pub mod json;
pub mod number;
mod parser;
mod print;
mod reader;
mod resolve;
mod scanner;
mod shape;
mod sinks;
mod tree;

pub use comments::{Comment, Comments, comments};
pub use documents::{Documents, documents};
pub use error::Error;
pub use shape::Shape;

use decode::{Decoder, Sink};
use govalue::GoSink;
use tera::Value;

/// How integers come out of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integers {
    /// As `F64`, like every number: what encoding/json does when it knows no type.
    #[default]
    Float,
    /// As `I128`, which stands for Go's int64, if they fit: what Kubernetes does with objects. A float64 without a
    /// fraction is an integer too, since JSON does not tell them apart.
    Int64,
}

/// The Go type that a document is read into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// `interface{}`: anything.
    #[default]
    Any,
    /// `map[string]interface{}`: a mapping. Nothing at all is an empty one.
    Map,
    /// `[]interface{}`: a sequence. Nothing at all is an empty one.
    List,
}

/// How to read a document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// How integers come out.
    pub integers: Integers,
    /// What the document must be.
    pub target: Target,
    /// Whether a key that is set twice is an error, as with `UnmarshalStrict`, instead of set over.
    pub strict: bool,
}

/// Reads the first document of a text, as `yaml.Unmarshal` into an `interface{}` does; numbers are `F64`. A text without
/// a document is none.
///
/// # Errors
/// What sigs.k8s.io/yaml says.
pub fn parse(text: &str) -> Result<Value, Error> {
    parse_with(text.as_bytes(), &Options::default())
}

/// Reads the first document of a text in UTF-8, or in UTF-16 with a byte order mark.
///
/// # Errors
/// What sigs.k8s.io/yaml says: `error converting YAML to JSON: yaml: …` for what is wrong in the document,
/// `error unmarshaling JSON: while decoding JSON: json: …` if it is not what [`Options::target`] asks for.
pub fn parse_with(bytes: &[u8], options: &Options) -> Result<Value, Error> {
    let value = read(bytes, options.strict, &Shape::Any, &mut sinks::Tera::new(options.integers))?;
    let wanted = match options.target {
        // Go leaves what it reads into as it was: empty.
        Target::Map if value.is_none() => return Ok(Value::from(tera::Map::new())),
        Target::List if value.is_none() => return Ok(Value::from(Vec::<Value>::new())),
        Target::Map if !value.is_map() => "map[string]interface {}",
        Target::List if !value.is_array() => "[]interface {}",
        _ => return Ok(value),
    };
    let found = match value.kind() {
        tera::value::ValueKind::Bool => "bool",
        tera::value::ValueKind::String => "string",
        tera::value::ValueKind::Array => "array",
        tera::value::ValueKind::Map => "object",
        _ => "number",
    };
    let text = format!("json: cannot unmarshal {found} into Go value of type {wanted}");
    Err(Error::new(text).within("while decoding JSON").within("error unmarshaling JSON"))
}

/// Reads the first document of a text into JSON, integers of up to 64 bits kept exact, as `yaml.YAMLToJSON` does.
///
/// # Errors
/// What sigs.k8s.io/yaml says when it unmarshals the text.
pub fn parse_json(text: &str) -> Result<serde_json::Value, Error> {
    parse_shaped(text.as_bytes(), &Shape::Any, false)
}

/// The same, but of the mapping at the top only the entries whose keys are `wanted` have values; the others are null. What
/// is wrong in them is an error all the same.
///
/// # Errors
/// As for [`parse_json`].
pub fn parse_json_part(text: &str, wanted: &dyn Fn(&str) -> bool) -> Result<serde_json::Value, Error> {
    read_part(text.as_bytes(), false, &Shape::Any, &mut sinks::Json::default(), Some(wanted))
}

/// Reads the first document of a text into JSON that suits a Go type: where the shape has text, numbers and booleans
/// become strings. With `strict`, a key that is set twice is an error.
///
/// # Errors
/// What sigs.k8s.io/yaml says before it gives the JSON to encoding/json; whether the JSON has the shape is not checked.
pub fn parse_shaped(bytes: &[u8], shape: &Shape, strict: bool) -> Result<serde_json::Value, Error> {
    read(bytes, strict, shape, &mut sinks::Json::default())
}

/// A sink that notices what it cannot hold.
trait Checked: Sink {
    /// Whether there was a key that is not a string in JSON, or a number that JSON cannot hold.
    fn is_odd(&self) -> bool;
}

fn read<S: Checked>(bytes: &[u8], strict: bool, shape: &Shape, sink: &mut S) -> Result<S::Value, Error> {
    read_part(bytes, strict, shape, sink, None)
}

fn read_part<S: Checked>(
    bytes: &[u8],
    strict: bool,
    shape: &Shape,
    sink: &mut S,
    wanted: Option<&dyn Fn(&str) -> bool>,
) -> Result<S::Value, Error> {
    let convert = |error: Error| error.within("error converting YAML to JSON");
    let source = reader::read(bytes);
    let tree = tree::Tree::read(parser::Parser::new(&source)).map_err(|problem| convert(problem.into()))?;
    if matches!(shape, Shape::Any) {
        let value = Decoder::new(&tree, sink, strict)
            .only(wanted)
            .document()
            .map_err(|problem| convert(problem.into()))?;
        if !sink.is_odd() {
            return Ok(value);
        }
    }
    let value =
        Decoder::new(&tree, &mut GoSink, strict).document().map_err(|problem| convert(problem.into()))?;
    let value = value.into_json(shape).map_err(|text| convert(Error::new(text)))?;
    if let Some(number) = value.non_finite() {
        let text = format!("json: unsupported value: {}", number::go_format_float(number));
        return Err(convert(Error::new(text)));
    }
    Ok(value.build(sink))
}

/// Reads JSON as go-yaml does, for a value whose numbers keep their types.
fn read_json(text: &str) -> Result<Value, Error> {
    let source = reader::read(text.as_bytes());
    let tree = tree::Tree::read(parser::Parser::new(&source))?;
    Ok(Decoder::new(&tree, &mut sinks::Tera::typed(), false).document()?)
}

/// A value as `yaml.Marshal` of sigs.k8s.io/yaml writes it, which is what `toYaml` does, up to the line feed at the end:
/// keys in natural order, lists not indented inside of maps, plain text folded past column 80, quotes where another
/// reader could see something else than a string.
///
/// Entries of maps whose keys are not strings are left out; what stands for a Go object must have been turned into plain
/// values before.
///
/// # Errors
/// What sigs.k8s.io/yaml says: a number that JSON cannot hold, a string with control characters. `toYaml` writes nothing
/// then.
pub fn to_string(value: &Value) -> Result<String, Error> {
    let mut out = String::with_capacity(256);
    write(&mut out, value)?;
    Ok(out)
}

/// Appends a value as [`to_string`] writes it.
///
/// # Errors
/// As for [`to_string`]; nothing is appended then.
pub fn write(out: &mut String, value: &Value) -> Result<(), Error> {
    print::write(out, value)
}

/// A value as go-yaml v3 writes it with an indentation of two, which is what `toYamlPretty` does, up to the line feed at
/// the end: lists indented inside of maps, no folding, float64 numbers as floats (`1e+06`).
///
/// # Errors
/// When the value is nested more than 10,000 levels deep.
pub fn to_string_pretty(value: &Value) -> Result<String, Error> {
    let mut out = String::with_capacity(256);
    print::write_pretty(&mut out, value)?;
    Ok(out)
}

#[cfg(test)]
mod tests;
