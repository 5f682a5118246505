//! The Go types that parameters of functions have.

/// The Go type of a parameter. The renderer asks it whether an argument may be passed, and names it in its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// `interface {}`: anything, nil included.
    Any,
    /// `reflect.Value`: anything, nil included. Go's own functions take it.
    Reflect,
    /// `string`
    String,
    /// `int`
    Int,
    /// `uint32`, which only a constant can be passed for
    Uint32,
    /// `float64`
    Float64,
    /// `bool`
    Bool,
    /// `map[string]interface {}`
    Map,
    /// `[]interface {}`
    List,
    /// `time.Time`
    Time,
    /// `sprig.certificate`, what `genCA` and its kin answer
    Certificate,
}

impl Param {
    /// The name of the type as Go's errors have it.
    #[must_use]
    pub const fn go_type(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Reflect => "reflect.Value",
            Self::String => "string",
            Self::Int => "int",
            Self::Uint32 => "uint32",
            Self::Float64 => "float64",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Time => "time.Time",
            Self::Certificate => "sprig.certificate",
        }
    }

    /// The type of a name that [`Param::go_type`] gives.
    #[must_use]
    pub fn named(go_type: &str) -> Self {
        const NAMED: [Param; 10] = [
            Param::Reflect,
            Param::String,
            Param::Int,
            Param::Uint32,
            Param::Float64,
            Param::Bool,
            Param::Map,
            Param::List,
            Param::Time,
            Param::Certificate,
        ];
        NAMED.into_iter().find(|param| param.go_type() == go_type).unwrap_or(Self::Any)
    }

    /// Whether `nil` may be passed (Go's `canBeNil`).
    #[must_use]
    pub const fn can_be_nil(self) -> bool {
        matches!(self, Self::Any | Self::Reflect | Self::Map | Self::List)
    }

    /// Whether a value of this Go type (as `%T` prints it) may be passed.
    ///
    /// Only assignability counts: Go's text/template converts nothing, so that an `int64` is no `int`.
    #[must_use]
    pub fn accepts(self, go_type: &str) -> bool {
        matches!(self, Self::Any | Self::Reflect) || go_type == self.go_type()
    }
}
