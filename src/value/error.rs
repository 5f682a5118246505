//! The errors of Go's operations on values, in Go's words.

/// Why an operation on values failed. The text is what Go prints for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `eq`, `lt` and their kin on two kinds that Go does not compare.
    #[error("incompatible types for comparison: {0} and {1}")]
    Incompatible(String, String),
    /// `lt` and its kin on something that has no order.
    #[error("invalid type for comparison")]
    Unordered,
    /// `eq` with a single argument.
    #[error("missing argument for comparison")]
    MissingArgument,
    /// `eq` on maps, slices and what else Go cannot compare: the second value, then its type.
    #[error("non-comparable type {0}: {1}")]
    NotComparable(String, String),
    /// `eq` on two kinds of composite values: first value, its type, the second's type, second value.
    #[error("non-comparable types {0}: {1}, {2}: {3}")]
    NotComparablePair(String, String, String, String),
    /// A field of nil: the type that holds the nil, and the field.
    #[error("nil pointer evaluating {0}.{1}")]
    NilPointer(String, String),
    /// A field of something that has no fields: the field, and the type.
    #[error("can't evaluate field {0} in type {1}")]
    NoField(String, String),
    /// A field of a struct that Go does not let a template see.
    #[error("{0} is an unexported field of struct type {1}")]
    Unexported(String, String),
    /// A map that contains itself; encoding/json's words.
    #[error("json: unsupported value: encountered a cycle via map[string]interface {{}}")]
    Cycle,
    /// A number that JSON does not have; encoding/json's words.
    #[error("json: unsupported value: {0}")]
    UnsupportedNumber(String),
    /// A value of a type that JSON does not have; encoding/json's words.
    #[error("json: unsupported type: {0}")]
    UnsupportedType(&'static str),
    /// A method that encodes failed: the method, the type, and why; encoding/json's words.
    #[error("json: error calling {0} for type {1}: {2}")]
    Marshaler(String, String, String),
    /// A change of something that is not a map: what was wanted, and what came.
    #[error("wrong type for value; expected {0}; got {1}")]
    WrongType(String, String),
    /// A value that nests deeper than [`super::MAX_DEPTH`].
    #[error("the value is nested deeper than {0} levels")]
    TooDeep(usize),
    /// An entry set in a nil map.
    #[error("assignment to entry in nil map")]
    NilMap,
    /// Changes of maps that take more memory than a render may: the limit, in bytes.
    #[error("the templates change more than {0} bytes of maps")]
    TooMuch(usize),
    /// A text that would exceed the limit of the scope, in bytes.
    #[error("the text is longer than {0} bytes")]
    TooLong(usize),
}
