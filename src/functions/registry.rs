//! The one list of functions.

use std::sync::LazyLock;

use super::{
    Function, certificates, comparison, crypto, data, dates, dicts, encoding, flow, lists, math, paths,
    printing, random, reflection, regex, semver, strings, urls,
};

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let mut all: Vec<Function> = [
        certificates::FUNCTIONS,
        comparison::FUNCTIONS,
        crypto::FUNCTIONS,
        data::FUNCTIONS,
        dates::FUNCTIONS,
        dicts::FUNCTIONS,
        encoding::FUNCTIONS,
        flow::FUNCTIONS,
        lists::FUNCTIONS,
        math::FUNCTIONS,
        paths::FUNCTIONS,
        printing::FUNCTIONS,
        random::FUNCTIONS,
        reflection::FUNCTIONS,
        regex::FUNCTIONS,
        semver::FUNCTIONS,
        strings::FUNCTIONS,
        urls::FUNCTIONS,
    ]
    .concat();
    all.sort_unstable_by_key(|function| function.name);
    all
});

/// Every function, by name.
#[must_use]
pub fn all() -> &'static [Function] {
    &FUNCTIONS
}

/// How many places [`PLACES`] has: a power of two, and several times the number of functions.
const SLOTS: usize = 1024;

/// Where each function is in the list, one more than its number, at the place of its name's hash or the next free one.
static PLACES: LazyLock<[u16; SLOTS]> = LazyLock::new(|| {
    let mut places = [0; SLOTS];
    for (number, function) in (1..).zip(all()) {
        let mut at = slot(function.name);
        while places[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        places[at] = number;
    }
    places
});

/// FNV-1a of a name.
fn slot(name: &str) -> usize {
    let hash =
        name.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as usize % SLOTS
}

/// The function of this name. Templates are looked through for every name that they call, so it has to be quick.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    let (all, places) = (all(), &*PLACES);
    let mut at = slot(name);
    loop {
        let function = &all[usize::from(places[at]).checked_sub(1)?];
        if function.name == name {
            return Some(function);
        }
        at = (at + 1) % SLOTS;
    }
}
