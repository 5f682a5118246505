//! Arguments as Helm's commands take them, and what is said of wrong ones.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::builder::{ArgAction, TypedValueParser as _};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::out;
use crate::functions::clean_path;
use crate::render::{Capabilities, KubeVersion};
use crate::value::quote::quote;

/// Lets every switch of a command take a value, as in `--no-hooks=false`, and every flag any value, as in `--timeout -5s`.
pub fn lenient(command: Command) -> Command {
    command.mut_args(|arg| {
        if !matches!(arg.get_action(), ArgAction::SetTrue) {
            let takes =
                arg.get_action().takes_values() && !arg.is_positional() && !arg.is_require_equals_set();
            return if takes { arg.allow_hyphen_values(true) } else { arg };
        }
        let truth = clap::builder::NonEmptyStringValueParser::new().try_map(|text| truth(&text));
        arg.action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .default_value("false")
            .value_parser(truth)
            .hide_default_value(true)
    })
}

/// What Go's flags take for a boolean.
pub fn truth(text: &str) -> std::result::Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing \"{text}\": invalid syntax")),
    }
}

/// Whether an environment variable switches something on. What Go does not take for a boolean counts for nothing.
pub fn switched_on(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|text| truth(&text) == Ok(true))
}

/// What one flag gives that takes several items at once.
#[derive(Clone, Debug, Default)]
pub struct Items(pub Vec<String>);

/// The items of such a flag, which are a line of CSV (pflag's `StringSlice`).
///
/// # Errors
/// In the words of Go's encoding/csv, for quotes that do not match.
pub fn items(text: &str) -> std::result::Result<Items, String> {
    let line = text.lines().next().unwrap_or_default();
    let wrong = |at: usize, what: &str| Err(format!("parse error on line 1, column {}: {what}", at + 1));
    let mut items = Vec::new();
    let mut at = 0;
    while at < line.len() || !items.is_empty() {
        let rest = &line[at..];
        let Some(quoted) = rest.strip_prefix('"') else {
            let item = rest.split(',').next().unwrap_or_default();
            if let Some(found) = item.find('"') {
                return wrong(at + found, "bare \" in non-quoted-field");
            }
            items.push(item.to_owned());
            at += item.len();
            if at == line.len() {
                break;
            }
            at += 1;
            continue;
        };
        // Two quotes are one.
        let mut item = String::new();
        let mut inner = quoted;
        loop {
            let Some(end) = inner.find('"') else {
                return wrong(line.len(), "extraneous or missing \" in quoted-field");
            };
            item.push_str(&inner[..end]);
            at = line.len() - inner.len() + end;
            inner = &inner[end + 1..];
            match inner.strip_prefix('"') {
                Some(after) => {
                    item.push('"');
                    inner = after;
                }
                None => break,
            }
        }
        items.push(item);
        if inner.is_empty() {
            break;
        }
        if !inner.starts_with(',') {
            return wrong(at, "extraneous or missing \" in quoted-field");
        }
        at += 2;
    }
    Ok(Items(items))
}

/// A path without what means nothing in it, as Go's `filepath.Join` makes it.
pub fn joined(base: &Path, inner: impl AsRef<Path>) -> PathBuf {
    let path = base.join(inner);
    OsString::from_vec(clean_path(path.as_os_str().as_bytes())).into()
}

/// The version of Kubernetes that a flag gives; an empty one is none.
///
/// # Errors
/// In Helm's words, for what is no version.
pub fn kube_version(given: Option<&str>) -> Result<Option<KubeVersion>> {
    let given = given.filter(|version| !version.is_empty());
    let version = given.map(|version| {
        KubeVersion::parse(version).map_err(|error| anyhow!("invalid kube version '{version}': {error}"))
    });
    version.transpose()
}

/// What templates see of a cluster that flags describe.
pub fn capabilities(kube_version: Option<KubeVersion>, api_versions: &[Items]) -> Capabilities {
    let mut capabilities = Capabilities::default();
    if let Some(version) = kube_version {
        capabilities.kube_version = version;
    }
    capabilities.api_versions.extend(api_versions.iter().flat_map(|items| items.0.clone()));
    capabilities
}

/// What Go's flags take for a whole number.
pub fn integer(text: &str) -> std::result::Result<i64, String> {
    text.parse().map_err(|_| format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
}

/// What Go's flags take for a number.
pub fn number(text: &str) -> std::result::Result<f64, String> {
    text.parse().map_err(|_| format!("strconv.ParseFloat: parsing \"{text}\": invalid syntax"))
}

/// What Go's flags take for a duration, as it is written.
pub fn duration(text: &str) -> std::result::Result<String, String> {
    use crate::api::duration::{Error, parse};
    let quoted = || crate::value::quote::quote(text.as_bytes());
    match parse(text) {
        Ok(_) | Err(Error::Negative(_)) => Ok(text.to_owned()),
        Err(Error::Syntax(_)) => Err(format!("time: invalid duration {}", quoted())),
        Err(Error::Unit(_)) => Err(format!("time: missing unit in duration {}", quoted())),
    }
}

/// Prints help, or what is wrong with the arguments. The exit code is Helm's: 1.
pub fn report(error: &Error) -> ExitCode {
    if !error.use_stderr() {
        out::print(&error.render().to_string());
        return ExitCode::SUCCESS;
    }
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let text = match error.kind() {
        ErrorKind::UnknownArgument => context(ContextKind::InvalidArg).and_then(unknown_flag),
        ErrorKind::InvalidSubcommand => context(ContextKind::InvalidSubcommand)
            .map(|name| format!("unknown command \"{name}\" for \"pintle\"")),
        ErrorKind::ValueValidation => context(ContextKind::InvalidArg)
            .zip(context(ContextKind::InvalidValue))
            .map(|(flag, value)| invalid_value(flag, value, error)),
        ErrorKind::InvalidValue => context(ContextKind::InvalidArg).map(no_value),
        _ => None,
    };
    let rendered = error.render().to_string();
    match text {
        // The first line is Helm's, the rest tells more.
        Some(text) => {
            let rest = rendered.split_once('\n').map_or("", |(_, rest)| rest);
            out::complain(format!("Error: {text}\n{rest}").trim_end());
        }
        None => out::complain(rendered.replacen("error: ", "Error: ", 1).trim_end()),
    }
    ExitCode::FAILURE
}

fn invalid_value(flag: &str, value: &str, error: &Error) -> String {
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let flag = match bare(flag) {
        "--api-versions" => "-a, --api-versions",
        "--values" => "-f, --values",
        flag => flag,
    };
    format!("invalid argument {} for \"{flag}\" flag: {why}", quote(value.as_bytes()))
}

/// A flag without what the help says of its value.
fn bare(flag: &str) -> &str {
    flag.split(['[', ' ', '=']).next().unwrap_or(flag)
}

/// What is said of a flag whose value is missing; only of switches an empty one is none.
fn no_value(flag: &str) -> String {
    match (flag.contains("[="), truth("")) {
        (true, Err(why)) => format!("invalid argument \"\" for \"{}\" flag: {why}", bare(flag)),
        _ => format!("flag needs an argument: {}", bare(flag)),
    }
}

fn unknown_flag(argument: &str) -> Option<String> {
    if argument.starts_with("--") {
        return Some(format!("unknown flag: {}", argument.split('=').next()?));
    }
    let letter = argument.strip_prefix('-')?.chars().next()?;
    Some(format!("unknown shorthand flag: '{letter}' in {argument}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_a_line_of_csv() {
        let read = |text: &str| items(text).map(|items| items.0.join("|")).unwrap_or_else(|error| error);
        for (text, expected) in [
            ("", ""),
            ("a", "a"),
            ("a,b,", "a|b|"),
            (",", "|"),
            ("\"a,b\",c", "a,b|c"),
            ("\"a\"\"b\"", "a\"b"),
            ("\"a\",\"b\"", "a|b"),
            (" a", " a"),
            ("\"a", "parse error on line 1, column 3: extraneous or missing \" in quoted-field"),
            ("\"a\"b", "parse error on line 1, column 3: extraneous or missing \" in quoted-field"),
            ("x,a\"b", "parse error on line 1, column 4: bare \" in non-quoted-field"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn switches_take_values() {
        let command =
            lenient(Command::new("c").arg(clap::Arg::new("on").long("on").action(ArgAction::SetTrue)));
        for (arguments, expected) in [(&["c"][..], false), (&["c", "--on"], true), (&["c", "--on=F"], false)]
        {
            let matches = command.clone().get_matches_from(arguments);
            assert_eq!(matches.get_one::<bool>("on"), Some(&expected), "{arguments:?}");
        }
        assert!(command.try_get_matches_from(["c", "--on=maybe"]).is_err());
    }
}
