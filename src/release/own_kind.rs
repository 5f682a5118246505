//! The CustomResourceDefinition of an instance's own kind, which its chart may render.
//!
//! It was there before the instance, all other instances of the kind live by it, and it cannot go before them: as a member of one
//! it would be deleted with that, which waits for it, and it for that. So it is left out of what is made, hooks included, which
//! would even delete it first.

use serde_json::Value;

use super::object::Rendered;
use crate::{api::Gvk, manifest};

/// Group and kind of CRDs.
const CRD: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// Whether group and kind are those of CRDs.
pub fn is_crd(group: &str, kind: &str) -> bool {
    (group, kind) == CRD
}

/// Takes the CRD of `own` out of what a chart has rendered. Its name, if it was there.
pub fn leave_out(objects: &mut Vec<Rendered>, hooks: &mut Vec<manifest::Hook>, own: &Gvk) -> Option<String> {
    let mut name = None;
    objects.retain_mut(|rendered| !is_or_had(&mut rendered.object, own, &mut name));
    hooks.retain_mut(|hook| !is_or_had(&mut hook.manifest.object, own, &mut name));
    name
}

/// Whether an object is the CRD of a kind. It is taken out of a list.
fn is_or_had(object: &mut Value, own: &Gvk, name: &mut Option<String>) -> bool {
    if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
        items.retain_mut(|item| !is_or_had(item, own, name));
        return false;
    }
    let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let is = is_crd(group, text("/kind"))
        && text("/spec/group") == own.group
        && text("/spec/names/kind") == own.kind;
    if is {
        *name = Some(text("/metadata/name").to_owned());
    }
    is
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Order, sort};
    use serde_json::json;

    #[test]
    fn in_templates_lists_and_hooks() {
        let crd = |kind: &str| {
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"},
                "spec": {"group": "pintle.dev", "names": {"kind": kind}}})
        };
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [crd("Web"), crd("Other")]});
        let rendered = |object| Rendered { source: String::new(), object };
        let mut objects = vec![rendered(crd("Web")), rendered(list), rendered(crd("Other"))];
        let mut hook = crd("Web");
        hook["metadata"]["annotations"] = json!({"helm.sh/hook": "pre-install"});
        let mut hooks = sort([("h.yaml", hook.to_string().as_bytes())], Order::Install).unwrap().hooks;
        let own = Gvk::of("pintle.dev/v1", "Web");
        assert_eq!(leave_out(&mut objects, &mut hooks, &own).as_deref(), Some("x"));
        assert_eq!((objects.len(), hooks.len()), (2, 0));
        assert_eq!(objects[0].object["items"], json!([crd("Other")]));
        assert_eq!(leave_out(&mut objects, &mut hooks, &own), None);
    }
}
