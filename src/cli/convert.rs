//! `pintle convert`: a chart of Go templates as a chart of Tera templates.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Error, Result, anyhow, bail};
use clap::Args;
use tera::Value;

use crate::{
    chart, convert,
    render::{
        GeneratedKey, GeneratedValues, Inputs, KubeVersion, Limits, Program, Release, Rendered, RenderedFile,
    },
    values::{coalesce, process_dependencies},
};

use super::{
    global::Reach,
    out, template,
    usage::{self, Items},
    values::ValueFlags,
};

/// Convert a chart of Go templates into a chart of Tera templates
///
/// Writes a chart into OUT that renders to the same bytes: its templates in Tera's language, archives in charts/ unpacked and
/// converted too, everything else as it is, but for what .helmignore names. Then renders both, with the values given, and fails if they differ.
#[derive(Args)]
pub struct Convert {
    /// The chart: a folder or an archive
    chart: String,
    /// The folder to write to, which must be empty or not be there
    out: PathBuf,
    /// Write into a folder that is not empty
    #[arg(long)]
    force: bool,
    /// Write nothing where a template cannot be converted, instead of leaving it a Go template
    #[arg(long)]
    strict: bool,
    /// Do not render both charts to compare them
    #[arg(long)]
    no_verify: bool,
    /// The release's name when both are rendered
    #[arg(long, default_value = "release-name")]
    name: String,
    /// The release's namespace when both are rendered
    #[arg(short, long, env = "HELM_NAMESPACE")]
    namespace: Option<String>,
    /// The version of Kubernetes that templates see when both are rendered
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// API versions that templates see when both are rendered, beside those of Helm's default. May be repeated
    #[arg(short, long, value_name = "VERSION", value_parser = usage::items)]
    api_versions: Vec<Items>,
    #[command(flatten)]
    values: ValueFlags,
}

/// The files of a chart: their paths inside it, and their contents.
type Files = Vec<(String, Vec<u8>)>;

impl Convert {
    /// Converts, writes and verifies.
    pub fn run(&self) -> Result<()> {
        self.asked_version()?;
        let limits = chart::Limits::default();
        let path = template::located(&self.chart)?;
        let user = self.values.merge().map_err(Error::new)?;
        let filled = |dir: &Path| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        if !self.force && filled(&self.out) {
            bail!("{} is not empty: --force writes into it all the same", self.out.display());
        }
        let files = if path.is_dir() {
            chart::read_folder(&path, &limits)
        } else {
            let file = fs::File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
            chart::unpack_archive(file, &limits)
        }
        .map_err(Error::new)?;
        // What is no chart is not worth converting.
        chart::load_files(files.clone(), &limits).map_err(Error::new)?;
        let converted = convert::files(files.clone(), &limits).map_err(Error::new)?;
        for kept in &converted.kept {
            let convert::Kept { file, line, what } = kept;
            out::complain(&format!("{file}:{line}: not converted, it stays a Go template: {what}"));
        }
        if self.strict && !converted.kept.is_empty() {
            bail!("{} templates cannot be converted", converted.kept.len());
        }
        write(&self.out, &converted.files)?;
        let count = converted.converted.len();
        let kept = match converted.kept.len() {
            0 => String::new(),
            kept => format!(", {kept} left as they are"),
        };
        out::print(&format!("{count} templates converted{kept}: {}\n", self.out.display()));
        if self.no_verify { Ok(()) } else { self.verify(files, converted.files, &user) }
    }

    fn asked_version(&self) -> Result<Option<KubeVersion>> {
        usage::kube_version(self.kube_version.as_deref())
    }

    fn verify(&self, old: Files, new: Files, user: &Value) -> Result<()> {
        let kept = Kept::default();
        let before = self.render(old, user, Arc::new(kept.clone()));
        if let Ok(before) = &before {
            kept.fill(before);
        }
        let after = self.render(new, user, Arc::new(kept));
        match (before, after) {
            (Ok(before), Ok(after)) => {
                if let Some(difference) = difference(&before.files, &after.files) {
                    bail!("the converted chart renders otherwise: {difference}");
                }
                let files = before.files.len();
                out::print(&format!("both charts render to the same bytes ({files} files)\n"));
                Ok(())
            }
            (Err(before), Err(_)) => {
                out::complain(&format!(
                    "nothing was compared, for the chart cannot be rendered with these values: {before:#}"
                ));
                Ok(())
            }
            (Ok(_), Err(after)) => bail!("the converted chart fails where the chart does not: {after:#}"),
            (Err(before), Ok(_)) => {
                bail!("the converted chart renders where the chart does not: {before:#}")
            }
        }
    }

    fn render(&self, files: Files, user: &Value, generated: Arc<dyn GeneratedValues>) -> Result<Rendered> {
        let chart = chart::load_files(files, &chart::Limits::default()).map_err(Error::new)?;
        let chart = process_dependencies(&chart, user)
            .map_err(|error| anyhow!("chart dependencies processing failed: {error}"))?;
        let values = coalesce(&chart, user).map_err(Error::new)?;
        let release = Release::install(&*self.name, Reach::default().namespace(self.namespace.as_deref()));
        let program = Program::new(&chart).map_err(Error::new)?;
        // However long it takes.
        let limits = Limits { time: Duration::from_secs(3600), ..Limits::default() };
        let capabilities = Arc::new(usage::capabilities(self.asked_version()?, &self.api_versions));
        let inputs = Inputs { generated, limits, capabilities, ..Inputs::offline(values, release) };
        program.render(&inputs).map_err(Error::new)
    }
}

fn write(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    for (name, data) in files {
        let path = dir.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        fs::write(&path, data).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The first difference between what two charts render to.
fn difference(before: &[RenderedFile], after: &[RenderedFile]) -> Option<String> {
    let names = |files: &[RenderedFile]| files.iter().map(|file| Arc::clone(&file.name)).collect::<Vec<_>>();
    let after_by_name: BTreeMap<_, _> = after.iter().map(|file| (&*file.name, file)).collect();
    for file in before {
        let Some(other) = after_by_name.get(&*file.name) else {
            return Some(format!("{} is missing", file.name));
        };
        if file.data == other.data {
            continue;
        }
        let (old, new) = (file.text(), other.text());
        let (mut old, mut new) = (old.split('\n'), new.split('\n'));
        for line in 1.. {
            match (old.next(), new.next()) {
                (None, None) => break,
                (one, two) if one != two => {
                    let shown =
                        |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("{line:?}"));
                    return Some(format!("{}, line {line}: {} was {}", file.name, shown(two), shown(one)));
                }
                _ => {}
            }
        }
    }
    (names(before) != names(after)).then(|| "the order of the files".to_owned())
}

/// The generated values of the first render, for the second one, whose templates have other names.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<HashMap<Called, VecDeque<Value>>>>);

/// A function, and a digest of its arguments.
type Called = (&'static str, String);

impl Kept {
    fn fill(&self, rendered: &Rendered) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for generated in &rendered.generated {
            let key = (generated.key.function, generated.key.arguments.clone());
            kept.entry(key).or_default().push_back(generated.value.clone());
        }
    }
}

impl GeneratedValues for Kept {
    fn kept(&self, key: &GeneratedKey) -> Option<Value> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_mut(&(key.function, key.arguments.clone()))?.pop_front()
    }
}
