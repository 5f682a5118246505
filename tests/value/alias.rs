//! Maps that are changed through their aliases, in random programs that Go runs too.

use pintle::value::{Scope, json};
use proptest::{prelude::*, sample::select};
use serde_json::{Value as Json, json};
use tera::{Map, Value};

const PLACES: usize = 8;

#[derive(Debug, Clone)]
pub enum Step {
    Dict(usize),
    Number(usize, i64),
    List(usize, Vec<usize>),
    Set(usize, &'static str, usize),
    Unset(usize, &'static str),
    Get(usize, usize, &'static str),
    Index(usize, usize, usize),
    Copy(usize, usize),
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || 0..PLACES;
    let key = || select(vec!["a", "b", "c"]);
    let step = prop_oneof![
        3 => place().prop_map(Step::Dict),
        1 => (place(), 0..100_i64).prop_map(|(to, n)| Step::Number(to, n)),
        2 => (place(), prop::collection::vec(place(), 0..4)).prop_map(|(to, from)| Step::List(to, from)),
        8 => (place(), key(), place()).prop_map(|(map, key, from)| Step::Set(map, key, from)),
        2 => (place(), key()).prop_map(|(map, key)| Step::Unset(map, key)),
        3 => (place(), place(), key()).prop_map(|(to, map, key)| Step::Get(to, map, key)),
        2 => (place(), place(), 0..4_usize).prop_map(|(to, list, n)| Step::Index(to, list, n)),
        1 => (place(), place()).prop_map(|(to, from)| Step::Copy(to, from)),
    ];
    prop::collection::vec(step, 1..40)
}

/// Runs the steps. Answers the JSON of each place, and the steps as the judge reads them: without copies of what contains
/// itself, which Go does not survive.
pub fn run(steps: &[Step]) -> (Vec<String>, Vec<Json>) {
    let scope = Scope::new();
    let mut places = vec![Value::none(); PLACES];
    let mut told = Vec::new();
    for step in steps {
        told.push(match step {
            Step::Dict(to) => {
                places[*to] = Value::from(Map::default());
                json!(["dict", to])
            }
            Step::Number(to, n) => {
                places[*to] = Value::from(*n);
                json!(["number", to, n])
            }
            Step::List(to, from) => {
                places[*to] = Value::from(from.iter().map(|from| places[*from].clone()).collect::<Vec<_>>());
                json!(["list", to, from])
            }
            Step::Set(map, key, from) => {
                assert_eq!(
                    scope.set(&places[*map], key, places[*from].clone()).is_ok(),
                    places[*map].is_map()
                );
                json!(["set", map, key, from])
            }
            Step::Unset(map, key) => {
                assert_eq!(scope.unset(&places[*map], key).is_ok(), places[*map].is_map());
                json!(["unset", map, key])
            }
            Step::Get(to, map, key) => {
                if places[*map].is_map() {
                    places[*to] = scope.field(&places[*map], key).unwrap().into_owned();
                }
                json!(["get", to, map, key])
            }
            Step::Index(to, list, n) => {
                if let Some(item) = places[*list].as_array().and_then(|items| items.get(*n)) {
                    places[*to] = item.clone();
                }
                json!(["index", to, list, n])
            }
            Step::Copy(to, from) => {
                let Ok(copy) = scope.deep_copy(&places[*from]) else { continue };
                if places[*from].is_none() {
                    continue;
                }
                places[*to] = copy;
                json!(["copy", to, from])
            }
        });
    }
    let written = |value: &Value| {
        let text = json::to_string(&scope, value, json::Style::MARSHAL);
        // The value with the changes made in it is the same, for those who do not know of changes.
        match (scope.materialise(value), json::to_plain(&scope, value)) {
            (Ok(made), Ok(plain)) => {
                let unchanged = Scope::new();
                assert_eq!(json::to_string(&unchanged, &made, json::Style::MARSHAL), text);
                assert_eq!(json::to_string(&unchanged, &plain, json::Style::MARSHAL), text);
            }
            (made, plain) => assert!(made.is_err() && plain.is_err() && text.is_err()),
        }
        text.unwrap_or_else(|error| error.to_string())
    };
    (places.iter().map(written).collect(), told)
}
