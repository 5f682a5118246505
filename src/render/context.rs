//! The objects that templates see: `.Values`, `.Chart`, `.Release` and their kin, per chart of the tree.

use std::{cell::RefCell, sync::Arc};

use tera::{Map, Value, value::Key};

use crate::{
    chart::{self, Chart, Unread},
    value::quote::quote,
};

use super::{files, of_values, program::output_name, run::Run};

/// Which release a chart is rendered for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its revision, from 1.
    pub revision: i64,
    /// Whether it is being installed.
    pub is_install: bool,
    /// Whether it is being upgraded.
    pub is_upgrade: bool,
}

impl Release {
    /// Refuses a name that no release may have (Helm's `ValidateReleaseName`).
    ///
    /// # Errors
    /// Helm's text.
    pub fn check_name(name: &str) -> Result<(), String> {
        let label = |part: &str| {
            let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let bytes = part.as_bytes();
            !bytes.is_empty()
                && bytes.iter().all(|byte| inner(*byte) || *byte == b'-')
                && inner(bytes[0])
                && inner(bytes[bytes.len() - 1])
        };
        let reason = if name.is_empty() {
            "no name provided"
        } else if name.len() > 53 || !name.split('.').all(label) {
            "invalid release name, must match regex ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ \
             and the length must not be longer than 53"
        } else {
            return Ok(());
        };
        Err(format!("release name {}: {reason}", quote(name.as_bytes())))
    }

    /// The first revision of a release.
    pub fn install(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            namespace: namespace.into(),
            revision: 1,
            is_install: true,
            is_upgrade: false,
        }
    }

    fn object(&self) -> Value {
        let entries = [
            ("Name", Value::from(self.name.as_str())),
            ("Namespace", Value::from(self.namespace.as_str())),
            ("IsUpgrade", Value::from(self.is_upgrade)),
            ("IsInstall", Value::from(self.is_install)),
            ("Revision", Value::from(self.revision)),
            ("Service", Value::from("Helm")),
        ];
        Value::from(entries.into_iter().map(|(key, value)| (Key::Str(key), value)).collect::<Map>())
    }
}

/// What a chart's templates see of the chart itself: the same in every render.
#[derive(Clone)]
pub(super) struct ChartScope {
    /// The path of the chart: `parent/charts/child`.
    pub path: String,
    name: String,
    chart: Value,
    /// The annotations, where Chart.yaml has none: a nil map in Helm.
    no_annotations: Option<Value>,
    files: Value,
    parent: Option<usize>,
    children: Vec<usize>,
    /// The numbers of its files among all that are rendered.
    rendered: Vec<usize>,
}

impl ChartScope {
    /// The same with nothing left of `unread`.
    ///
    /// # Errors
    /// When a file cannot be read (any more).
    pub(super) fn read_whole(&self, unread: &[Unread]) -> Result<Self, chart::Error> {
        Ok(Self { files: files::read_whole(&self.files, unread)?, ..self.clone() })
    }
}

/// The charts of a tree, parents before their subcharts. Their files that were left unread are put into `unread`.
pub(super) fn scopes(chart: &Chart, unread: &mut Vec<Unread>) -> Vec<ChartScope> {
    fn add(
        chart: &Chart,
        path: &str,
        parent: Option<usize>,
        into: &mut Vec<ChartScope>,
        unread: &mut Vec<Unread>,
    ) -> usize {
        let mut metadata: Map = chart.metadata.to_value().into_map().unwrap_or_default();
        metadata.insert(Key::Str("IsRoot"), Value::from(parent.is_none()));
        let annotations = metadata.get(&Key::Str("Annotations"));
        let no_annotations = annotations.filter(|_| chart.metadata.annotations.is_none()).cloned();
        let number = into.len();
        into.push(ChartScope {
            name: chart.name().to_owned(),
            chart: Value::from(metadata),
            no_annotations,
            files: files::object(chart, unread),
            parent,
            children: Vec::new(),
            rendered: Vec::new(),
            path: path.to_owned(),
        });
        for sub in &chart.dependencies {
            let child = add(sub, &format!("{path}/charts/{}", sub.name()), Some(number), into, unread);
            into[number].children.push(child);
        }
        number
    }
    let mut scopes = Vec::new();
    add(chart, chart.name(), None, &mut scopes, unread);
    scopes
}

/// Notes which files are rendered for which chart, in their order.
pub(super) fn note_files(scopes: &mut [ChartScope], files: &[(Arc<str>, usize)]) {
    for (number, (_, chart)) in files.iter().enumerate() {
        scopes[*chart].rendered.push(number);
    }
}

/// The entries of a dot that change from file to file.
const TEMPLATE: &str = "Template";
const SUBCHARTS: &str = "Subcharts";

/// The dot of each chart of a tree, in one render.
///
/// In Helm a dot is one map, to which `.Template` of each file is set in turn. So `.Subcharts.sub.Template` is that of the file of
/// `sub` which was rendered last.
pub(super) struct Roots<'p> {
    scopes: &'p [ChartScope],
    files: &'p [(Arc<str>, usize)],
    dots: RefCell<Vec<Dot>>,
}

/// The dot of a chart.
struct Dot {
    value: Value,
    /// The file whose `.Template` it has.
    file: Option<usize>,
    /// Whether its `.Subcharts` are no longer the dots of its subcharts.
    stale: bool,
}

impl<'p> Roots<'p> {
    /// The dots, given the values of the whole tree.
    pub(super) fn new(
        run: &Run,
        (scopes, files): (&'p [ChartScope], &'p [(Arc<str>, usize)]),
        values: &Value,
        release: &Release,
        capabilities: &Value,
    ) -> Self {
        let release = release.object();
        let mut tables: Vec<Value> = Vec::with_capacity(scopes.len());
        for scope in scopes {
            let of_parent = scope.parent.and_then(|parent| {
                let table = tables[parent].as_map()?.get(&Key::Str(&scope.name))?;
                // What is no table is no values. To the parent it is a map as any other.
                table.is_map().then(|| run.scope.retyped(table, Some(of_values::NAME)))
            });
            let table = match scope.parent {
                None => values.clone(),
                Some(_) => of_parent.unwrap_or_else(|| Value::from(Map::new())),
            };
            run.scope.name_type(&table, of_values::NAME);
            tables.push(table);
        }
        // Children come after their parents, and a parent holds its children.
        let mut roots = vec![Value::none(); scopes.len()];
        for (number, scope) in scopes.iter().enumerate().rev() {
            let children = subcharts(run, scopes, number, |child| &roots[child]);
            if let Some(annotations) = &scope.no_annotations {
                run.scope.make_nil(annotations);
            }
            let entries = [
                ("Chart", scope.chart.clone()),
                ("Files", scope.files.clone()),
                ("Release", release.clone()),
                ("Capabilities", capabilities.clone()),
                ("Values", tables[number].clone()),
                (SUBCHARTS, children),
            ];
            roots[number] =
                Value::from(entries.into_iter().map(|(key, value)| (Key::Str(key), value)).collect::<Map>());
            run.scope.name_type(&roots[number], of_values::NAME);
        }
        let dots = roots.into_iter().map(|value| Dot { value, file: None, stale: false }).collect();
        Self { scopes, files, dots: RefCell::new(dots) }
    }

    /// The dots themselves.
    pub(super) fn values(&self) -> Vec<Value> {
        self.dots.borrow().iter().map(|dot| dot.value.clone()).collect()
    }

    /// Whether templates have changed nothing but `.Template` of the dots, nor anything of what [`Scope::watch`] watches.
    pub(super) fn are_untouched(&self, run: &Run) -> bool {
        const TEMPLATE_KEY: Key<'static> = Key::Str(TEMPLATE);
        if !run.scope.changed_any() {
            return !run.scope.touched();
        }
        let same = |root: &Value| {
            let (Some(now), Some(first)) = (run.scope.map(root), root.as_map()) else { return false };
            let others = |map: &Map| map.len() - usize::from(map.contains_key(&TEMPLATE_KEY));
            others(&now) == others(first)
                && first.iter().filter(|(key, _)| **key != TEMPLATE_KEY).all(|(key, value)| {
                    let now = now.get(key).and_then(Value::as_map);
                    now.zip(value.as_map()).is_some_and(|(now, first)| std::ptr::eq(now, first))
                })
        };
        !run.scope.touched() && self.dots.borrow().iter().all(|dot| same(&dot.value))
    }

    /// The dot for a file, by its number, as it is once all files before it were rendered.
    pub(super) fn dot(&self, run: &Run, number: usize) -> Value {
        let chart = self.files[number].1;
        self.follow(run, chart, number);
        self.set_file(run, chart, Some(number));
        self.dots.borrow()[chart].value.clone()
    }

    /// Sees to it that the subcharts of a chart are as they are when a file is rendered.
    fn follow(&self, run: &Run, chart: usize, number: usize) {
        for child in &self.scopes[chart].children {
            self.follow(run, *child, number);
            let rendered = &self.scopes[*child].rendered;
            let before = rendered.partition_point(|file| *file < number);
            let last = before.checked_sub(1).map(|at| rendered[at]);
            if self.dots.borrow()[*child].file != last {
                self.set_file(run, *child, last);
            }
        }
        let stale = std::mem::take(&mut self.dots.borrow_mut()[chart].stale);
        if stale {
            let children = {
                let dots = self.dots.borrow();
                subcharts(run, self.scopes, chart, |child| &dots[child].value)
            };
            run.scope.watch_as_well(&children);
            self.set(run, chart, SUBCHARTS, Some(children));
        }
    }

    /// Sets `.Template` of a chart's dot.
    fn set_file(&self, run: &Run, chart: usize, number: Option<usize>) {
        let template = number.map(|number| {
            let name = output_name(&self.files[number].0);
            let base = format!("{}/templates", self.scopes[chart].path);
            let entries = [("Name", Value::from(&*name)), ("BasePath", Value::from(base))];
            let template =
                Value::from(entries.into_iter().map(|(key, value)| (Key::Str(key), value)).collect::<Map>());
            run.scope.name_type(&template, of_values::NAME);
            template
        });
        self.set(run, chart, TEMPLATE, template);
        self.dots.borrow_mut()[chart].file = number;
    }

    /// Sets an entry of a chart's dot, or takes it away.
    fn set(&self, run: &Run, chart: usize, key: &'static str, entry: Option<Value>) {
        let mut dots = self.dots.borrow_mut();
        let value = &mut dots[chart].value;
        if run.scope.changed_any() {
            // A template may have kept the dot somewhere: it stays the same map.
            let _ = run.scope.untouched(|| match entry {
                Some(entry) => run.scope.set(value, key, entry),
                None => run.scope.unset(value, key),
            });
            return;
        }
        let old = std::mem::replace(value, Value::none());
        let mut map = old.into_map().unwrap_or_default();
        match entry {
            Some(entry) => map.insert(Key::Str(key), entry),
            None => map.remove(&Key::Str(key)),
        };
        *value = Value::from(map);
        run.scope.name_type(value, of_values::NAME);
        if let Some(parent) = self.scopes[chart].parent {
            dots[parent].stale = true;
        }
    }
}

/// `.Subcharts` of a chart, where the dots of its subcharts have no type of their own.
fn subcharts<'d>(run: &Run, scopes: &[ChartScope], chart: usize, dot: impl Fn(usize) -> &'d Value) -> Value {
    let entry =
        |child: &usize| (Key::from(scopes[*child].name.clone()), run.scope.retyped(dot(*child), None));
    Value::from(scopes[chart].children.iter().map(entry).collect::<Map>())
}
