//! Go's semantics on Tera's values: truth, equality, printing, and the mutation overlay.
