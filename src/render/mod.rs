//! The renderer: the Tera instance of a chart, its context, include, tpl, lookup, generated values, errors.
//!
//! A [`Program`] is a chart with its templates compiled; [`Program::render`] runs it. A render is a function of its
//! [`Inputs`] alone.

mod ahead;
mod call;
mod capabilities;
mod code;
mod compile;
mod context;
mod control;
mod error;
mod escape;
mod evaluate;
mod files;
pub mod generated;
mod glob;
mod include;
mod library;
mod limits;
mod lookup;
mod methods;
mod native;
mod of_values;
mod path;
mod program;
mod run;
mod secrets;
mod tpl;
mod unit;
mod vocabulary;

pub use capabilities::{BadVersion, Capabilities, HelmVersion, KubeVersion};
pub use context::Release;
pub use error::{Error, Place};
pub use generated::{Afresh, Generated, GeneratedKey, GeneratedValues};
pub use limits::Limits;
pub use lookup::{Lookup, LookupRecord, NoCluster};
pub use native::names::{
    answer as native_answer, arguments as native_arguments, names as native_names, spellings,
};
pub use program::{Inputs, Program, Rendered, RenderedFile, text};
pub use secrets::Secrets;
pub use unit::check_native;
pub use vocabulary::is_function;
