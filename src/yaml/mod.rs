//! Parsing and printing YAML as Go's sigs.k8s.io/yaml does.

pub mod number;
