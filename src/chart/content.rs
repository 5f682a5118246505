//! The bytes of a file.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use tera::Value;

/// The bytes of a file, held once by the chart, its templates and their `.Files`: a clone shares them.
#[derive(Clone)]
pub struct Content(Value);

impl Content {
    /// The same bytes as a value of templates.
    #[must_use]
    pub fn value(&self) -> Value {
        self.0.clone()
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Value::bytes(bytes))
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_bytes().unwrap_or_default()
    }
}

impl Borrow<[u8]> for Content {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Content {}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}
