//! The objects that templates see: `.Values`, `.Chart`, `.Release` and their kin, per chart of the tree.

use std::cell::RefCell;

use tera::{Map, Value, value::Key};

use crate::{chart::Chart, value::quote::quote};

use super::{files, of_values, run::Run};

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
}

/// The charts of a tree, parents before their subcharts.
pub(super) fn scopes(chart: &Chart) -> Vec<ChartScope> {
    fn add(chart: &Chart, path: &str, parent: Option<usize>, into: &mut Vec<ChartScope>) -> usize {
        let mut metadata: Map = chart.metadata.to_value().into_map().unwrap_or_default();
        metadata.insert(Key::Str("IsRoot"), Value::from(parent.is_none()));
        let annotations = metadata.get(&Key::Str("Annotations"));
        let no_annotations = annotations.filter(|_| chart.metadata.annotations.is_none()).cloned();
        let number = into.len();
        into.push(ChartScope {
            name: chart.name().to_owned(),
            chart: Value::from(metadata),
            no_annotations,
            files: files::object(&chart.files),
            parent,
            children: Vec::new(),
            path: path.to_owned(),
        });
        for sub in &chart.dependencies {
            let child = add(sub, &format!("{path}/charts/{}", sub.name()), Some(number), into);
            into[number].children.push(child);
        }
        number
    }
    let mut scopes = Vec::new();
    add(chart, chart.name(), None, &mut scopes);
    scopes
}

/// The one entry of a dot that changes from file to file.
const TEMPLATE: Key<'static> = Key::Str("Template");

/// The dot of each chart of a tree, in one render.
pub(super) struct Roots<'p> {
    scopes: &'p [ChartScope],
    roots: RefCell<Vec<Value>>,
}

impl<'p> Roots<'p> {
    /// The dots, given the values of the whole tree.
    pub(super) fn new(
        run: &Run,
        scopes: &'p [ChartScope],
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
            let children: Map = scope
                .children
                .iter()
                .map(|child| (Key::from(scopes[*child].name.clone()), roots[*child].clone()))
                .collect();
            if let Some(annotations) = &scope.no_annotations {
                run.scope.make_nil(annotations);
            }
            let entries = [
                ("Chart", scope.chart.clone()),
                ("Files", scope.files.clone()),
                ("Release", release.clone()),
                ("Capabilities", capabilities.clone()),
                ("Values", tables[number].clone()),
                ("Subcharts", Value::from(children)),
            ];
            roots[number] =
                Value::from(entries.into_iter().map(|(key, value)| (Key::Str(key), value)).collect::<Map>());
        }
        Self { scopes, roots: RefCell::new(roots) }
    }

    /// The dots themselves.
    pub(super) fn values(&self) -> Vec<Value> {
        self.roots.borrow().clone()
    }

    /// Whether templates have changed nothing but `.Template` of the dots, nor anything of what [`Scope::watch`] watches.
    pub(super) fn are_untouched(&self, run: &Run) -> bool {
        if !run.scope.changed_any() {
            return !run.scope.touched();
        }
        let same = |root: &Value| {
            let (Some(now), Some(first)) = (run.scope.map(root), root.as_map()) else { return false };
            let others = |map: &Map| map.len() - usize::from(map.contains_key(&TEMPLATE));
            others(&now) == others(first)
                && first.iter().filter(|(key, _)| **key != TEMPLATE).all(|(key, value)| {
                    let now = now.get(key).and_then(Value::as_map);
                    now.zip(value.as_map()).is_some_and(|(now, first)| std::ptr::eq(now, first))
                })
        };
        !run.scope.touched() && self.roots.borrow().iter().all(same)
    }

    /// The dot of a chart for one of its files, with `.Template`.
    pub(super) fn dot(&self, run: &Run, chart: usize, file: &str) -> Value {
        let base = format!("{}/templates", self.scopes[chart].path);
        let template = Value::from(
            [("Name", Value::from(file)), ("BasePath", Value::from(base))]
                .into_iter()
                .map(|(key, value)| (Key::Str(key), value))
                .collect::<Map>(),
        );
        run.scope.name_type(&template, of_values::NAME);
        let mut roots = self.roots.borrow_mut();
        if run.scope.changed_any() {
            // A template may have kept the dot somewhere: it stays the same map.
            let _ = run.scope.untouched(|| run.scope.set(&roots[chart], "Template", template));
            return roots[chart].clone();
        }
        // Nothing holds on to the map of the file before.
        let old = std::mem::replace(&mut roots[chart], Value::none());
        let mut map = old.into_map().unwrap_or_default();
        map.insert(TEMPLATE, template);
        roots[chart] = Value::from(map);
        run.scope.name_type(&roots[chart], of_values::NAME);
        roots[chart].clone()
    }
}
