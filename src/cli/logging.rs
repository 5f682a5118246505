//! What is logged, and how: our own flags, and the ones of zap that operator-sdk's operators have.

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    EnvFilter, Layer as _,
    filter::Targets,
    fmt::{format::Writer, time::FormatTime},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::{controller::traces::Traces, release::spans};

/// The log
#[derive(Args)]
#[command(next_help_heading = "Log")]
pub struct Logging {
    /// Form of the log.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// What is logged: error, warn, info, debug, trace, or a filter such as pintle=debug,kube=info.
    #[arg(long, env = "PINTLE_LOG", default_value = "info")]
    log_level: String,
    /// As in operator-sdk: debug messages, as text.
    #[arg(long)]
    zap_devel: bool,
    /// As in operator-sdk: console is text.
    #[arg(long, value_name = "json|console", value_parser = ["json", "console"])]
    zap_encoder: Option<String>,
    /// As in operator-sdk: debug, info, error, panic, or a number from 1 on for ever more.
    #[arg(long, value_name = "LEVEL", value_parser = zap_level)]
    zap_log_level: Option<&'static str>,
    /// As in operator-sdk, for its command lines: there are no stack traces here.
    #[arg(long, value_name = "LEVEL", value_parser = ["info", "error", "panic"])]
    zap_stacktrace_level: Option<String>,
    /// As in operator-sdk: epoch, millis, nano, iso8601, rfc3339 or rfc3339nano.
    #[arg(long, value_name = "FORM", value_parser = ["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"])]
    zap_time_encoding: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// The filter that a level of zap stands for.
fn zap_level(text: &str) -> Result<&'static str, String> {
    match text.to_ascii_lowercase().as_str() {
        "debug" => Ok(DEBUG),
        "info" => Ok("info"),
        "error" | "panic" => Ok("error"),
        number => match number.parse::<u8>() {
            Ok(0) | Err(_) => {
                Err("must be debug, info, error, panic, or a whole number greater than 0".to_owned())
            }
            Ok(1) => Ok(DEBUG),
            Ok(_) => Ok("pintle=trace,debug"),
        },
    }
}

/// Our own debug messages; those of the client are many.
const DEBUG: &str = "pintle=debug,info";

impl Logging {
    /// Begins to log, and to collect traces.
    pub fn start(&self, traces: Option<Traces>) -> Result<()> {
        let level = match self.zap_log_level {
            Some(level) => level,
            None if self.zap_devel => DEBUG,
            None => &self.log_level,
        };
        let filter = EnvFilter::try_new(level).with_context(|| format!("--log-level {level:?}"))?;
        let json = match self.zap_encoder.as_deref() {
            Some(encoder) => encoder == "json",
            None => self.log_format == LogFormat::Json && !self.zap_devel,
        };
        let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
        let encoding = self.zap_time_encoding.as_deref();
        let layer = match (json, encoding) {
            (false, None) => layer.with_ansi(false).boxed(),
            (true, None) => layer.json().flatten_event(true).boxed(),
            (false, Some(form)) => layer.with_ansi(false).with_timer(Clock(form.to_owned())).boxed(),
            (true, Some(form)) => layer.json().flatten_event(true).with_timer(Clock(form.to_owned())).boxed(),
        };
        let collected = Targets::new().with_target(spans::TARGET, LevelFilter::DEBUG);
        tracing_subscriber::registry()
            .with(layer.with_filter(filter))
            .with(traces.map(|traces| traces.with_filter(collected)))
            .try_init()
            .map_err(|e| anyhow!("{e}"))
    }
}

/// The time, as an encoder of zap writes it.
struct Clock(String);

impl FormatTime for Clock {
    fn format_time(&self, w: &mut Writer<'_>) -> std::fmt::Result {
        w.write_str(&written(&self.0, jiff::Timestamp::now()))
    }
}

fn written(form: &str, now: jiff::Timestamp) -> String {
    match form {
        "millis" => format!("{}.{:06}", now.as_millisecond(), now.subsec_nanosecond().rem_euclid(1_000_000)),
        "nano" => now.as_nanosecond().to_string(),
        "iso8601" => now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        "rfc3339" => now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "rfc3339nano" => now.to_string(),
        _ => format!("{}.{:09}", now.as_second(), now.subsec_nanosecond()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_zap_writes_them() {
        let at: jiff::Timestamp = "2026-07-01T12:30:00.123456789Z".parse().unwrap();
        let all = ["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"];
        insta::assert_snapshot!(all.map(|form| format!("{form} {}", written(form, at))).join("\n"), @r"
        epoch 1782909000.123456789
        millis 1782909000123.456789
        nano 1782909000123456789
        iso8601 2026-07-01T12:30:00.123Z
        rfc3339 2026-07-01T12:30:00Z
        rfc3339nano 2026-07-01T12:30:00.123456789Z
        ");
    }

    #[test]
    fn levels_of_zap() {
        assert_eq!(zap_level("Debug"), zap_level("1"));
        assert_eq!(zap_level("panic"), Ok("error"));
        assert!(zap_level("0").is_err() && zap_level("warn").is_err());
    }
}
