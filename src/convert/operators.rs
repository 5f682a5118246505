//! Functions of Go charts that Tera has an operator or a literal for.

use super::{
    calls::filter,
    expr::{Ex, Known, field, is_field, tight},
};

/// What Tera has an operator or a literal for.
pub(super) fn native(name: &str, args: &[Ex]) -> Option<Ex> {
    let binary = |operator: &str, left: &Ex, right: &Ex, before: u8, after: u8, known: Known| {
        Ex::new(format!("{} {operator} {}", left.at(before), right.at(after)), before)
            .known(known)
            .over(&[left, right])
    };
    let compare = |operator: &str| match args {
        [left, right] => Some(Ex {
            tight: tight::COMPARISON,
            ..binary(operator, left, right, tight::COMPARISON + 1, tight::COMPARISON + 1, Known::Bool)
        }),
        _ => None,
    };
    match (name, args) {
        ("and" | "or", [first, rest @ ..]) => {
            let (before, word) = if name == "or" { (tight::OR, "or") } else { (tight::AND, "and") };
            let mut all = first.clone();
            for one in rest {
                let known =
                    if all.known == one.known && all.known != Known::Int { all.known } else { Known::Any };
                all = binary(word, &all, one, before, before + 1, known);
            }
            Some(Ex { path: all.path && rest.is_empty(), ..all })
        }
        ("not" | "empty", [value]) => {
            let text = if value.text.starts_with("not ") || value.tight == tight::MINUS {
                format!("not ({})", value.text)
            } else {
                format!("not {}", value.at(tight::TEST + 1))
            };
            Some(Ex::new(text, tight::TEST).known(Known::Bool).over(&[value]))
        }
        ("eq", [value, others @ ..]) if others.len() > 1 => {
            let list: Vec<&str> = others.iter().map(|other| other.text.as_str()).collect();
            let text = format!("{} in [{}]", value.at(tight::TEST + 1), list.join(", "));
            let mut ex =
                Ex::new(text, tight::TEST).known(Known::Bool).over(&others.iter().collect::<Vec<_>>());
            ex.lists += 1;
            ex.lists = ex.lists.max(value.lists);
            Some(ex)
        }
        ("eq", _) => compare("=="),
        ("ne", _) => compare("!="),
        ("lt", _) => compare("<"),
        ("le", _) => compare("<="),
        ("gt", _) => compare(">"),
        ("ge", _) => compare(">="),
        ("hasKey", [map, key]) => Some(Ex {
            tight: tight::TEST,
            ..binary("in", key, map, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("contains", [part, text]) => Some(Ex {
            tight: tight::TEST,
            ..binary("in", part, text, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("has", [item, list]) if item.known == Known::Text => Some(Ex {
            tight: tight::TEST,
            ..binary("in", item, list, tight::TEST + 1, tight::TEST + 1, Known::Bool)
        }),
        ("hasPrefix" | "hasSuffix", [part, text]) => {
            let test = if name == "hasPrefix" { "starting_with" } else { "ending_with" };
            let text_ = format!("{} is {test}(pat={})", text.at(tight::TEST), part.text);
            Some(Ex::new(text_, tight::TEST).known(Known::Bool).over(&[part, text]))
        }
        ("ternary", [yes, no, condition]) => {
            let text = format!("{} if {} else {}", yes.at(1), condition.at(tight::OR), no.at(1));
            let known = if yes.known == no.known { yes.known } else { Known::Any };
            Some(Ex::new(text, tight::CHOICE).known(known).over(&[yes, no, condition]))
        }
        ("dict", entries) if entries.chunks(2).all(|pair| pair[0].literal.is_some()) => {
            let written: Vec<String> = entries
                .chunks(2)
                .map(|pair| {
                    let value = pair.get(1).map_or("\"\"", |value| value.text.as_str());
                    format!("{}: {value}", pair[0].text)
                })
                .collect();
            let mut text = format!("{{{}", written.join(", "));
            if text.ends_with('}') {
                text.push(' ');
            }
            text.push('}');
            Some(Ex::atom(text).over(&entries.iter().collect::<Vec<_>>()))
        }
        ("list" | "tuple", items) => {
            let written: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
            let mut ex =
                Ex::atom(format!("[{}]", written.join(", "))).over(&items.iter().collect::<Vec<_>>());
            ex.lists += 1;
            Some(ex)
        }
        ("index", [value, keys @ ..]) => {
            let mut ex = value.clone();
            for key in keys {
                let name = key.literal.as_deref().filter(|name| is_field(name));
                ex = match name {
                    Some(name) if ex.path => Ex::path(field(&ex.text, name, false)),
                    _ => {
                        let path = ex.path && key.literal.is_some();
                        Ex {
                            path,
                            ..Ex::atom(format!("{}[{}]", ex.at(tight::ATOM), key.text)).over(&[&ex, key])
                        }
                    }
                };
            }
            Some(ex)
        }
        ("dig", [keys @ .., default, map]) if !keys.is_empty() => {
            let listed: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
            let keys_text = format!("[{}]", listed.join(", "));
            let mut ex = filter(map, "dig", &[("keys", keys_text), ("default", default.text.clone())])
                .over(&[default]);
            ex.lists = ex.lists.max(1 + keys.iter().map(|key| key.lists).max().unwrap_or_default());
            Some(ex)
        }
        ("printf", [format, values @ ..]) if values.iter().all(|value| value.known == Known::Text) => {
            let mut parts = format.literal.as_deref()?.split("%s");
            if format.literal.as_deref()?.replace("%s", "").contains('%') {
                return None;
            }
            let mut pieces = vec![parts.next().map(Ex::text)?];
            let mut values_left = values.iter();
            for part in parts {
                pieces.push(values_left.next()?.clone());
                pieces.push(Ex::text(part));
            }
            if values_left.next().is_some() || values.len() > 6 {
                return None;
            }
            concatenated(&pieces)
        }
        ("print", [value]) if value.known == Known::Text => Some(value.clone()),
        ("print", values @ [_, _, ..]) if values.iter().all(|value| value.known == Known::Text) => {
            concatenated(values)
        }
        ("add" | "sub" | "mul", [first, rest @ ..])
            if !rest.is_empty() && args.iter().all(|arg| arg.known == Known::Int) =>
        {
            let (operator, before) = match name {
                "add" => ("+", tight::SUM),
                "sub" => ("-", tight::SUM),
                _ => ("*", tight::PRODUCT),
            };
            let mut all = first.clone();
            for one in rest {
                all = binary(operator, &all, one, before, before + 1, Known::Int);
            }
            Some(all)
        }
        ("add1", [value]) if value.known == Known::Int => {
            Some(binary("+", value, &Ex::atom("1"), tight::SUM, tight::SUM + 1, Known::Int))
        }
        _ => None,
    }
}

fn concatenated(pieces: &[Ex]) -> Option<Ex> {
    let used: Vec<&Ex> = pieces.iter().filter(|piece| piece.literal.as_deref() != Some("")).collect();
    if used.is_empty() || used.len() < 2 {
        return used.first().map(|one| (*one).clone()).filter(|one| one.literal.is_none());
    }
    let text: Vec<String> = used.iter().map(|piece| piece.at(tight::PRODUCT + 1)).collect();
    Some(Ex::new(text.join(" ~ "), tight::PRODUCT).known(Known::Text).over(&used))
}
