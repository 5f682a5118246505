//! The schema of [`super::super::status::Status`].

use serde_json::{Value, json};

pub(super) fn schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let whole = |about: &str| json!({ "type": "integer", "description": about });
    let time = |about: &str| json!({ "type": "string", "format": "date-time", "description": about });
    json!({
        "type": "object",
        "description": "What the operator observed.",
        // What another operator wrote before is left to be read.
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "observedGeneration": { "type": "integer", "format": "int64", "description": "The generation of the spec that the status is about." },
            "conditions": {
                "type": "array",
                "description": "Ready, Reconciling and Stalled as kstatus defines them; Initialized, Deployed, ReleaseFailed and Irreconcilable as operator-sdk does.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {
                    "type": "object",
                    "required": ["type", "status"],
                    "properties": {
                        "type": text("The condition."),
                        "status": { "type": "string", "enum": ["True", "False", "Unknown"], "description": "Whether it holds." },
                        "reason": text("Why, in a word."),
                        "message": text("Why, for a person."),
                        "lastTransitionTime": time("When the status last changed."),
                        "observedGeneration": { "type": "integer", "format": "int64", "description": "The generation that it is about." },
                    },
                },
            },
            "release": {
                "type": "object",
                "description": "What is deployed.",
                "properties": {
                    "name": text("The name of the release."),
                    "revision": whole("Counts changes of values or chart, from 1."),
                    "chart": {
                        "type": "object",
                        "description": "The chart.",
                        "properties": {
                            "name": text("Its name."),
                            "version": text("Its version."),
                            "appVersion": text("The version of the application in it."),
                            "digest": text("Digest of its files."),
                            "label": text("Its name and version."),
                        },
                    },
                    "inputDigest": text("Digest of what begins a new revision."),
                    "valuesDigest": text("Digest of the values given."),
                    "manifestDigest": text("Digest of what was rendered."),
                    "membersDigest": text("Digest of the objects after the last apply."),
                    "firstDeployed": time("When the first revision was applied."),
                    "lastDeployed": time("When this revision was applied."),
                    "notes": text("The chart's notes."),
                    "history": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "What earlier revisions were made of, the latest first.",
                    },
                },
            },
            "deployedRelease": {
                "type": "object",
                "description": "What operator-sdk says of what is deployed.",
                // What it wrote before is pruned at the next write: the manifest has Secrets in it.
                "properties": { "name": text("The name of the release.") },
            },
            "resources": {
                "type": "object",
                "description": "The release's objects.",
                "properties": {
                    "total": whole("How many there are."),
                    "ready": whole("How many are ready."),
                    "notReady": {
                        "type": "array",
                        "description": "The first of the others.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "kind": text("Kind and group."),
                                "namespace": text("Namespace; none for what is cluster-scoped."),
                                "name": text("Name."),
                                "status": text("InProgress, Failed, Terminating or NotFound."),
                                "message": text("Why."),
                            },
                        },
                    },
                },
            },
            "pending": {
                "type": "object",
                "description": "What is under way while hooks run, or after one has failed.",
                "properties": {
                    "action": text("Install, Upgrade, Rollback or Uninstall."),
                    "revision": whole("The revision."),
                    "inputDigest": text("Digest of what began it."),
                    "request": text("The value of pintle.dev/reconcile when its hooks were begun."),
                    "attempt": whole("How often its hooks were begun anew."),
                    "done": { "type": "array", "items": { "type": "string" }, "description": "The events whose hooks have succeeded." },
                },
            },
            "hooks": {
                "type": "array",
                "description": "The hooks of this revision.",
                "items": {
                    "type": "object",
                    "properties": {
                        "kind": text("Kind and group."),
                        "namespace": text("Namespace, where the manifest names one."),
                        "name": text("Name."),
                        "generateName": text("What its name is made from."),
                        "events": { "type": "array", "items": { "type": "string" }, "description": "Helm's events." },
                        "event": text("The event that it was last run at."),
                        "phase": text("NotRun, Running, Succeeded or Failed."),
                        "startedAt": time("When it was begun."),
                        "completedAt": time("When its end was seen."),
                        "message": text("Why it failed."),
                    },
                },
            },
            "test": {
                "type": "object",
                "description": "The last run of the chart's tests.",
                "properties": {
                    "request": text("The annotation's value that asked for it."),
                    "revision": whole("The revision that was tested."),
                    "phase": text("Running, Succeeded or Failed."),
                    "startedAt": time("When it began."),
                    "completedAt": time("When it ended."),
                    "message": text("Why it failed."),
                },
            },
        },
    })
}
