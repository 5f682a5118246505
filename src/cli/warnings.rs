//! What is noticed on the way, on standard error in the form of Helm's log: a line of Go's `log/slog` without the time.

use std::fmt::{Debug, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::out;
use crate::value::printable::is_printable;
use crate::value::quote::quote;
use crate::values::DEBUG;

/// Begins to print what the library logs from level info on, values included: they are the caller's own. What the modules
/// in `without` log is not printed; what Helm writes with `--debug` is if `debug` is set.
pub fn start(without: &[&str], debug: bool) {
    crate::values::repeat_values_in_warnings();
    let own = Targets::new().with_target(env!("CARGO_CRATE_NAME"), LevelFilter::INFO);
    let own = own.with_targets(without.iter().map(|module| (*module, LevelFilter::OFF)));
    let own = if debug { own.with_target(DEBUG, LevelFilter::DEBUG) } else { own };
    // What logs already goes on to do so.
    let _ = tracing_subscriber::registry().with(Lines.with_filter(own)).try_init();
}

struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line::new(*event.metadata().level());
        event.record(&mut line);
        out::complain(&line.text());
    }
}

/// A line of `slog.TextHandler`: level, message, then the other fields.
struct Line {
    level: Level,
    message: String,
    fields: String,
}

impl Line {
    fn new(level: Level) -> Self {
        Self { level, message: String::new(), fields: String::new() }
    }

    fn add(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = quoted(value),
            // The name of a field that is `message` in Helm's log, where the message is `msg`.
            "text" => drop(write!(self.fields, " message={}", quoted(value))),
            name => drop(write!(self.fields, " {name}={}", quoted(value))),
        }
    }

    fn text(&self) -> String {
        format!("level={} msg={}{}", self.level, self.message, self.fields)
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

/// A text as slog writes it: in quotes where it would not stand out as one word.
fn quoted(text: &str) -> String {
    let plain = |c: char| match c {
        ' ' | '=' | '"' => false,
        '\\' | '\u{7f}' => true,
        c => is_printable(c) && c != char::REPLACEMENT_CHARACTER,
    };
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quote(text.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_stand_as_they_are_and_all_else_in_quotes() {
        for word in ["a", "a.b", "a\\b", "<a>", "ä", "\u{7f}"] {
            assert_eq!(quoted(word), word);
        }
        assert_eq!(quoted(""), r#""""#);
        assert_eq!(quoted("a b"), r#""a b""#);
        assert_eq!(quoted("a=b"), r#""a=b""#);
        assert_eq!(quoted("a\"b\n"), r#""a\"b\n""#);
        assert_eq!(quoted("\u{a0}"), r#""\u00a0""#);
        assert_eq!(quoted("\u{fffd}"), "\"\u{fffd}\"");
    }
}
