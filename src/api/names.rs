//! Names that Pintle writes into a cluster: field manager, labels, annotations, finalizer.
//!
//! The `applyset.kubernetes.io/…` names are those of KEP-3659; the `helm.sdk.operatorframework.io/…` ones are
//! operator-sdk's, read so that its custom resources work unchanged.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

/// The field manager of every server-side apply of a member.
pub const FIELD_MANAGER: &str = "pintle";
/// The field manager of what an instance says of its set. It is another one, as kubectl has it for its ApplySets: an instance
/// may itself be a member of another.
pub const PARENT_MANAGER: &str = "pintle-applyset";

/// On each member: the set it is part of.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";
/// On the parent custom resource (a label): the id of its set.
pub const APPLYSET_ID: &str = "applyset.kubernetes.io/id";
/// On the parent: the tool that owns the set, `pintle/v1.2.3`.
pub const APPLYSET_TOOLING: &str = "applyset.kubernetes.io/tooling";
/// On the parent: the kinds of the set's members, `Deployment.apps,Service`.
pub const APPLYSET_GROUP_KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// On the parent: namespaces of members other than the parent's own.
pub const APPLYSET_NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";
/// On a CRD whose instances are parents of sets.
pub const APPLYSET_PARENT_TYPE: &str = "applyset.kubernetes.io/is-parent-type";
/// What [`APPLYSET_TOOLING`] holds.
pub const TOOLING: &str = concat!("pintle/v", env!("CARGO_PKG_VERSION"));

/// On each member: the definition whose instance it belongs to. The selector of the member watches.
pub const DEFINITION: &str = "pintle.dev/definition";
/// On the object of a hook: the id of the instance's set, of which it is no member.
pub const HOOK_OF: &str = "pintle.dev/hook-of";
/// On the object of a hook: the revision that it was made for.
pub const HOOK_REVISION: &str = "pintle.dev/hook-revision";
/// On the object of a hook: the event that it was made for.
pub const HOOK_EVENT: &str = "pintle.dev/hook-event";
/// On the object of a hook: which run it is, so that one that was made before a crash is known again.
pub const HOOK_RUN: &str = "pintle.dev/hook-run";
/// On the Secret of an instance's generated values: the id of the instance's set.
pub const GENERATED_FOR: &str = "pintle.dev/generated-for";
/// The finalizer of an instance with members that garbage collection does not reach.
pub const FINALIZER: &str = "pintle.dev/uninstall";

/// On an instance, `"true"`: nothing is rendered, applied or corrected until it is removed.
pub const SUSPEND: &str = "pintle.dev/suspend";
/// On an instance, any new value: reconcile now, and re-apply every member.
pub const RECONCILE: &str = "pintle.dev/reconcile";
/// On an instance, `"true"`: its deletion leaves the members where they are.
pub const ORPHAN: &str = "pintle.dev/orphan";
/// On an instance, any new value: run the chart's tests.
pub const TEST: &str = "pintle.dev/test";
/// On an instance, `disabled`: no hooks are run, as with Helm's `--no-hooks`.
pub const HOOKS: &str = "pintle.dev/hooks";
/// On a member, `disabled`: it is never pruned.
pub const PRUNE: &str = "pintle.dev/prune";
/// On an instance, `Adopt` or `Refuse`: what is done about an object that is there already and in no instance; over the
/// definition's `adoption`.
pub const ADOPTION: &str = "pintle.dev/adoption";
/// On an instance, the revision of a Helm release: the objects of the release of the instance's name and namespace are
/// taken over, and the instance goes on from that revision.
pub const ADOPT_RELEASE: &str = "pintle.dev/adopt-release";
/// On an instance or a member, `Correct`, `Report` or `Off`: what is done when others change it. The member's own word
/// goes before the instance's, and that before the definition's.
pub const DRIFT: &str = "pintle.dev/drift";
/// On a member, JSON pointers with commas between: fields that are left to whoever takes them. On an instance each may
/// name the members that it is about: `Deployment.apps/web:/spec/replicas`.
pub const DRIFT_IGNORE: &str = "pintle.dev/drift-ignore";
/// On an instance or a member, `"true"`: what cannot be changed is deleted and made anew.
pub const RECREATE: &str = "pintle.dev/recreate";
/// On an instance, paths of values with commas between: the chart's defaults for them are removed.
pub const UNSET: &str = "pintle.dev/unset";
/// Helm's, on a member, `keep`: it outlives the release.
pub const RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// operator-sdk's: the reconcile period of one instance, a Go duration.
pub const SDK_RECONCILE_PERIOD: &str = "helm.sdk.operatorframework.io/reconcile-period";
/// operator-sdk's: upgrades delete and recreate what cannot be patched.
pub const SDK_UPGRADE_FORCE: &str = "helm.sdk.operatorframework.io/upgrade-force";
/// operator-sdk's: whether rollbacks are forced.
pub const SDK_ROLLBACK_FORCE: &str = "helm.sdk.operatorframework.io/rollback-force";
/// operator-sdk's: the finalizer waits for the members to be gone.
pub const SDK_UNINSTALL_WAIT: &str = "helm.sdk.operatorframework.io/uninstall-wait";
/// operator-sdk's, on a member that the resource cannot own: the namespace and name of the resource it was made for.
pub const SDK_OWNER: &str = "operator-sdk/primary-resource";
/// Beside [`SDK_OWNER`]: the kind and group of the resource.
pub const SDK_OWNER_KIND: &str = "operator-sdk/primary-resource-type";
/// operator-sdk's finalizers, which are taken over from it: today's and that of versions before 1.0.
pub const SDK_FINALIZERS: [&str; 2] =
    ["helm.sdk.operatorframework.io/uninstall-release", "uninstall-helm-release"];

/// The id of an instance's set: `applyset-<base64url(sha256("<name>.<namespace>.<kind>.<group>"))>-v1` (KEP-3659).
///
/// ```
/// let id = pintle::api::names::applyset_id("web", "shop", "Web", "apps.pintle.dev");
/// assert!(id.starts_with("applyset-") && id.ends_with("-v1") && id.len() == 55);
/// ```
pub fn applyset_id(name: &str, namespace: &str, kind: &str, group: &str) -> String {
    let hash = Sha256::digest(format!("{name}.{namespace}.{kind}.{group}"));
    format!("applyset-{}-v1", BASE64URL_NOPAD.encode(&hash))
}

/// The value of [`DEFINITION`] for a kind: `<kind>.<group>` in lower case; beyond the 63 characters of a label value,
/// its beginning and a hash of the whole.
pub fn definition_label(kind: &str, group: &str) -> String {
    let mut label = kind.to_lowercase();
    if !group.is_empty() {
        label.push('.');
        label.push_str(group);
    }
    if label.len() <= 63 {
        return label;
    }
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(&label)[..5]);
    let mut short: String = label.chars().take(52).collect();
    short.push('-');
    short.push_str(&hash);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_applyset_id_is_the_keps() {
        // The example of KEP-3659's reference implementation in kubectl: sha256 of "test.test.Secret." in base64url.
        let id = applyset_id("mySet", "test", "Secret", "");
        let hash = Sha256::digest("mySet.test.Secret.");
        assert_eq!(id, format!("applyset-{}-v1", BASE64URL_NOPAD.encode(&hash)));
        assert!(id.len() <= 63);
    }

    #[test]
    fn long_definition_labels_stay_labels_and_stay_apart() {
        assert_eq!(definition_label("Web", "apps.pintle.dev"), "web.apps.pintle.dev");
        assert_eq!(definition_label("Web", ""), "web");
        let a = definition_label(&"A".repeat(63), "one.example.com");
        let b = definition_label(&"A".repeat(63), "two.example.com");
        assert!(a.len() <= 63 && b.len() <= 63);
        assert_ne!(a, b);
    }
}
