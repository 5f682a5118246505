//! The shape of the Go type that a document is read into.

/// What a Go type says of a value, as far as reading depends on it.
///
/// sigs.k8s.io/yaml knows the type that it reads into. Where that is `string` and the document has a number or a
/// boolean, it makes a string of it: `appVersion: 1.10` in a Chart.yaml becomes `"1.1"`.
#[derive(Debug)]
pub enum Shape {
    /// `interface{}`, a number, a boolean, or a type that reads itself.
    Any,
    /// `string`.
    Text,
    /// A slice of the inner shape.
    List(&'static Shape),
    /// A map with values of the inner shape.
    Map(&'static Shape),
    /// A struct: the names of its fields in JSON, and their shapes. Names match in any case, as in encoding/json.
    Struct(&'static [(&'static str, Shape)]),
}

impl Shape {
    /// The shape of an entry of a map.
    pub(super) fn field(&self, name: &str) -> &Self {
        match self {
            Self::Map(inner) => inner,
            Self::Struct(fields) => {
                let exact = fields.iter().find(|(known, _)| *known == name);
                let folded = || fields.iter().find(|(known, _)| same_folded(known, name));
                exact.or_else(folded).map_or(&Self::Any, |(_, shape)| shape)
            }
            Self::Any | Self::Text | Self::List(_) => &Self::Any,
        }
    }

    /// The shape of an item of a list.
    pub(super) fn item(&self) -> &Self {
        match self {
            Self::List(inner) => inner,
            _ => &Self::Any,
        }
    }
}

/// Whether two names of fields are equal but for the case of their letters. U+017F and U+212A are letters of a case that
/// encoding/json knows, too.
fn same_folded(known: &str, name: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    known.chars().map(fold).eq(name.chars().map(fold))
}
