//! The flags of traces: OpenTelemetry's own variables are their defaults.

use std::env;

use anyhow::{Result, anyhow};
use clap::Args;

use crate::controller::traces::{Collector, Exporter, Traces, traces};

/// Traces
#[derive(Args)]
#[command(next_help_heading = "Traces")]
pub struct Tracing {
    /// Address of a collector that takes OTLP over HTTP, as in http://collector:4318; traces are sent only with one.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL", default_value = "")]
    otlp_endpoint: String,
}

impl Tracing {
    /// What collects spans, and what sends them, if there is somebody to send them to.
    pub fn start(&self) -> Result<Option<(Traces, Exporter)>> {
        if self.otlp_endpoint.is_empty() {
            return Ok(None);
        }
        let variable = |name: &str| env::var(name).unwrap_or_default();
        let collector = Collector {
            endpoint: self.otlp_endpoint.clone(),
            headers: variable("OTEL_EXPORTER_OTLP_HEADERS"),
            resource: variable("OTEL_RESOURCE_ATTRIBUTES"),
            service: variable("OTEL_SERVICE_NAME"),
        };
        traces(&collector).map(Some).map_err(|e| anyhow!("--otlp-endpoint: {e}"))
    }
}
