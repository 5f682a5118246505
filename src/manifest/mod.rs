//! Rendered text into objects: document split, hooks apart, Helm's orders.
//!
//! [`sort`] takes what a chart rendered and gives its hooks and its other manifests, in the order in which Helm
//! installs them.

mod head;
mod hook;
mod order;
mod split;
mod text;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::threads;
use crate::yaml::{self, Shape};

pub use head::Head;
pub use hook::{DeletePolicy, Event, Hook, LogPolicy};
pub use order::Order;
pub use split::split;
pub use text::{Section, Show, only, parts, print, sections};

/// Why rendered text holds no manifests. The text is Helm's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("YAML parse error on {source_path}: {reason}")]
pub struct Error {
    /// The template whose output does not parse: `web/templates/service.yaml`.
    pub source_path: String,
    /// The document that does not parse.
    pub document: String,
    /// Why.
    pub reason: String,
    /// The line of the template's output that the reason is about, from 1, where it names one.
    pub line: Option<usize>,
}

impl Error {
    /// An error about a document of a file.
    fn new(path: &str, file: &str, document: &str, reason: String) -> Self {
        // A document is a part of its file.
        let start = (document.as_ptr() as usize).saturating_sub(file.as_ptr() as usize);
        let before = file.get(..start).unwrap_or_default();
        let line = line_of(&reason).map(|line| before.matches('\n').count() + line);
        Self { source_path: path.to_owned(), document: document.to_owned(), reason, line }
    }

    /// The line of the output, with the one before, marked; empty where the reason names none. Lines of a Secret are not
    /// shown.
    ///
    /// ```text
    ///   what web/templates/service.yaml writes, line 7
    ///   6 | spec:
    ///   7 |  ports: [
    ///     |  ^
    /// ```
    #[must_use]
    pub fn excerpt(&self) -> String {
        let (Some(line), Some(at)) = (self.line, line_of(&self.reason)) else { return String::new() };
        let head = format!("  what {} writes, line {line}", self.source_path);
        let is_secret =
            |line: &str| line.trim_start().strip_prefix("kind:").is_some_and(|kind| kind.contains("Secret"));
        if self.document.lines().any(is_secret) {
            return format!("{head} (of a Secret, which is not shown)\n");
        }
        let mut excerpt = format!("{head}\n");
        let width = line.to_string().len();
        let lines = self.document.lines().enumerate().skip(at.saturating_sub(2)).take(at.min(2));
        let mut indent = 0;
        for (offset, text) in lines {
            let number = line + offset + 1 - at;
            indent = text.len() - text.trim_start().len();
            excerpt.push_str(&format!("  {number:width$} | {text}\n"));
        }
        excerpt.push_str(&format!("  {:width$} | {}^\n", "", " ".repeat(indent)));
        excerpt
    }
}

/// The line of the document that a reason of the YAML library names.
fn line_of(reason: &str) -> Option<usize> {
    let (_, rest) = reason.split_once("line ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok().filter(|line| *line > 0)
}

/// One document of a template's output.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The template that it comes from: `web/templates/service.yaml`.
    pub source: Arc<str>,
    /// The document, without white space before it.
    pub text: String,
    /// What kind of object it is.
    pub head: Head,
    /// The document as JSON, integers exact; null where it has only comments. Of documents of which only heads were read, no
    /// more than that.
    pub object: Value,
}

/// All that a chart rendered.
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    /// Hooks, in the order of their kinds. They are run in that of [`Hook::sort_for_run`].
    pub hooks: Vec<Hook>,
    /// Everything else, in the order of the kinds.
    pub objects: Vec<Manifest>,
}

/// Splits rendered files (path, content) into documents, tells hooks from objects, and sorts both by kind; within a kind,
/// documents stay in the order of paths and of their places in a file.
///
/// Partials (`_…`), empty files and empty documents are left out; so are hooks of an unknown event. NOTES.txt is the
/// caller's to take out before.
pub fn sort<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    order: Order,
) -> Result<Manifests, Error> {
    sort_read(files, order, Head::parse)
}

/// The same for those who need no objects: [`Manifest::object`] has what the head is read from.
pub fn sort_heads<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    order: Order,
) -> Result<Manifests, Error> {
    sort_read(files, order, Head::parse_alone)
}

/// So many bytes of documents are worth a second thread.
const LARGE: usize = 128 << 10;

fn sort_read<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    order: Order,
    read: fn(&str) -> Result<(Head, Value), String>,
) -> Result<Manifests, Error> {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable_by_key(|(path, _)| *path);
    files.retain(|(path, _)| !path.rsplit('/').next().unwrap_or(path).starts_with('_'));
    let read = |(path, bytes): &(&str, &[u8])| read_file(path, bytes, read);
    let read: Vec<_> = if files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() >= LARGE {
        threads::map(&files, read)
    } else {
        files.iter().map(read).collect()
    };
    let mut manifests = Manifests::default();
    for (documents, error) in read {
        for manifest in documents {
            match manifest.head.annotations.get(hook::ANNOTATION) {
                None => manifests.objects.push(manifest),
                Some(events) => match Event::parse_all(events) {
                    Some(events) => manifests.hooks.push(Hook::new(manifest, events)),
                    None => tracing::info!("hookTypes" = %events, "skipping unknown hooks"),
                },
            }
        }
        if let Some(error) = error {
            return Err(error);
        }
    }
    manifests.hooks.sort_by(|a, b| order.compare(&a.manifest.head.kind, &b.manifest.head.kind));
    manifests.objects.sort_by(|a, b| order.compare(&a.head.kind, &b.head.kind));
    Ok(manifests)
}

/// The documents of a file, up to the first that is wrong, and what is wrong with that.
fn read_file(
    path: &str,
    bytes: &[u8],
    read: fn(&str) -> Result<(Head, Value), String>,
) -> (Vec<Manifest>, Option<Error>) {
    let source: Arc<str> = path.into();
    // Of what is UTF-8, `from_utf8` knows it sooner.
    let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
    let text = &*text;
    let damaged = split::damaged(bytes);
    let mut manifests = Vec::new();
    for (number, document) in split(text).enumerate() {
        let damage = match damaged.filter(|(damaged, _)| *damaged == number) {
            Some((_, bytes)) => yaml::parse_shaped(bytes, &Shape::Any, false).err(),
            None => None,
        };
        match damage.map_or_else(|| read(document), |error| Err(error.to_string())) {
            Ok((head, object)) => {
                manifests.push(Manifest { source: source.clone(), text: document.to_owned(), head, object });
            }
            Err(reason) => return (manifests, Some(Error::new(path, text, document, reason))),
        }
    }
    (manifests, None)
}
