//! The values of a release: coalescing with subcharts, conditions, tags, import-values, `--set`, JSON Schema.
