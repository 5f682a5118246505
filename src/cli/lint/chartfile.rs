//! Rules for Chart.yaml.

use super::address;
use super::{Linter, Severity};
use crate::chart::RawMetadata;
use crate::chart::semver::{Version, is_strict};
use crate::value::Scope;
use crate::value::kind::type_of;
use crate::value::quote::quote;
use crate::yaml;

const FILE: &str = "Chart.yaml";

pub(super) fn check(linter: &mut Linter<'_>) {
    let path = linter.dir.join(FILE);
    if path.is_dir() {
        linter.rule::<()>(Severity::Error, FILE, Err("should be a file, not a directory".into()));
    }
    let read = std::fs::read(&path).map_err(|error| {
        let operation = if path.is_dir() { "read" } else { "open" };
        format!("{operation} {}: {}", path.display(), super::super::values::reason(&error))
    });
    let parsed = read.and_then(|data| RawMetadata::read(&data).map(|raw| (raw, data)));
    let parsed = parsed.map_err(|e| format!("unable to parse YAML\n\t{e}"));
    let Some((chart, data)) = linter.rule(Severity::Error, FILE, parsed) else { return };
    let strictly = RawMetadata::check_strictly(&data);
    let strictly = strictly.map_err(|e| format!("failed to strictly parse chart metadata file\n\t{e}"));
    linter.rule(Severity::Warning, FILE, strictly);

    let types = yaml::parse_with(&data, &yaml::Options { target: yaml::Target::Map, ..Default::default() });
    let types = types.unwrap_or_else(|_| tera::Value::none());
    let is_text = |key: &'static str| {
        let value = types.as_map().and_then(|map| map.get(&tera::value::Key::Str(key)));
        match value {
            Some(value) if !value.is_string() => {
                let found = type_of(&Scope::new(), value);
                Err(format!("{key} should be of type string but it's of type {found}"))
            }
            _ => Ok(()),
        }
    };
    let rules = [
        (Severity::Error, name(&chart)),
        (Severity::Error, api_version(&chart)),
        (Severity::Error, is_text("version")),
        (Severity::Error, version(&chart)),
        (Severity::Error, is_text("appVersion")),
        (Severity::Error, maintainers(&chart)),
        (Severity::Error, sources(&chart)),
        (Severity::Info, if chart.icon.is_empty() { Err("icon is recommended".into()) } else { Ok(()) }),
        (Severity::Error, icon(&chart)),
        (Severity::Error, chart_type(&chart)),
        (Severity::Error, dependencies(&chart)),
        (Severity::Warning, strict_version(&chart)),
    ];
    for (severity, found) in rules {
        linter.rule(severity, FILE, found);
    }
}

type Found = Result<(), String>;

fn name(chart: &RawMetadata) -> Found {
    match chart.name.as_str() {
        "" => Err("name is required".into()),
        // What Go calls the base of a path.
        "/" => Ok(()),
        name if name.contains('/') => Err(format!("chart name {} is invalid", quote(name.as_bytes()))),
        _ => Ok(()),
    }
}

fn api_version(chart: &RawMetadata) -> Found {
    let allowed = "The value must be either \"v1\" or \"v2\"";
    match chart.api_version.as_str() {
        "v1" | "v2" => Ok(()),
        "" => Err(format!("apiVersion is required. {allowed}")),
        other => Err(format!("apiVersion '{other}' is not valid. {allowed}")),
    }
}

fn version(chart: &RawMetadata) -> Found {
    if chart.version.is_empty() {
        return Err("version is required".into());
    }
    let version = Version::parse(&chart.version)
        .map_err(|_| format!("version '{}' is not a valid SemVer", chart.version))?;
    let least = Version::parse("0.0.0-0").expect("a fixed version");
    if version <= least {
        let shown = quote(version.to_string().as_bytes());
        return Err(format!("version {shown} is less than or equal to \"0.0.0-0\""));
    }
    Ok(())
}

fn strict_version(chart: &RawMetadata) -> Found {
    if is_strict(&chart.version) {
        return Ok(());
    }
    Err(format!("version '{}' is not a valid SemVerV2", chart.version))
}

fn maintainers(chart: &RawMetadata) -> Found {
    for maintainer in chart.maintainers.iter().flatten() {
        let Some(maintainer) = maintainer else { return Err("a maintainer entry is empty".into()) };
        if maintainer.name.is_empty() {
            return Err("each maintainer requires a name".into());
        }
        if !maintainer.email.is_empty() && !address::is_email(&maintainer.email) {
            return Err(format!("invalid email '{}' for maintainer '{}'", maintainer.email, maintainer.name));
        }
        if !maintainer.url.is_empty() && !address::is_url(&maintainer.url) {
            return Err(format!("invalid url '{}' for maintainer '{}'", maintainer.url, maintainer.name));
        }
    }
    Ok(())
}

fn sources(chart: &RawMetadata) -> Found {
    match chart.sources.iter().flatten().find(|source| !address::is_request_url(source)) {
        Some(source) => Err(format!("invalid source URL '{source}'")),
        None => Ok(()),
    }
}

fn icon(chart: &RawMetadata) -> Found {
    if chart.icon.is_empty() || address::is_request_url(&chart.icon) {
        return Ok(());
    }
    Err(format!("invalid icon URL '{}'", chart.icon))
}

fn chart_type(chart: &RawMetadata) -> Found {
    if chart.chart_type.is_empty() || chart.api_version == "v2" {
        return Ok(());
    }
    Err(format!(
        "chart type is not valid in apiVersion '{}'. It is valid in apiVersion 'v2'",
        chart.api_version
    ))
}

fn dependencies(chart: &RawMetadata) -> Found {
    if chart.dependencies.iter().flatten().next().is_none() || chart.api_version == "v2" {
        return Ok(());
    }
    Err(format!(
        "dependencies are not valid in the Chart file with apiVersion '{}'. They are valid in apiVersion 'v2'",
        chart.api_version
    ))
}
