//! Random values of a Helm release: the operator generates a value once and keeps it, and a release has generated its own.
//! What a chart generates now is looked for in what it renders, and what the release's manifest has in the same place is kept
//! instead. So passwords and certificates stay what they are.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use regex::Regex;
use serde_json::Value;

use crate::controller::generated::Made;

/// Shorter values are found anywhere.
const SHORTEST: usize = 4;
/// So often base64 is looked into, one within the other.
const DEPTH: usize = 2;

/// A text that was generated: the place of its value in the list, and its own place in that.
type Place = (usize, String);

/// What is found in a release.
pub struct Recovered {
    /// The values of which every text is found.
    pub values: Vec<Made>,
    /// The functions that made certificates of which only the certificate is found.
    pub keyless: Vec<String>,
}

/// The values of `made` as the release has them. `pairs` are objects as they are rendered with `made`, each with what the release
/// has of it.
pub fn recover(made: &[Made], pairs: &[(&Value, &Value)]) -> Recovered {
    let mut texts: Vec<(Place, String)> = Vec::new();
    let mut values: Vec<Value> = Vec::with_capacity(made.len());
    for (at, made) in made.iter().enumerate() {
        let value: Value = serde_json::from_slice(&made.value).unwrap_or_default();
        let is_text = |text: &Value| text.as_str().is_some_and(|t| t.len() >= SHORTEST);
        match (&value, value.get("of").and_then(Value::as_object)) {
            _ if !made.fresh => {}
            (Value::String(text), _) if text.len() >= SHORTEST => {
                texts.push(((at, String::new()), text.clone()));
            }
            (_, Some(parts)) if parts.values().all(is_text) => texts.extend(
                parts
                    .iter()
                    .filter_map(|(key, text)| Some(((at, format!("/of/{key}")), text.as_str()?.to_owned()))),
            ),
            _ => {}
        }
        values.push(value);
    }
    // One that contains another goes first.
    texts.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let mut found: BTreeMap<&Place, Option<String>> = BTreeMap::new();
    let mut see = |ours: &str, theirs: &str| {
        for (place, text) in read(ours, theirs, &texts) {
            let known = found.entry(place).or_insert_with(|| Some(text.clone()));
            if known.as_ref() != Some(&text) {
                // It cannot be both.
                *known = None;
            }
        }
    };
    pairs.iter().for_each(|(ours, theirs)| walk(ours, theirs, &mut see));
    let mut recovered = Vec::new();
    let mut keyless = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let mut value = value.clone();
        let mut places = texts.iter().map(|(place, _)| place).filter(|(n, _)| *n == at).peekable();
        if places.peek().is_none() {
            continue;
        }
        let whole = places.all(|place| {
            let text = found.get(place).cloned().flatten();
            match (value.pointer_mut(&place.1), text) {
                (Some(part), Some(text)) => {
                    *part = text.into();
                    true
                }
                _ => false,
            }
        });
        if whole {
            recovered.push(Made { value: value.to_string().into_bytes(), ..made[at].clone() });
        } else if found.contains_key(&(at, "/of/Cert".to_owned())) {
            let call = &made[at].call;
            keyless.push(call.split_once('.').map_or(&**call, |(function, _)| function).to_owned());
        }
    }
    keyless.dedup();
    Recovered { values: recovered, keyless }
}

/// Calls with each two texts that stand in the same place and differ, and with what they are of in base64.
fn walk(ours: &Value, theirs: &Value, see: &mut impl FnMut(&str, &str)) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, ours) in a {
                if let Some(theirs) = b.get(key) {
                    walk(ours, theirs, see);
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(ours, theirs)| walk(ours, theirs, see));
        }
        (Value::String(ours), Value::String(theirs)) => {
            let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
            for _ in 0..=DEPTH {
                if ours == theirs {
                    return;
                }
                see(&ours, &theirs);
                let (Some(a), Some(b)) = (decoded(&ours), decoded(&theirs)) else { return };
                (ours, theirs) = (a, b);
            }
        }
        _ => {}
    }
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(BASE64_STANDARD.decode(text.trim()).ok()?).ok().filter(|text| !text.is_empty())
}

/// What stands in `theirs` where `ours` has generated texts, when all else is the same.
fn read<'t>(ours: &str, theirs: &str, texts: &'t [(Place, String)]) -> Vec<(&'t Place, String)> {
    // What was generated, and where it begins and ends.
    let mut holes: Vec<(usize, usize, &Place)> = Vec::new();
    for (place, text) in texts {
        for (from, _) in ours.match_indices(text.as_str()) {
            let to = from + text.len();
            if holes.iter().all(|(a, b, _)| to <= *a || from >= *b) {
                holes.push((from, to, place));
            }
        }
    }
    holes.sort_unstable();
    // As long as ours are first; then of any length, where it can be told where one ends.
    let apart = holes.windows(2).all(|two| two[0].1 < two[1].0);
    for exact in [true, false] {
        if holes.is_empty() || !exact && !apart {
            break;
        }
        let (mut pattern, mut end) = (String::from("(?s)^"), 0);
        for (from, to, _) in &holes {
            pattern.push_str(&regex::escape(&ours[end..*from]));
            if exact {
                pattern.push_str(&format!("(.{{{}}})", ours[*from..*to].chars().count()));
            } else {
                pattern.push_str("(.+?)");
            }
            end = *to;
        }
        pattern.push_str(&regex::escape(&ours[end..]));
        pattern.push('$');
        // One that is too large for the limits finds nothing.
        if let Some(found) = Regex::new(&pattern).ok().and_then(|regex| regex.captures(theirs)) {
            let text = |n: usize| found.get(n + 1).map_or(String::new(), |m| m.as_str().to_owned());
            return holes.iter().enumerate().map(|(n, (_, _, place))| (*place, text(n))).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::generated::Life;
    use serde_json::json;

    fn made(value: &Value) -> Made {
        Made { call: "f.1".into(), value: value.to_string().into_bytes(), life: Life::Instance, fresh: true }
    }

    fn recovered(made_now: &[Value], ours: &Value, theirs: &Value) -> Vec<Value> {
        let all: Vec<Made> = made_now.iter().map(made).collect();
        recover(&all, &[(ours, theirs)])
            .values
            .iter()
            .map(|m| serde_json::from_slice(&m.value).unwrap())
            .collect()
    }

    #[test]
    fn plain_encoded_and_within_other_text() {
        let b64 = |text: &str| BASE64_STANDARD.encode(text);
        let object = |password: &str, user: &str| json!({"data": {"password": b64(password), "url": b64(&format!("pg://{user}:{password}@db"))}, "stringData": {"user": user}});
        let found = recovered(
            &[json!("aaaaaaaa"), json!("bbbbbb")],
            &object("aaaaaaaa", "bbbbbb"),
            &object("secret", "me-and-you"),
        );
        assert_eq!(found, [json!("secret"), json!("me-and-you")]);
    }

    #[test]
    fn what_is_not_told_apart_is_left() {
        let made = [json!("aaaa"), json!("bbbb")];
        assert_eq!(
            recovered(&made, &json!({"x": "aaaabbbb"}), &json!({"x": "11112222"})),
            [json!("1111"), json!("2222")]
        );
        assert!(recovered(&made, &json!({"x": "aaaabbbb"}), &json!({"x": "111222"})).is_empty());
        assert!(
            recovered(&made, &json!({"x": "aaaa", "y": "aaaa"}), &json!({"x": "1", "y": "2"})).is_empty()
        );
        assert!(recovered(&made, &json!({"x": "aaaa!"}), &json!({"x": "1111?"})).is_empty());
        assert!(
            recovered(&[json!({"int": 7}), json!("ab")], &json!({"x": "7ab"}), &json!({"x": "8cd"}))
                .is_empty()
        );
    }

    #[test]
    fn a_certificate_is_taken_whole_or_not() {
        let certificate =
            |cert: &str, key: &str| json!({"type": "certificate", "of": {"Cert": cert, "Key": key}});
        let now = [certificate("-cert-1", "-key-1")];
        let ours = json!({"crt": "-cert-1", "key": "-key-1"});
        let theirs = json!({"crt": "-cert-old", "key": "-key-old"});
        assert_eq!(recovered(&now, &ours, &theirs), [certificate("-cert-old", "-key-old")]);
        // A certificate without its key would sign nothing that belongs to it.
        let bare = (json!({"crt": "-cert-1"}), json!({"crt": "-cert-old"}));
        assert!(recovered(&now, &bare.0, &bare.1).is_empty());
        assert_eq!(recover(&[made(&now[0])], &[(&bare.0, &bare.1)]).keyless, ["f"]);
    }
}
