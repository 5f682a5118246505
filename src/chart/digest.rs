//! A chart's identity: a digest over what it holds, however it was packed.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

use super::Content;

/// SHA-256 of a chart's file set, subcharts included, in hexadecimal. It is computed when it is first asked for.
#[derive(Clone)]
pub struct Digest(Arc<Inner>);

struct Inner {
    parts: Parts,
    hex: OnceLock<Box<str>>,
}

/// What a digest is made of. The order in which it comes does not matter.
#[derive(Default)]
pub(super) struct Parts {
    files: Vec<(Arc<str>, Content)>,
    charts: Vec<(Box<str>, Digest)>,
}

impl Parts {
    pub(super) fn file(&mut self, name: &Arc<str>, data: &Content) {
        self.files.push((Arc::clone(name), data.clone()));
    }

    pub(super) fn chart(&mut self, name: &str, digest: &Digest) {
        self.charts.push((name.into(), digest.clone()));
    }

    pub(super) fn finish(self) -> Digest {
        Digest(Arc::new(Inner { parts: self, hex: OnceLock::new() }))
    }

    fn hex(&self) -> Box<str> {
        let files = self.files.iter().map(|(name, data)| (format!("file {name}"), Sha256::digest(&**data)));
        let charts = self.charts.iter();
        let charts =
            charts.map(|(name, digest)| (format!("chart {name}"), Sha256::digest(digest.as_bytes())));
        let mut parts: Vec<_> = files.chain(charts).collect();
        parts.sort();
        let mut hash = Sha256::new();
        for (name, digest) in parts {
            // The length keeps two names from running into each other.
            hash.update((name.len() as u64).to_be_bytes());
            hash.update(name.as_bytes());
            hash.update(digest);
        }
        data_encoding::HEXLOWER.encode(&hash.finalize()).into()
    }
}

impl Deref for Digest {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.hex.get_or_init(|| self.0.parts.hex())
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Digest {}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
