//! Arguments as Helm's commands take them, and what is said of wrong ones.

use std::process::ExitCode;

use clap::builder::{ArgAction, TypedValueParser as _};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::out;

/// Lets every switch of a command take a value, as in `--no-hooks=false`.
pub fn lenient(command: Command) -> Command {
    command.mut_args(|arg| {
        if !matches!(arg.get_action(), ArgAction::SetTrue) {
            return arg;
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
pub fn truth(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing \"{text}\": invalid syntax")),
    }
}

/// What Go's flags take for a whole number.
pub fn integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
}

/// What Go's flags take for a number.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("strconv.ParseFloat: parsing \"{text}\": invalid syntax"))
}

/// What Go's flags take for a duration, as it is written.
pub fn duration(text: &str) -> Result<String, String> {
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
    let flag = flag.split(['[', ' ', '=']).next().unwrap_or(flag);
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    format!("invalid argument \"{value}\" for \"{flag}\" flag: {why}")
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
