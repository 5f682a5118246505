//! Writes `src/layout.txt`, the functions that run, for `build.rs` to have them linked side by side: `make layout`, or
//! `PINTLE_LAYOUT=off cargo bench --bench layout -- write [FILE…]`. Needs valgrind and nm.
//!
//! It renders the charts of `charts/` and every chart below the folder that the environment variable `PINTLE_CHARTS` names
//! under valgrind's callgrind, which tells what ran. A `FILE` is callgrind's of another process of the same binary, such as the
//! operator's, with `--demangle=no`. Names that the file has already are kept, behind the others: what is inlined differs between builds.
#![allow(clippy::print_stdout, reason = "it says what it does")]

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    env, fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

/// The program.
const PINTLE: &str = env!("CARGO_BIN_EXE_pintle");

/// Of the functions that one name stands for, so much must run, in hundredths of their bytes, for them to be among those that are
/// close together.
const DENSE: u64 = 30;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let files = match arguments.as_slice() {
        [command, files @ ..] if command == "write" => files,
        _ => {
            println!("`PINTLE_LAYOUT=off cargo bench --bench layout -- write` writes src/layout.txt");
            return Ok(());
        }
    };
    // Of what is linked side by side already, callgrind would see nothing.
    let off = env::var_os("PINTLE_LAYOUT").is_some_and(|layout| layout == "off");
    ensure!(off, "PINTLE_LAYOUT=off is not set: see `make layout`");
    let mut ran = Ran::default();
    for file in files {
        ran.add(&fs::read_to_string(file).with_context(|| file.clone())?);
    }
    let folder = tempfile::tempdir()?;
    for chart in charts()? {
        for command in ["template", "lint"] {
            println!("{command} {}", chart.display());
            let out = folder.path().join("callgrind");
            run_observed(command, &chart, &out)?;
            ran.add(&fs::read_to_string(&out).context("valgrind wrote nothing")?);
            // The next run shall not be taken for this one.
            fs::remove_file(&out)?;
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/layout.txt");
    let layout = Layout::of(&ran, &sizes()?);
    println!("{layout}");
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, layout.text(&before))?;
    Ok(())
}

/// The charts at hand.
fn charts() -> Result<Vec<PathBuf>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("charts");
    let given = env::var_os("PINTLE_CHARTS").map(PathBuf::from);
    let mut found = Vec::new();
    for folder in [Some(own), given].into_iter().flatten() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.join("Chart.yaml").exists() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a command over a chart, whether that ends well or not.
fn run_observed(command: &str, chart: &Path, out: &Path) -> Result<()> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--demangle=no"]);
    valgrind.arg(format!("--callgrind-out-file={}", out.display()));
    valgrind.arg(PINTLE).arg(command).arg(chart).stdout(Stdio::null()).stderr(Stdio::null());
    valgrind.status().context("valgrind")?;
    Ok(())
}

/// In how many processes each function of the program ran.
#[derive(Default)]
struct Ran(HashMap<String, u32>);

impl Ran {
    /// Adds those of a file of callgrind's: lines `ob=` say which program or library the functions after them are of, lines
    /// `fn=` name one. A name is written once, and after that by its number.
    fn add(&mut self, file: &str) {
        let (mut programs, mut names) = (HashMap::new(), HashMap::new());
        let mut own = false;
        let mut found = BTreeSet::new();
        for line in file.lines() {
            let Some((key, value)) = line.split_once("=(") else { continue };
            let Some((number, name)) = value.split_once(')') else { continue };
            let known = match key {
                "ob" | "cob" => &mut programs,
                "fn" | "cfn" => &mut names,
                _ => continue,
            };
            if let Some(name) = name.strip_prefix(' ') {
                known.insert(number, name);
            }
            let Some(name) = known.get(number) else { continue };
            match key {
                "ob" => own = Path::new(name).file_name() == Path::new(PINTLE).file_name(),
                // One of a recursion ends with a quote and its depth.
                "fn" if own => drop(found.insert(name.split('\'').next().unwrap_or(name).to_owned())),
                _ => {}
            }
        }
        for name in found {
            *self.0.entry(name).or_default() += 1;
        }
    }
}

/// The sizes of the program's functions.
fn sizes() -> Result<HashMap<String, u64>> {
    let nm = Command::new("nm").args(["--print-size", "--defined-only", PINTLE]).output().context("nm")?;
    ensure!(nm.status.success(), "nm: {}", String::from_utf8_lossy(&nm.stderr));
    let mut sizes = HashMap::new();
    for line in String::from_utf8_lossy(&nm.stdout).lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        if let [_, size, "t" | "T" | "w" | "W", name] = fields[..] {
            *sizes.entry(name.to_owned()).or_default() += u64::from_str_radix(size, 16)?;
        }
    }
    Ok(sizes)
}

/// What stands in the file.
struct Layout {
    dense: Vec<String>,
    sparse: Vec<String>,
    /// The bytes of all functions of the names of either, and of those that ran.
    bytes: [(u64, u64); 2],
}

impl Layout {
    fn of(ran: &Ran, sizes: &HashMap<String, u64>) -> Self {
        #[derive(Default)]
        struct Named {
            bytes: u64,
            run: u64,
            runs: u32,
        }
        let mut by_name: BTreeMap<String, Named> = BTreeMap::new();
        for (function, bytes) in sizes {
            let named = by_name.entry(pattern(function)).or_default();
            let runs = ran.0.get(function).copied().unwrap_or_default();
            named.bytes += bytes;
            named.run += if runs > 0 { *bytes } else { 0 };
            named.runs = named.runs.max(runs);
        }
        let mut run: Vec<(String, Named)> = by_name.into_iter().filter(|(_, named)| named.run > 0).collect();
        // What runs in every process comes first.
        run.sort_by_key(|(_, named)| Reverse(named.runs));
        let (dense, sparse): (Vec<_>, Vec<_>) =
            run.into_iter().partition(|(_, named)| named.run * 100 >= named.bytes * DENSE);
        let bytes = [&dense, &sparse].map(|part| {
            part.iter().fold((0, 0), |(all, run), (_, named)| (all + named.bytes, run + named.run))
        });
        let names = |part: Vec<(String, Named)>| part.into_iter().map(|(name, _)| name).collect();
        Self { dense: names(dense), sparse: names(sparse), bytes }
    }

    /// The file's text; `before` is what it was.
    fn text(&self, before: &str) -> String {
        let mut text = String::from(
            "# The functions that run, without what the compiler adds to their names. `make layout` writes this; build.rs says what for.\n",
        );
        let found = || self.dense.iter().chain(&self.sparse).map(String::as_str);
        let known: HashSet<&str> = found().collect();
        let before = before.lines().filter(|line| !line.starts_with('#') && !known.contains(line));
        for name in found().chain(before) {
            text.push_str(name);
            text.push('\n');
        }
        text
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((all, run), names) in self.bytes.iter().zip([&self.dense, &self.sparse]) {
            writeln!(f, "{} names, {} KiB, of which {} KiB ran", names.len(), all >> 10, run >> 10)?;
        }
        Ok(())
    }
}

/// A function's name without what the compiler adds to it: the hash that tells functions of one name apart, and what link-time
/// optimisation appends. In names of the newer form the hashes of crates are `*`.
fn pattern(function: &str) -> String {
    let function = function.split(".llvm.").next().unwrap_or(function);
    if let Some((name, _)) = function.rsplit_once("17h").filter(|_| function.starts_with("_ZN")) {
        return name.to_owned();
    }
    if !function.starts_with("_R") {
        return function.to_owned();
    }
    let hash = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut parts = function.split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        pattern.push_str("Cs");
        match part.split_once('_').filter(|(before, _)| hash(before)) {
            Some((_, rest)) => pattern.extend(["*_", rest]),
            None => pattern.push_str(part),
        }
    }
    pattern
}
