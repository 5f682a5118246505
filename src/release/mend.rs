//! What an ordinary write tolerates and server-side apply refuses, mended.
//!
//! Server-side apply reads an object by its schema and refuses two entries of a keyed list that have the same key, and
//! fields that the schema does not declare. A create takes both: the cluster then uses the last of the entries, and drops
//! the field. The API server's own message says which they are, so nothing is known here about any schema: the entry that
//! the cluster would use is kept, the field is dropped, and the apply is tried again.

use serde_json::Value;

/// So many times an object is mended before it is given up: the API server reports undeclared fields one by one.
pub const ROUNDS: usize = 64;

/// Mends `body` as `message` asks. What was done, for a person; none when the message says something else is wrong.
pub fn mend(body: &mut Value, message: &str) -> Option<Vec<String>> {
    // "failed to create typed patch object (ns/name; apps/v1, Kind=Deployment): " and then one error, or "errors:" and a
    // line for each.
    let (_, errors) = message.split_once("Kind=").and_then(|(_, rest)| rest.split_once("): "))?;
    let lines: Vec<&str> = match errors.strip_prefix("errors:") {
        Some(list) => list.lines().map(str::trim).filter(|l| !l.is_empty()).collect(),
        None => vec![errors],
    };
    let mut done: Vec<String> = Vec::new();
    for line in lines {
        if let Some(path) = line.strip_suffix(": field not declared in schema") {
            if remove(body, path)? {
                done.push(format!("{path} is not a field of this kind and was dropped"));
            }
        } else if let Some((path, keys)) = line.split_once(": duplicate entries for key ") {
            let at = find(body, path)?;
            // Reported once for each entry too many; the first report mends all.
            if keep_last(at.as_array_mut()?, keys)? {
                done.push(format!("{path} has several entries {keys} and the last was kept"));
            }
        } else {
            return None;
        }
    }
    (!done.is_empty()).then_some(done)
}

/// Removes the field at a path. False when it is gone already; none when the path leads nowhere.
fn remove(root: &mut Value, path: &str) -> Option<bool> {
    // The last step is the longest key of the innermost mapping that ends the path.
    let mut at = root;
    let mut rest = path;
    loop {
        let map_key = rest.strip_prefix('.').and_then(|r| {
            let map = at.as_object()?;
            map.contains_key(r).then(|| r.to_owned())
        });
        if let Some(key) = map_key {
            return Some(at.as_object_mut()?.remove(&key).is_some());
        }
        match step(at, rest) {
            Some((next, after)) => {
                at = next;
                rest = after;
            }
            None => return Some(false),
        }
    }
}

/// The value at a path.
fn find<'v>(root: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut at = root;
    let mut rest = path;
    while !rest.is_empty() {
        (at, rest) = step(at, rest)?;
    }
    Some(at)
}

/// One step of a path as structured-merge-diff prints it: `.field`, `[key="value",…]`, `[="value"]`, `[3]`. Keys may have
/// dots in them, so the longest that fits is taken.
fn step<'v, 'p>(at: &'v mut Value, path: &'p str) -> Option<(&'v mut Value, &'p str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let map = at.as_object_mut()?;
        let key = map
            .keys()
            .filter(|k| {
                rest.strip_prefix(k.as_str())
                    .is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
            })
            .max_by_key(|k| k.len())?
            .clone();
        let after = &rest[key.len()..];
        return Some((map.get_mut(&key)?, after));
    }
    let (selector, after) = bracket(path)?;
    let list = at.as_array_mut()?;
    if let Ok(index) = selector.parse::<usize>() {
        return Some((list.get_mut(index)?, after));
    }
    let keys = keys(selector)?;
    // Of several entries with the key, the last: the others are on their way out.
    let found = list.iter_mut().rev().find(|item| matches(item, &keys))?;
    Some((found, after))
}

/// The text between the brackets that `path` begins with, and what is after them. Quoted text may hold brackets.
fn bracket(path: &str) -> Option<(&str, &str)> {
    let inner = path.strip_prefix('[')?;
    let mut quoted = false;
    let mut escaped = false;
    for (i, c) in inner.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return Some((&inner[..i], &inner[i + 1..])),
            _ => {}
        }
    }
    None
}

/// `name="a",port=80` as names and values; `="a"` is the value of a scalar.
fn keys(selector: &str) -> Option<Vec<(String, Value)>> {
    let mut found = Vec::new();
    let mut rest = selector;
    loop {
        let (name, after) = rest.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
        let value = values.next()?.ok()?;
        found.push((name.to_owned(), value));
        let after = &after[values.byte_offset()..];
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Some(found),
            None => return None,
        }
    }
}

/// Whether a list's entry has the keys. A key that it does not name has the schema's default, which the API server has
/// already put into its message.
fn matches(item: &Value, keys: &[(String, Value)]) -> bool {
    keys.iter().all(|(name, value)| {
        if name.is_empty() {
            return item == value;
        }
        match item.get(name) {
            None | Some(Value::Null) => item.is_object(),
            Some(own) => own == value,
        }
    })
}

/// Keeps the last of the entries that have the keys, where it is: a variable may refer to those before it. False when
/// there is but one.
fn keep_last(list: &mut Vec<Value>, keys_text: &str) -> Option<bool> {
    let (selector, _) = bracket(keys_text)?;
    let keys = keys(selector)?;
    let places: Vec<usize> = (0..list.len()).filter(|i| matches(&list[*i], &keys)).collect();
    for place in places.iter().rev().skip(1) {
        list.remove(*place);
    }
    Some(places.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn deployment() -> Value {
        json!({"metadata": {"labels": {"app.kubernetes.io/name": "x"}}, "spec": {"foo": 1, "template": {"spec": {"containers": [
            {"name": "side", "env": [{"name": "A", "value": "0"}]},
            {"name": "c", "baz": true, "ports": [{"containerPort": 80}, {"containerPort": 81}, {"containerPort": 80, "name": "http"}],
             "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}, {"name": "A", "value": "4"}]},
        ]}}}})
    }

    /// Messages are as kube-apiserver 1.36 writes them.
    #[test]
    fn mended_as_the_cluster_would_read_it() {
        let mut body = deployment();
        let say = |errors: &str| {
            format!("failed to create typed patch object (default/dup; apps/v1, Kind=Deployment): {errors}")
        };
        let mut done = mend(&mut body, &say(".spec.foo: field not declared in schema")).unwrap();
        done.extend(
            mend(
                &mut body,
                &say(r#".spec.template.spec.containers[name="c"].baz: field not declared in schema"#),
            )
            .unwrap(),
        );
        done.extend(
            mend(
                &mut body,
                &say("errors:\n  .spec.template.spec.containers[name=\"c\"].ports: duplicate entries for key [containerPort=80,protocol=\"TCP\"]\n  .spec.template.spec.containers[name=\"c\"].env: duplicate entries for key [name=\"A\"]\n  .spec.template.spec.containers[name=\"c\"].env: duplicate entries for key [name=\"A\"]"),
            )
            .unwrap(),
        );
        insta::assert_snapshot!(done.join("\n"));
        assert_eq!(
            body["spec"]["template"]["spec"]["containers"][1],
            json!({"name": "c", "ports": [{"containerPort": 81}, {"containerPort": 80, "name": "http"}],
                   "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "4"}]})
        );
        assert!(body["spec"].get("foo").is_none());
    }

    #[test]
    fn sets_and_dotted_keys() {
        let mut body = json!({"metadata": {"finalizers": ["a/b", "c", "a/b"], "annotations": {"x.y/z": "1", "x": {"y/z": 2}}}});
        let prefix = "failed to create typed patch object (default/dup; /v1, Kind=ConfigMap): ";
        mend(&mut body, &format!("{prefix}.metadata.finalizers: duplicate entries for key [=\"a/b\"]"))
            .unwrap();
        mend(&mut body, &format!("{prefix}.metadata.annotations.x.y/z: field not declared in schema"))
            .unwrap();
        assert_eq!(body["metadata"], json!({"finalizers": ["c", "a/b"], "annotations": {"x": {"y/z": 2}}}));
    }

    #[test]
    fn other_errors_are_left_to_be_reported() {
        let mut body = deployment();
        let before = body.clone();
        for message in [
            "failed to create typed patch object (a/b; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}",
            "failed to create typed patch object (a/b; /v1, Kind=Pod): .spec.nowhere.x: field not declared in schema",
            "something else",
            "",
        ] {
            assert_eq!(mend(&mut body, message), None, "{message}");
        }
        assert_eq!(body, before);
    }
}
