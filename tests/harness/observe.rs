//! What the API server tells about the requests that it got: its metrics and its audit log.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Seek as _, SeekFrom},
};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::Cluster;

/// The API server's metrics at one moment.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Metrics {
    /// Reads the Prometheus text format, without its time stamps.
    pub fn parse(text: &str) -> Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let samples = lines.map(|line| parse_sample(line).with_context(|| format!("no metric: {line}")));
        Ok(Self { samples: samples.collect::<Result<_>>()? })
    }

    /// The sum of a metric's samples that have all of these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.matching(name, labels).map(|sample| sample.value).sum()
    }

    /// How many requests there were, by verb (`GET`, `LIST`, `WATCH`, `APPLY`…) and resource (`pods`,
    /// `deployments/status`), of all users: `apiserver_request_total`. A watch counts when it ends.
    pub fn requests(&self) -> BTreeMap<(String, String), u64> {
        let mut found = BTreeMap::new();
        for sample in self.matching("apiserver_request_total", &[]) {
            let label = |name: &str| sample.labels.get(name).cloned().unwrap_or_default();
            let mut resource = label("resource");
            let subresource = label("subresource");
            if !subresource.is_empty() {
                resource = format!("{resource}/{subresource}");
            }
            // Counters are whole and far from the limits of a float's precision.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a counter")]
            let count = sample.value as u64;
            *found.entry((label("verb"), resource)).or_default() += count;
        }
        found
    }

    fn matching<'a>(
        &'a self,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
    ) -> impl Iterator<Item = &'a Sample> {
        self.samples.iter().filter(move |sample| {
            sample.name == name
                && labels
                    .iter()
                    .all(|(name, value)| sample.labels.get(*name).is_some_and(|found| found == value))
        })
    }
}

fn parse_sample(line: &str) -> Option<Sample> {
    let (series, value) = line.rsplit_once(' ')?;
    let (name, mut rest) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (series, ""),
    };
    let mut labels = BTreeMap::new();
    while let Some((label, quoted)) = rest.split_once("=\"") {
        let mut text = String::new();
        let mut chars = quoted.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    other => text.push(other),
                },
                (_, other) => text.push(other),
            }
        };
        labels.insert(label.trim_start_matches(',').to_owned(), text);
        rest = &quoted[end + 1..];
    }
    Some(Sample { name: name.to_owned(), labels, value: value.parse().ok()? })
}

/// A request that the API server has answered, or a watch that it has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who asked: `admin`, `system:serviceaccount:NAMESPACE:NAME`, the name of [`super::Credentials::user`].
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The path and query.
    pub uri: String,
    /// The resource, with its subresource: `pods`, `deployments/status`; empty for paths like `/version`.
    pub resource: String,
    /// The namespace, if there is one.
    pub namespace: String,
    /// The object's name, if there is one.
    pub name: String,
    /// The status code; 0 when the log has none.
    pub code: u16,
    /// The program.
    pub user_agent: String,
    /// When it came, as RFC 3339 in UTC with microseconds.
    pub received: String,
}

/// A point in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditMark(u64);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
    verb: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    user: User,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<Code>,
    request_received_timestamp: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize)]
struct Code {
    #[serde(default)]
    code: u16,
}

impl Cluster {
    /// Reads the API server's `/metrics`.
    pub async fn metrics(&self) -> Result<Metrics> {
        let request = http::Request::get("/metrics").body(Vec::new())?;
        Metrics::parse(&self.client().await?.request_text(request).await?)
    }

    /// The present end of the audit log.
    pub fn audit_mark(&self) -> Result<AuditMark> {
        Ok(AuditMark(self.audit_log()?.metadata()?.len()))
    }

    /// The requests of all users but the cluster's own programs, from a point of the audit log on. A watch is listed
    /// when it opens, and not again when it ends. A request is in the log once the API server has answered it.
    pub fn requests_since(&self, mark: AuditMark) -> Result<Vec<Request>> {
        let mut log = self.audit_log()?;
        log.seek(SeekFrom::Start(mark.0))?;
        let mut requests = Vec::new();
        let mut opened = std::collections::HashSet::new();
        let mut reader = BufReader::new(log);
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 {
            // The last line may still be in the writing.
            if !line.ends_with('\n') {
                break;
            }
            let entry: Entry =
                serde_json::from_str(&line).with_context(|| format!("no audit entry: {line}"))?;
            line.clear();
            let long_running = entry.stage == "ResponseStarted";
            let code = entry.response_status.map_or(0, |status| status.code);
            // The end of a watch that opened before the mark is no request since then, either; one that was refused is.
            if !long_running && (opened.contains(&entry.audit_id) || entry.verb == "watch" && code == 200) {
                continue;
            }
            if long_running {
                opened.insert(entry.audit_id);
            }
            let object = entry.object_ref.unwrap_or_default();
            requests.push(Request {
                user: entry.user.username,
                verb: entry.verb,
                uri: entry.request_uri,
                resource: match object.subresource.as_str() {
                    "" => object.resource,
                    subresource => format!("{}/{subresource}", object.resource),
                },
                namespace: object.namespace,
                name: object.name,
                code,
                user_agent: entry.user_agent,
                received: entry.request_received_timestamp,
            });
        }
        Ok(requests)
    }

    fn audit_log(&self) -> Result<File> {
        let path = self.dir().join("audit.log");
        File::open(&path).with_context(|| format!("open {}", path.display()))
    }
}
