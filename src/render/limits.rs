//! What a render may use. Charts come nowhere near; a template that grows without end gets a clear error.

use std::time::Duration;

/// The bounds of one render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep `include`, `template` and `tpl` may nest, whatever their names. (Helm itself refuses the 1,002nd nested
    /// inclusion of one name.)
    pub depth: usize,
    /// Bytes that all templates together may write, the result of each `include` counted where it is made.
    pub output_bytes: u64,
    /// Bytes of the longest text that a function may make.
    pub text_bytes: usize,
    /// Bytes of long texts and lists that all functions together may make.
    pub made_bytes: u64,
    /// How long it may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 4_000,
            output_bytes: 1 << 30,
            text_bytes: 64 << 20,
            made_bytes: 4 << 30,
            time: Duration::from_secs(60),
        }
    }
}
