//! Definitions, the status types, and CRD schema generation.
