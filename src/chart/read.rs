//! Reading the files of a folder, on two threads if there are many.

use std::fs::File as Opened;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::threads;

use super::error::Error;
use super::files::Raw;
use super::unread::{is_needed, within_its_chart};

/// So many files are worth a second thread.
const MANY: usize = 64;

/// A file that was found.
pub(super) struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// Its path inside the chart.
    pub name: String,
}

impl Found {
    /// Reads it, no further than to the limit, even if it grows meanwhile; none if there is more than that. The length is with
    /// it: of a file that is left unread, nothing else is.
    fn read(&self, limit: u64, lazily: bool) -> Result<Option<(Raw, u64)>, Error> {
        let path = &self.path;
        let within = |e: Error| e.within(&format!("error reading {}", self.name));
        let file = Opened::open(path).map_err(|e| within(Error::io("open", path, &e)))?;
        let length = file.metadata().map_err(|e| within(Error::io("stat", path, &e)))?.len();
        if length > limit {
            return Ok(None);
        }
        if lazily && !is_needed(&self.name) {
            return Ok(Some((Raw::unread(self.name.clone(), path.clone()), length)));
        }
        let mut data = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.take(limit.saturating_add(1))
            .read_to_end(&mut data)
            .map_err(|e| within(Error::io("read", path, &e)))?;
        let length = data.len() as u64;
        Ok((length <= limit).then(|| (Raw::new(self.name.clone(), data), length)))
    }
}

/// Reads files, no more than `limit` bytes of them all; `lazily` those that are needed ([`is_needed`]), whose bytes are counted with
/// those of the others.
///
/// # Errors
/// The first one in the order of the files.
pub(super) fn read_all(files: Vec<Found>, limit: u64, lazily: bool) -> Result<Vec<Raw>, Error> {
    if files.len() >= MANY
        && let Some(read) = on_two_threads(&files, limit, lazily)
    {
        return Ok(read);
    }
    let mut left = limit;
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let Some((raw, length)) = file.read(left, lazily)? else {
            return Err(Error::new(format!("chart exceeds maximum decompressed size of {limit} bytes"))
                .within(&format!("error reading {}", file.name)));
        };
        left -= length;
        read.push(raw);
    }
    Ok(read)
}

/// Reads files on two threads, values.yaml first, and reads the values as well. None if anything is wrong: then they are to be
/// read in their order, to tell what is wrong first.
fn on_two_threads(files: &[Found], limit: u64, lazily: bool) -> Option<Vec<Raw>> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|number| !is_values(&files[*number].name));
    let (bytes, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let read = threads::map(&order, |number| {
        let file = &files[*number];
        let read =
            if failed.load(Ordering::Relaxed) { None } else { file.read(limit, lazily).ok().flatten() };
        let within = |(_, length): &(Raw, u64)| bytes.fetch_add(*length, Ordering::Relaxed) + length <= limit;
        let Some((mut raw, _)) = read.filter(within) else {
            failed.store(true, Ordering::Relaxed);
            return None;
        };
        if is_values(&file.name) {
            raw.read_values();
        }
        Some((*number, raw))
    });
    let mut read: Vec<(usize, Raw)> = read.into_iter().collect::<Option<_>>()?;
    read.sort_unstable_by_key(|(number, _)| *number);
    Some(read.into_iter().map(|(_, raw)| raw).collect())
}

/// Whether a file is the values.yaml of the chart or of one within it.
fn is_values(name: &str) -> bool {
    within_its_chart(name) == "values.yaml"
}
