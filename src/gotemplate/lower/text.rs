//! Constant text of a template: what stands between actions, and actions that print a constant.

use crate::gotemplate::ast::{Action, Operand};

use super::{Constant, operand::is_float};

/// Text up to this length is written into the lowered source. Longer text is cheaper as a constant: Tera reads its source
/// character by character, and a constant is not read at all.
const INLINE: usize = 64;

/// Text that is collected until something else has to be written.
#[derive(Debug, Default)]
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The text, if it can and should stand in Tera source as it is.
    pub(super) fn inline(&self) -> Option<&str> {
        let bytes = &self.bytes;
        if bytes.len() > INLINE || bytes.last() == Some(&b'{') {
            return None;
        }
        let opens = |at: usize| matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#'));
        if memchr::memchr_iter(b'{', bytes).any(opens) {
            return None;
        }
        std::str::from_utf8(bytes).ok()
    }

    pub(super) fn into_constant(self) -> Constant {
        Constant::Text(self.bytes.into_boxed_slice())
    }
}

/// What an action prints, if that is a constant.
pub(super) fn constant_of(action: &Action<'_>, into: &mut Text) -> bool {
    let ([command], []) = (action.pipe.cmds, action.pipe.decl) else { return false };
    let [operand] = command.args else { return false };
    match operand {
        Operand::String(literal) => into.push(literal.text),
        Operand::Bool(literal) => into.push(if literal.value { b"true" } else { b"false" }),
        Operand::Number(number) if number.complex.is_none() && !is_float(number.text, number.is_char) => {
            let Some(int) = number.int else { return false };
            into.push(int.to_string().as_bytes());
        }
        _ => return false,
    }
    true
}
