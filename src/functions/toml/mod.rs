//! TOML as Helm 4 reads and writes it, with the forms and errors of BurntSushi's library.
//!
//! Without `must`, what cannot be written is the text of the reason, and what cannot be read is a map under whose key
//! `Error` the reason stands.

mod key;
mod number;
mod read;
mod scan;
mod tables;
mod write;

use tera::{Map, Value, value::Key};

use super::{Call, Error, Outcome};
use crate::value::typed;

pub(super) fn must_to_toml(call: &Call<'_>) -> Outcome {
    write::document(call.scope, call.arg(0)).map(typed::text)
}

pub(super) fn to_toml(call: &Call<'_>) -> Outcome {
    match must_to_toml(call) {
        // Go's library finds nothing to look at, which Helm does not expect.
        Err(Error::Call(text)) if !call.arg(0).is_none() => Ok(Value::from(text)),
        outcome => outcome,
    }
}

pub(super) fn from_toml(call: &Call<'_>) -> Outcome {
    match read::document(call) {
        Err(Error::Call(text)) => {
            Ok(Value::from([(Key::Str("Error"), Value::from(text))].into_iter().collect::<Map>()))
        }
        outcome => outcome,
    }
}
