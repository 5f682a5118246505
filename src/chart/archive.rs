//! Charts in gzipped tar archives.

use std::fs::File as Opened;
use std::io::{self, Read, Seek as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::{Error, system_text};
use super::files::{self, Budget, Raw};
use super::text::quote;
use super::{Chart, Limits, decode};

/// Loads the chart archive at `path`.
pub(super) fn load(path: &Path, limits: &Limits) -> Result<Chart, Error> {
    let mut file = Opened::open(path).map_err(|e| Error::io("open", path, &e))?;
    ensure_archive(path, &mut file)?;
    let budget = &mut Budget::new(limits);
    let files = unpack(file, budget).map_err(|e| match e {
        Unpack::NotGzip => Error::new(format!(
            "file '{}' does not appear to be a valid chart file (details: gzip: invalid header)",
            path.display()
        )),
        // Helm says no more than this; the cause is ours.
        Unpack::Other(e) => e.within("unable to load chart archive"),
    })?;
    check_version(&files)?;
    files::assemble(files, budget)
}

/// Loads the chart that a reader of a gzipped tar archive gives.
pub fn load_archive(reader: impl Read, limits: &Limits) -> Result<Chart, Error> {
    let budget = &mut Budget::new(limits);
    let files = unpack(reader, budget).map_err(|e| match e {
        Unpack::NotGzip => {
            Error::new("stream does not appear to be a valid chart file (details: gzip: invalid header)")
        }
        Unpack::Other(e) => e.within("unable to load chart archive"),
    })?;
    check_version(&files)?;
    files::assemble(files, budget)
}

/// The files of an archive: their paths inside the chart, and their contents. No path leads out of the chart.
pub fn unpack_archive(reader: impl Read, limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let files = read(reader, &mut Budget::new(limits))?;
    Ok(files.into_iter().map(|file| (file.name, file.data)).collect())
}

/// The files of an archive that is itself in a chart.
pub(super) fn read(reader: impl Read, budget: &mut Budget<'_>) -> Result<Vec<Raw>, Error> {
    unpack(reader, budget).map_err(|e| match e {
        Unpack::NotGzip => Error::new("gzip: invalid header"),
        Unpack::Other(e) => e,
    })
}

fn check_version(files: &[Raw]) -> Result<(), Error> {
    let chart = files.iter().find(|f| f.name == "Chart.yaml");
    let chart = chart.ok_or_else(|| Error::new("unable to detect chart version, no Chart.yaml found"))?;
    decode::check_api_version(&chart.data)
}

/// Says what a file is that is no archive, and hints at a values file given in the place of a chart.
fn ensure_archive(path: &Path, file: &mut Opened) -> Result<(), Error> {
    let mut start = Vec::with_capacity(512);
    let cannot =
        |e: io::Error| Error::new(format!("file '{}' cannot be read: {}", path.display(), system_text(&e)));
    file.take(512).read_to_end(&mut start).map_err(cannot)?;
    file.rewind().map_err(cannot)?;
    if start.starts_with(b"\x1f\x8b\x08") {
        return Ok(());
    }
    let name = path.display();
    if path.extension().is_some_and(|e| e == "yml" || e == "yaml") {
        return Err(Error::new(format!(
            "file '{name}' seems to be a YAML file, but expected a gzipped archive"
        )));
    }
    // Helm sniffs a buffer of 512 bytes, zeros included.
    let short = start.len() < 512;
    let binary = |b: &u8| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    let kind = if start.starts_with(b"PK\x03\x04") {
        "application/zip"
    } else if start.starts_with(b"%PDF-") {
        "application/pdf"
    } else if start.starts_with(b"\x89PNG\r\n\x1a\n") {
        "image/png"
    } else if start.starts_with(b"\xef\xbb\xbf") || !(short || start.iter().any(binary)) {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    };
    Err(Error::new(format!("file '{name}' does not appear to be a gzipped archive; got '{kind}'")))
}

/// Where a tar header has the type of its entry.
const TYPE_AT: usize = 156;

enum Unpack {
    NotGzip,
    Other(Error),
}

impl From<Error> for Unpack {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Reads all files of an archive, within the limits, refusing paths that lead out of the chart.
///
/// A link in an archive is a file without content, as it is to Helm: nothing is followed.
fn unpack(reader: impl Read, budget: &mut Budget<'_>) -> Result<Vec<Raw>, Unpack> {
    let mut reader = reader;
    let mut start = Vec::with_capacity(10);
    reader.by_ref().take(10).read_to_end(&mut start).map_err(|e| Error::new(system_text(&e)))?;
    match start.as_slice() {
        [] => return Err(Error::new("EOF").into()),
        [0x1f, 0x8b, 8, ..] if start.len() == 10 => {}
        short if short.len() < 10 => return Err(Error::new("unexpected EOF").into()),
        _ => return Err(Unpack::NotGzip),
    }
    let mut archive = tar::Archive::new(MultiGzDecoder::new(start.as_slice().chain(reader)));
    let broken = |e: io::Error| {
        Unpack::Other(Error::new(match e.kind() {
            io::ErrorKind::UnexpectedEof => "unexpected EOF".to_owned(),
            _ if e.to_string().contains("unexpected EOF") => "unexpected EOF".to_owned(),
            // What the library says quotes the archive, which may be anything.
            _ => "archive/tar: invalid tar header".to_owned(),
        }))
    };
    let maximum = budget.limits.chart_bytes;
    let mut left = maximum.min(budget.bytes);
    let too_large = || Error::new(format!("decompressed chart is larger than the maximum size {maximum}"));
    let mut files = Vec::new();
    for entry in archive.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        if budget.entries == 0 {
            let most = budget.limits.entries;
            return Err(
                Error::new(format!("chart archives have more than the maximum of {most} entries")).into()
            );
        }
        budget.entries -= 1;
        let kind = entry.header().entry_type();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mode = entry.header().mode().unwrap_or(0);
        // Archives of old have no type for folders, but a slash at the end.
        let old_folder = entry.header().as_bytes()[TYPE_AT] == 0 && name.ends_with('/');
        if kind.is_dir() || old_folder || mode & 0o170_000 == 0o040_000 {
            continue;
        }
        if kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let name = inner_path(&name)?;
        let size = entry.size();
        if size > left {
            return Err(too_large().into());
        }
        let mut data = Vec::new();
        // The header's size is a claim: memory is taken only for what is there.
        let written = entry.take(left).read_to_end(&mut data).map_err(broken)? as u64;
        left -= written;
        budget.bytes -= written;
        if left == 0 {
            return Err(too_large().into());
        }
        files.push(Raw::new(name, data));
    }
    if files.is_empty() {
        return Err(Error::new("no files in chart archive").into());
    }
    Ok(files)
}

/// The path inside the chart of an entry: without its first part, cleaned, and surely inside.
fn inner_path(name: &str) -> Result<String, Error> {
    // An archive made on Windows may have backslashes.
    let delimiter = if name.contains('\\') { '\\' } else { '/' };
    let (first, rest) = name.split_once(delimiter).unwrap_or((name, ""));
    let inner = rest.replace(delimiter, "/");
    if inner.starts_with('/') {
        return Err(Error::new("chart illegally contains absolute paths"));
    }
    let inner = clean(&inner);
    if inner == "." {
        return Err(Error::new(format!(
            "chart illegally contains content outside the base directory: {}",
            quote(name)
        )));
    }
    if inner.starts_with("..") {
        return Err(Error::new("chart illegally references parent directory"));
    }
    let mut letters = inner.chars();
    if letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.as_str().starts_with(":/") {
        return Err(Error::new("chart contains illegally named files"));
    }
    if first == "Chart.yaml" {
        return Err(Error::new("chart yaml not in base directory"));
    }
    Ok(inner)
}

/// Go's `path.Clean` of a relative path.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() { ".".into() } else { parts.join("/") }
}
