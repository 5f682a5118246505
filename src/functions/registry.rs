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

/// The function of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    let all = all();
    all.binary_search_by(|function| function.name.cmp(name)).ok().map(|at| &all[at])
}
