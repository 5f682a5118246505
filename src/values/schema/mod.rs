//! values.schema.json: whether values are what a chart and its subcharts ask for.
//!
//! Helm holds values against JSON Schema of drafts 4 to 2020-12 with a Go library, and shows that library's report. To
//! say the same in the same words and at the same depth, schemas are compiled and applied here in the same order. No
//! schema is fetched: references lead within the file, or to the specification's own schemas.

mod compile;
mod decimal;
mod failure;
mod formats;
mod json;
mod node;
mod pattern;
mod plain;
mod url;
mod validate;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use tera::Value;

use super::{DEBUG, Error};
use crate::chart::{Chart, Content};
use crate::value::Scope;
use crate::value::kind::type_of;
use compile::{LOCATION, Schema};
use json::Json;

/// A schema, or why it is none.
type Compiled = Arc<Result<Schema, String>>;

/// Compiled schemas, kept for the next time. Cheap to share between threads.
#[derive(Default)]
pub struct Schemas(Mutex<HashMap<Content, Compiled>>);

impl std::fmt::Debug for Schemas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schemas")
    }
}

impl Schemas {
    /// Holds coalesced values against the schemas of a chart and of its subcharts.
    ///
    /// # Errors
    /// What does not fit, and schemas that are none, in Helm's words.
    pub fn validate(&self, chart: &Chart, values: &Value) -> Result<(), Error> {
        let mut report = String::new();
        self.collect(chart, values, &mut report);
        if report.is_empty() {
            return Ok(());
        }
        Err(Error::new(format!(
            "values don't meet the specifications of the schema(s) in the following chart(s):\n{report}"
        )))
    }

    fn collect(&self, chart: &Chart, values: &Value, report: &mut String) {
        if let Some(text) = &chart.schema {
            tracing::debug!(target: DEBUG, { "chart-name" = chart.name() }, "chart name");
            let schema = self.compiled(text);
            if let Err(text) = check(&schema, values) {
                write!(report, "{}:\n{text}", chart.name()).expect("a string takes all text");
            }
        }
        let (name, dependencies) = (chart.name(), chart.dependencies.len());
        tracing::debug!(target: DEBUG, chart = name, dependencies, "number of dependencies in the chart");
        for sub in &chart.dependencies {
            let Some(inner) = super::field(values, sub.name()) else { continue };
            if inner.is_map() {
                self.collect(sub, inner, report);
            } else if !inner.is_none() {
                let found = type_of(&Scope::new(), inner);
                writeln!(
                    report,
                    "{}:\ninvalid type for values: expected object (map), got {found}",
                    sub.name()
                )
                .expect("a string takes all text");
            }
        }
    }

    fn compiled(&self, text: &Content) -> Compiled {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(text.clone()).or_insert_with(|| Arc::new(Schema::compile(text))).clone()
    }
}

/// Holds values against one schema, given as text.
///
/// # Errors
/// What does not fit, or why the schema is none, in Helm's words.
pub fn validate_one(schema: &[u8], values: &Value) -> Result<(), String> {
    check(&Schema::compile(schema), values)
}

fn check(schema: &Result<Schema, String>, values: &Value) -> Result<(), String> {
    let schema = schema.as_ref().map_err(Clone::clone)?;
    validate::run(schema, &Json::from_value(values)).map_err(|text| {
        let title = format!("jsonschema validation failed with '{LOCATION}#'\n");
        // The line break parts the reports of charts.
        format!("{}\n", text.strip_prefix(&title).unwrap_or(&text))
    })
}
