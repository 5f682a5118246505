//! Which kind is meant by a word of the command line, as kubectl understands it.

use anyhow::{Context as _, Result, bail};
use kube::Client;

use crate::{cli::connect::Connection, release::health};

/// A kind that the cluster serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Its API group.
    pub group: String,
    /// Its preferred version.
    pub version: String,
    /// Its name.
    pub kind: String,
    /// Its plural.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Further words for it.
    words: Vec<String>,
}

impl Kind {
    /// `webs.apps.example.com`.
    pub fn full(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    fn is(&self, word: &str, group: Option<&str>) -> bool {
        let named = self.kind.eq_ignore_ascii_case(word)
            || self.plural == word
            || self.words.iter().any(|known| known == word);
        // webs.example.com, and webs.v1.example.com.
        named
            && group.is_none_or(|group| {
                group == self.group || group == format!("{}.{}", self.version, self.group)
            })
    }
}

/// All kinds that the cluster serves.
pub async fn served(client: &Client) -> Result<Vec<Kind>> {
    let core = client.list_core_api_versions_aggregated().await.context("discovery")?;
    let groups = client.list_api_groups_aggregated().await.context("discovery")?;
    let mut kinds: Vec<Kind> = Vec::new();
    for group in core.items.into_iter().chain(groups.items) {
        let name = group.metadata.and_then(|m| m.name).unwrap_or_default();
        for version in group.versions {
            let version_name = version.version.unwrap_or_default();
            for resource in version.resources {
                let Some(kind) = resource.response_kind.and_then(|kind| kind.kind) else { continue };
                // The first version is the preferred one.
                if kinds.iter().any(|known| known.group == name && known.kind == kind) {
                    continue;
                }
                let mut words = resource.short_names;
                words.extend(resource.singular_resource);
                kinds.push(Kind {
                    group: name.clone(),
                    version: version_name.clone(),
                    kind,
                    plural: resource.resource.unwrap_or_default(),
                    namespaced: resource.scope.as_deref() == Some("Namespaced"),
                    words,
                });
            }
        }
    }
    Ok(kinds)
}

/// The kind that a word names: a kind, plural, singular or short name, with its group where that is needed.
fn find<'k>(kinds: &'k [Kind], word: &str) -> Result<&'k Kind> {
    let lower = word.to_lowercase();
    let (name, group) = match lower.split_once('.') {
        Some((name, group)) => (name, Some(group)),
        None => (lower.as_str(), None),
    };
    let found: Vec<&Kind> = kinds.iter().filter(|kind| kind.is(name, group)).collect();
    match found[..] {
        [] => bail!("the server doesn't have a resource type \"{word}\""),
        [one] => Ok(one),
        ref several => {
            let all: Vec<String> = several.iter().map(|kind| kind.full()).collect();
            bail!("\"{word}\" is more than one resource type: write {}", all.join(" or "))
        }
    }
}

/// The kind that a word names, among those of a cluster. Kubernetes' own are refused: no chart is behind them.
pub async fn named(connection: &Connection, word: &str) -> Result<Kind> {
    let kinds = served(&connection.client()).await?;
    let kind = find(&kinds, word)?;
    if health::is_built_in(&kind.group) {
        bail!("{} is a kind of Kubernetes itself, and no chart's", kind.kind);
    }
    Ok(kind.clone())
}

/// What a command for one resource is about: its kind and its name.
pub fn one(words: &[String]) -> Result<(String, String)> {
    match target(words)? {
        (kind, Some(name)) => Ok((kind, name)),
        (_, None) => bail!("give one resource, as KIND/NAME"),
    }
}

/// What a command is about: `KIND/NAME`, `KIND NAME`, or a kind alone.
pub fn target(words: &[String]) -> Result<(String, Option<String>)> {
    match words {
        [one] => match one.split_once('/') {
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() && !name.contains('/') => {
                Ok((kind.to_owned(), Some(name.to_owned())))
            }
            Some(_) => bail!("\"{one}\" is not KIND/NAME"),
            None => Ok((one.clone(), None)),
        },
        [kind, name] if !kind.contains('/') && !name.contains('/') => Ok((kind.clone(), Some(name.clone()))),
        _ => bail!("give one resource, as KIND/NAME"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<Kind> {
        let kind = |group: &str, kind: &str, plural: &str, words: &[&str]| Kind {
            group: group.into(),
            version: "v1".into(),
            kind: kind.into(),
            plural: plural.into(),
            namespaced: true,
            words: words.iter().map(ToString::to_string).collect(),
        };
        vec![
            kind("a.example.com", "Web", "webs", &["web", "w"]),
            kind("b.example.com", "Web", "webs", &["web"]),
            kind("", "Service", "services", &["svc", "service"]),
        ]
    }

    #[test]
    fn words_for_kinds() {
        let kinds = kinds();
        let full = |word: &str| find(&kinds, word).map(Kind::full).map_err(|e| e.to_string());
        for (word, expected) in [
            ("w", "webs.a.example.com"),
            ("Web.b.example.com", "webs.b.example.com"),
            ("webs.v1.b.example.com", "webs.b.example.com"),
            ("SVC", "services"),
        ] {
            assert_eq!(full(word).as_deref(), Ok(expected));
        }
        insta::assert_snapshot!(full("web").unwrap_err(), @r#""web" is more than one resource type: write webs.a.example.com or webs.b.example.com"#);
        insta::assert_snapshot!(full("nothing").unwrap_err(), @r#"the server doesn't have a resource type "nothing""#);
    }

    #[test]
    fn targets() {
        let of = |words: &[&str]| target(&words.iter().map(ToString::to_string).collect::<Vec<_>>()).ok();
        let named = Some(("web".to_owned(), Some("front".to_owned())));
        assert_eq!(of(&["web/front"]), named);
        assert_eq!(of(&["web", "front"]), named);
        assert_eq!(of(&["web"]), Some(("web".to_owned(), None)));
        for wrong in [&["web/"][..], &["/front"], &["a/b/c"], &["a/b", "c"], &[], &["a", "b", "c"]] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
