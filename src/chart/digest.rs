//! A chart's identity: a digest over what it holds, however it was packed.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// Gathers the parts of a chart. The order in which they come does not matter.
#[derive(Default)]
pub(super) struct Digest(Vec<(String, [u8; 32])>);

impl Digest {
    pub(super) fn file(&mut self, name: &str, data: &[u8]) {
        self.0.push((format!("file {name}"), Sha256::digest(data).into()));
    }

    pub(super) fn chart(&mut self, name: &str, digest: &str) {
        self.0.push((format!("chart {name}"), Sha256::digest(digest.as_bytes()).into()));
    }

    /// The digest in hexadecimal.
    pub(super) fn finish(mut self) -> Arc<str> {
        self.0.sort();
        let mut hash = Sha256::new();
        for (name, digest) in self.0 {
            // The length keeps two names from running into each other.
            hash.update((name.len() as u64).to_be_bytes());
            hash.update(name.as_bytes());
            hash.update(digest);
        }
        data_encoding::HEXLOWER.encode(&hash.finalize()).into()
    }
}
