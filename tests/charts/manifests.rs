//! Rendered files into manifests.

use std::cell::RefCell;
use std::collections::BTreeMap;

use pintle::manifest::{self, DeletePolicy, LogPolicy, Order};
use pintle::value::quote::quote;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use crate::judge::{Judge, cases};

fn ours(files: &BTreeMap<&str, String>, order: Order) -> Result<Json, String> {
    let sorted = manifest::sort(files.iter().map(|(path, text)| (*path, text.as_bytes())), order);
    let sorted = sorted.map_err(|e| e.to_string())?;
    let hooks = sorted.hooks.iter().map(|hook| {
        let head = &hook.manifest.head;
        let events: Vec<_> = hook.events.iter().map(|e| e.name()).collect();
        let deletes: Vec<_> = hook
            .delete_policies
            .iter()
            .map(|p| match p {
                DeletePolicy::BeforeHookCreation => "before-hook-creation",
                DeletePolicy::HookSucceeded => "hook-succeeded",
                DeletePolicy::HookFailed => "hook-failed",
                DeletePolicy::Unknown(word) => word,
            })
            .collect();
        let logs: Vec<_> = hook
            .log_policies
            .iter()
            .map(|p| match p {
                LogPolicy::HookSucceeded => "hook-succeeded",
                LogPolicy::HookFailed => "hook-failed",
                LogPolicy::Unknown(word) => word,
            })
            .collect();
        format!(
            "{} {}/{} [{}] {} [{}] [{}] {}",
            hook.manifest.source,
            head.kind,
            head.name,
            events.join(" "),
            hook.weight,
            deletes.join(" "),
            logs.join(" "),
            quote(hook.manifest.text.as_bytes())
        )
    });
    let objects = sorted.objects.iter().map(|m| {
        let head = &m.head;
        format!("{} {} {}/{} {}", m.source, head.api_version, head.kind, head.name, quote(m.text.as_bytes()))
    });
    Ok(json!({"hooks": hooks.collect::<Vec<_>>(), "objects": objects.collect::<Vec<_>>()}))
}

#[test]
fn manifests_are_split_and_sorted_as_by_helm() {
    let line = prop_oneof![
        4 => prop::sample::select(vec![
            "kind: Service", "kind: ConfigMap", "kind: Zebra", "kind: Alpaca", "kind: Namespace", "kind: 1", "kind: []", "KIND: Pod",
            "apiVersion: v1", "apiVersion: 2.0", "metadata: {name: x}", "metadata: {name: 1.50}", "metadata: x", "metadata:",
            "metadata: {annotations: {a: b}}", "metadata: {annotations: {a: 1, b: true}}", "metadata: {annotations: [x]}",
            "metadata: {annotations: {helm.sh/hook: pre-install}}",
            "metadata: {name: h, annotations: {helm.sh/hook: \"test, Post-Install\", helm.sh/hook-weight: -5, helm.sh/hook-delete-policy: \"hook-succeeded,other\"}}",
            "metadata: {annotations: {helm.sh/hook: crd-install}}",
            "metadata: {annotations: {helm.sh/hook: \"\", helm.sh/hook-weight: \"+3\"}}",
            "metadata: {annotations: {helm.sh/hook: test-success, helm.sh/hook-weight: x, helm.sh/hook-output-log-policy: hook-failed}}",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["---", "--- ", "---\t# note", "---kind: Pod", " ---", "----", "# comment", "", "  ", "...", "\t", "a: b: c", "- x", "text"])
            .prop_map(str::to_owned),
    ];
    let end = prop::sample::select(vec!["", "\n", "\r\n", "\n\n"]);
    let text = (prop::collection::vec(line, 0..7), end).prop_map(|(lines, end)| lines.join("\n") + end);
    let path = prop::sample::select(vec![
        "c/templates/a.yaml",
        "c/templates/b.yaml",
        "c/templates/_h.tpl",
        "c/templates/sub/a.yaml",
        "d",
    ]);
    let files = prop::collection::btree_map(path, text, 0..4);
    let judge = RefCell::new(Judge::start());
    TestRunner::new(cases(300))
        .run(&(files, any::<bool>()), |(files, uninstall)| {
            let theirs = judge
                .borrow_mut()
                .ask(&json!({"op": "manifest.sort", "files": files, "uninstall": uninstall}));
            let order = if uninstall { Order::Uninstall } else { Order::Install };
            prop_assert_eq!(ours(&files, order), theirs);
            Ok(())
        })
        .unwrap();
}
