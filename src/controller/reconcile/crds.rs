//! The CRDs of a chart's `crds/`: there, and served, before anything is rendered, since charts ask what is served.

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    Outcome, Work,
    report::now,
    status::{self, Problem},
};
use crate::{
    api::{Gvk, definition::CrdPolicy},
    release::{
        failure::Failure,
        inventory::{GroupKind, ObjectKey},
        object::Rendered,
    },
};

/// What `crds/` holds.
const CRD: &str = "CustomResourceDefinition.apiextensions.k8s.io";
/// How soon it is looked again for kinds that no watch tells of: of APIs that are no CRDs, and where CRDs cannot be watched.
const WATCHED: Duration = Duration::from_secs(60);
/// See [`WATCHED`].
const NOT_WATCHED: Duration = Duration::from_secs(5);

impl Work<'_> {
    /// Step 3, its beginning: the CRDs of `crds/`, by the definition's policy. They belong to nobody: all instances share
    /// them, and so do their users; nothing deletes them. Some outcome: not all are served yet.
    pub(super) async fn crds_first(&self) -> Result<Option<Outcome>, Problem> {
        let crds = self.served.renderer.crds();
        let policy = self.served.definition.spec.crds;
        if crds.is_empty() || policy == CrdPolicy::Skip {
            return Ok(None);
        }
        let is_served = |crd: &&Rendered| self.is_served(&crd.object);
        let all_served = crds.iter().all(|crd| is_served(&crd));
        // What is served is there; only a replacement looks at it nevertheless, once for each loaded chart.
        if all_served && (policy == CrdPolicy::Create || self.served.crds.load(Relaxed)) {
            return Ok(None);
        }
        let (kind, _, _) = self
            .cluster()
            .resource(&GroupKind::parse(CRD))
            .ok_or_else(|| Problem::of_failure("CrdFailed", &Failure::NotServed(CRD.into())))?;
        let mut waiting = Vec::new();
        for crd in crds {
            let name = crd.object["metadata"]["name"].as_str().unwrap_or_default();
            let key = ObjectKey { kind: kind.clone(), namespace: Box::default(), name: name.into() };
            let fail = |failure: Failure| self.problem("CrdFailed", &key, &failure);
            let replace = policy == CrdPolicy::CreateReplace && !self.served.crds.load(Relaxed);
            if !replace && self.is_served(&crd.object) {
                continue;
            }
            match self.cluster().object(&key).await.map_err(fail)? {
                Some(live) if !replace => waiting.push(why_not_served(name, &live)),
                live => {
                    self.cluster().apply_shared(&key, &crd.object, live.is_some()).await.map_err(fail)?;
                    tracing::info!(crd = name, replaced = live.is_some(), "applied");
                    waiting.push(why_not_served(name, &Value::Null));
                }
            }
        }
        self.served.crds.store(true, Relaxed);
        if !crds.iter().all(|crd| is_served(&crd)) {
            // Perhaps they are by now.
            let asked = self.cluster().rediscover(self.cluster().epoch()).await;
            asked.map_err(|f| Problem::of_failure("DiscoveryFailed", &f))?;
        }
        if crds.iter().all(|crd| is_served(&crd)) {
            return Ok(None);
        }
        let until = self.await_kinds();
        let latest = self.latest();
        let seen = self.seen(&self.memory.expected);
        let status =
            status::waiting(&latest.status, self.cr.generation(), &waiting.join("; "), &seen, &now());
        self.write(status).await?;
        Ok(Some(Outcome::Waiting(Some(until))))
    }

    /// Sees to it that the instance is looked at when the cluster comes to serve more kinds. When to look if nothing tells of
    /// it.
    pub(super) fn await_kinds(&self) -> Instant {
        if let Some(memory) = self.operator.world().memory(self.id) {
            memory.awaits_kinds = true;
        }
        let watched = self.operator.watch_kinds();
        Instant::now() + if watched { WATCHED } else { NOT_WATCHED }
    }

    /// Whether every version that a CRD wants served is. What is no CRD of the present API is left to the API server.
    fn is_served(&self, crd: &Value) -> bool {
        let spec = &crd["spec"];
        let (Some(group), Some(kind), Some(versions)) =
            (spec["group"].as_str(), spec["names"]["kind"].as_str(), spec["versions"].as_array())
        else {
            return true;
        };
        versions.iter().filter(|v| v["served"] == true).filter_map(|v| v["name"].as_str()).all(|version| {
            let gvk = Gvk { group: group.into(), version: version.into(), kind: kind.into() };
            self.cluster().served(&gvk).is_some()
        })
    }
}

/// Why the kind of a CRD is not served, in the words of its conditions.
fn why_not_served(name: &str, live: &Value) -> String {
    let refused = live["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["type"] == "NamesAccepted" && c["status"] == "False");
    let deleting = live["metadata"]["deletionTimestamp"].is_string();
    match refused.and_then(|c| c["message"].as_str()) {
        Some(message) => format!("the CustomResourceDefinition {name} is not established: {message}"),
        None if deleting => format!("the CustomResourceDefinition {name} is being deleted"),
        None => format!("waiting for the CustomResourceDefinition {name} to be established"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_crd_says_why() {
        let taken = json!({"status": {"conditions": [
            {"type": "NamesAccepted", "status": "False", "reason": "ListKindConflict", "message": "\"ThingList\" is already in use"}]}});
        insta::assert_snapshot!(
            [why_not_served("things.x", &taken), why_not_served("things.x", &json!({}))].join("\n"),
            @r#"
        the CustomResourceDefinition things.x is not established: "ThingList" is already in use
        waiting for the CustomResourceDefinition things.x to be established
        "#
        );
    }
}
