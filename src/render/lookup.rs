//! `lookup`: reading the cluster from a template.

use tera::Value;

use super::{
    call::OwnError,
    error::GoError,
    run::{Fault, Run},
};

/// What a template asked the cluster for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LookupRecord {
    /// `v1`, `apps/v1`.
    pub api_version: String,
    /// `Secret`.
    pub kind: String,
    /// The namespace, empty for all, or for what has none.
    pub namespace: String,
    /// The object's name, empty for all.
    pub name: String,
}

/// The cluster, as templates see it.
pub trait Lookup: Send + Sync {
    /// The object, or for an empty name the list of objects as the API server gives it; an empty map when there is none.
    /// Numbers are as encoding/json decodes them: integers `int64` (i128), others float64.
    ///
    /// # Errors
    /// The text that the template's error shall end with. What is not found is no error.
    fn lookup(&self, query: &LookupRecord) -> Result<Value, String>;
}

/// No cluster: whatever is looked up is not there, as for `helm template`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCluster;

impl Lookup for NoCluster {
    fn lookup(&self, _: &LookupRecord) -> Result<Value, String> {
        Ok(Value::from(tera::Map::new()))
    }
}

/// `lookup API_VERSION KIND NAMESPACE NAME`
pub(super) fn lookup(run: &Run, args: &[Value]) -> Result<Value, OwnError> {
    run.must_count().map_err(Fault::Limit)?;
    let text = |at: usize| args.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let query = LookupRecord { api_version: text(0), kind: text(1), namespace: text(2), name: text(3) };
    let answer = run.lookup.lookup(&query).map_err(GoError::new);
    if let Ok(answer) = &answer {
        run.met.looked_up(&query, answer);
    }
    let mut lookups = run.lookups.borrow_mut();
    if !lookups.contains(&query) {
        lookups.push(query);
    }
    Ok(answer?)
}
