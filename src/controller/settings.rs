//! How an operator is set up.

use std::time::Duration;

use kube::runtime::watcher::{Config, InitialListStrategy};

/// What holds for all definitions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The namespaces that are watched; all when empty.
    pub namespaces: Vec<String>,
    /// A label selector: other instances are another process's. Empty for all.
    pub selector: String,
    /// How often an instance is looked at when nothing happens; zero for never.
    pub reconcile_period: Duration,
    /// How many instances of a definition may reconcile at once.
    pub max_concurrent: usize,
    /// Whether the API server can stream the first list of a watch (Kubernetes 1.34 and later): it costs both sides less
    /// memory.
    pub streaming_lists: bool,
    /// What `.Capabilities.KubeVersion` is: `v1.36.3`.
    pub kube_version: String,
}

impl Settings {
    /// The namespace of the watch in which an object of `namespace` is seen; empty for one of all namespaces.
    pub(super) fn scope_of<'a>(&self, namespace: &'a str) -> &'a str {
        if self.namespaces.is_empty() { "" } else { namespace }
    }

    /// The label selector of a definition's instances: the definition's own, and this process's share of them.
    pub(super) fn instances_of(&self, definition: &str) -> String {
        [definition, &self.selector].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join(",")
    }

    /// How watches are made.
    pub(super) fn watch_config(&self) -> Config {
        let mut config = Config::default();
        if self.streaming_lists {
            config.initial_list_strategy = InitialListStrategy::StreamingList;
        }
        config
    }
}

/// The namespaces that the variable WATCH_NAMESPACE names, as operator-sdk reads it: separated by commas, blanks around
/// them; none for all.
pub fn namespaces(text: &str) -> Vec<String> {
    let mut list: Vec<String> =
        text.split(',').map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
    list.sort();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_namespace_as_operator_sdk_reads_it() {
        assert!(namespaces("").is_empty());
        assert!(namespaces(" , ").is_empty());
        assert_eq!(namespaces("b, a ,b"), ["a", "b"]);
    }
}
