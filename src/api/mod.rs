//! The API: definitions (what a chart becomes and how it is kept), the status of their instances, names of labels and
//! annotations, and the schemas of generated CRDs.

pub mod crd;
pub mod definition;
pub mod duration;
pub mod names;
pub mod status;
pub mod watches;

pub use definition::{Definition, Gvk};
