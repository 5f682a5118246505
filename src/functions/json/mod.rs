//! JSON as Go's encoding/json reads and writes it, in a template's values.

mod decode;
mod encode;
mod shape;

pub(crate) use decode::{decode, decode_list, decode_map};
pub(crate) use encode::{Style, encode};
#[expect(unused_imports, reason = "for YAML and TOML, which are to come")]
pub(crate) use shape::shape;
