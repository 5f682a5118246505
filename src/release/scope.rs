//! Which objects a definition allows its chart to make. Pure.

use super::{
    hooks::Hook,
    inventory::ObjectKey,
    object::{Desired, Served},
};
use crate::api::{Gvk, definition::Allow};

/// An object as far as it matters whether it may be made.
struct Made<'a> {
    source: &'a str,
    what: String,
    kind: String,
    namespaced: bool,
    /// Its namespace; empty for the release's own.
    namespace: &'a str,
}

/// What of the desired objects and hooks is not allowed, each a sentence that names the template.
///
/// `namespace` is the release's. Hooks of kinds that are not served are asked about once they are.
pub fn refused(
    allow: &Allow,
    desired: &[Desired],
    hooks: &[Hook],
    namespace: &str,
    served: impl Fn(&Gvk) -> Option<Served>,
) -> Vec<String> {
    let members = desired.iter().map(|d| Made {
        source: &d.source,
        what: d.key.to_string(),
        kind: d.gvk.group_kind(),
        namespaced: !d.key.namespace.is_empty(),
        namespace: &d.key.namespace,
    });
    let hooks = hooks.iter().filter_map(|hook| {
        let served = served(&hook.gvk)?;
        let called = if hook.name.is_empty() { &hook.generate_name } else { &hook.name };
        let home = match (served.namespaced, &*hook.namespace) {
            (false, _) => "",
            (true, "") => namespace,
            (true, own) => own,
        };
        let key = ObjectKey { kind: served.kind, namespace: home.into(), name: called.clone() };
        Some(Made {
            source: &hook.source,
            what: format!("the hook {key}"),
            kind: hook.gvk.group_kind(),
            namespaced: served.namespaced,
            namespace: home,
        })
    });
    members.chain(hooks).filter_map(|made| refusal(allow, &made, namespace)).collect()
}

fn refusal(allow: &Allow, made: &Made<'_>, home: &str) -> Option<String> {
    let has = |list: &[String], word: &str| list.iter().any(|w| w == "*" || w == word);
    let Made { source, what, kind, .. } = made;
    if !made.namespaced {
        return (!has(&allow.cluster_scoped, kind)).then(|| {
            format!("{source}: {what} is cluster-scoped, and the definition allows no {kind} (allow.clusterScoped)")
        });
    }
    if made.namespace != home && !has(&allow.namespaces, made.namespace) {
        return Some(format!(
            "{source}: {what} is outside of the namespace {home}, and the definition does not allow {} (allow.namespaces)",
            made.namespace
        ));
    }
    let kinds = allow.kinds.as_ref()?;
    (!has(kinds, kind))
        .then(|| format!("{source}: the definition allows no {kind}, as is {what} (allow.kinds)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        manifest::{Order, sort},
        release::{
            hooks,
            object::{
                prepare,
                tests::{parent, rendered, served},
            },
        },
    };
    use serde_json::json;

    #[test]
    fn what_is_not_allowed_is_named() {
        let objects = [
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "edge"}}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}),
        ];
        let desired = prepare(rendered(&objects), &parent(), "shop", served).unwrap().desired;
        let hook = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: edge, annotations: {helm.sh/hook: pre-install}}\n";
        let hooks =
            hooks::prepare(&sort([("web/templates/h.yaml", hook.as_bytes())], Order::Install).unwrap().hooks)
                .unwrap();
        let said = |allow: &Allow| refused(allow, &desired, &hooks, "shop", served).join("\n");
        let edge = Allow { namespaces: vec!["edge".into()], ..Allow::default() };
        let all = Allow {
            namespaces: vec!["*".into()],
            cluster_scoped: vec!["ClusterRole.rbac.authorization.k8s.io".into()],
            kinds: None,
        };
        let few = Allow { kinds: Some(vec!["Job.batch".into()]), ..all.clone() };
        insta::assert_snapshot!([&Allow::default(), &edge, &few].map(said).join("\n--\n"));
        assert_eq!(said(&all), "");
    }
}
