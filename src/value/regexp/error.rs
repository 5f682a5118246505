//! What can be wrong with a regular expression, in the words of Go's regexp/syntax.

use super::super::quote;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    InvalidCharRange,
    InvalidEscape,
    InvalidNamedCapture,
    InvalidPerlOp,
    InvalidRepeatOp,
    InvalidRepeatSize,
    InvalidUtf8,
    MissingBracket,
    MissingParen,
    MissingRepeatArgument,
    TrailingBackslash,
    UnexpectedParen,
    NestingDepth,
    Large,
}

impl Code {
    const fn words(self) -> &'static str {
        match self {
            Self::InvalidCharRange => "invalid character class range",
            Self::InvalidEscape => "invalid escape sequence",
            Self::InvalidNamedCapture => "invalid named capture",
            Self::InvalidPerlOp => "invalid or unsupported Perl syntax",
            Self::InvalidRepeatOp => "invalid nested repetition operator",
            Self::InvalidRepeatSize => "invalid repeat count",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParen => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParen => "unexpected )",
            Self::NestingDepth => "expression nests too deeply",
            Self::Large => "expression too large",
        }
    }

    /// The error, with the part of the expression that it is about.
    pub(crate) fn of(self, part: &str) -> Error {
        Error { text: format!("error parsing regexp: {}: `{part}`", self.words()) }
    }
}

/// Why an expression is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// The text of Go's error.
    pub(crate) text: String,
}

impl Error {
    /// The text of the panic of `regexp.MustCompile`.
    pub(crate) fn of_must_compile(&self, expression: &[u8]) -> String {
        let quoted = if can_backquote(expression) {
            format!("`{}`", String::from_utf8_lossy(expression))
        } else {
            quote::quote(expression)
        };
        format!("regexp: Compile({quoted}): {}", self.text)
    }
}

/// Go's `strconv.CanBackquote`: UTF-8 without control characters (but the tab), backquotes and byte order marks.
fn can_backquote(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| {
        text.chars().all(|c| !matches!(c, '\u{FEFF}' | '`' | '\u{7F}') && (c >= ' ' || c == '\t'))
    })
}
