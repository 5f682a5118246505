//! From the text of a schema to nodes.

mod keywords;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::{Arc, LazyLock};

use super::json::{Json, parse};
use super::node::{Draft, Id, Items, Node};
use super::plain;
use super::url::{self, split, token};
use super::validate;
use crate::value::quote::quote;
use crate::values::DEBUG;
use keywords::Read;

/// The name under which Helm's library knows a chart's schema.
pub(super) const LOCATION: &str = "file:///values.schema.json";

/// A compiled schema.
pub(super) struct Schema {
    pub(super) nodes: Vec<Node>,
    pub(super) root: Id,
}

impl Schema {
    /// Compiles a chart's schema.
    pub(super) fn compile(text: &[u8]) -> Result<Self, String> {
        let document = parse(text)?;
        let shown = || String::from_utf8_lossy(text);
        tracing::debug!(target: DEBUG, schema = %shown(), "unmarshalled JSON schema");
        let mut compiler = Compiler { assert_formats: false, ..Compiler::default() };
        compiler.compile(LOCATION, Some(document))
    }

    /// The schema that schemas of a draft must fit.
    fn of_schemas(draft: Draft) -> &'static Self {
        static DRAFT4: LazyLock<Schema> = LazyLock::new(|| meta(Draft::Draft4));
        static DRAFT6: LazyLock<Schema> = LazyLock::new(|| meta(Draft::Draft6));
        static DRAFT7: LazyLock<Schema> = LazyLock::new(|| meta(Draft::Draft7));
        static DRAFT2019: LazyLock<Schema> = LazyLock::new(|| meta(Draft::Draft2019));
        static DRAFT2020: LazyLock<Schema> = LazyLock::new(|| meta(Draft::Draft2020));
        fn meta(draft: Draft) -> Schema {
            let mut compiler = Compiler { assert_formats: true, ..Compiler::default() };
            compiler.compile(draft.url(), None).expect("the specification's own schemas are sound")
        }
        match draft {
            Draft::Draft4 => &DRAFT4,
            Draft::Draft6 => &DRAFT6,
            Draft::Draft7 => &DRAFT7,
            Draft::Draft2019 => &DRAFT2019,
            Draft::Draft2020 => &DRAFT2020,
        }
    }
}

/// A schema within a document that has an identity of its own.
#[derive(Clone, Debug)]
struct Resource {
    pointer: String,
    id: String,
    draft: Draft,
    anchors: BTreeMap<String, String>,
    dynamic_anchors: Vec<String>,
}

struct Document {
    json: Arc<Json>,
    resources: BTreeMap<String, Resource>,
    processed: HashSet<String>,
}

impl Document {
    /// The resource that a place is in.
    fn resource(&self, pointer: &str) -> &Resource {
        let mut pointer = pointer;
        loop {
            if let Some(found) = self.resources.get(pointer) {
                return found;
            }
            let Some(slash) = pointer.rfind('/') else { return &self.resources[""] };
            pointer = &pointer[..slash];
        }
    }
}

#[derive(Default)]
struct Compiler {
    assert_formats: bool,
    documents: HashMap<String, Document>,
    nodes: Vec<Node>,
    index: HashMap<(String, String), Id>,
    /// Where each node is to be read.
    places: Vec<(String, String)>,
}

/// A document that is known without loading anything: the specification's own.
fn known(url: &str) -> Option<&'static serde_json::Value> {
    use referencing::meta;
    let path = url
        .strip_prefix("http://json-schema.org/")
        .or_else(|| url.strip_prefix("https://json-schema.org/"))?;
    Some(match path {
        "draft-04/schema" => &meta::DRAFT4,
        "draft-06/schema" => &meta::DRAFT6,
        "draft-07/schema" => &meta::DRAFT7,
        "draft/2019-09/schema" => &meta::DRAFT201909,
        "draft/2019-09/meta/core" => &meta::DRAFT201909_CORE,
        "draft/2019-09/meta/applicator" => &meta::DRAFT201909_APPLICATOR,
        "draft/2019-09/meta/validation" => &meta::DRAFT201909_VALIDATION,
        "draft/2019-09/meta/meta-data" => &meta::DRAFT201909_META_DATA,
        "draft/2019-09/meta/format" => &meta::DRAFT201909_FORMAT,
        "draft/2019-09/meta/content" => &meta::DRAFT201909_CONTENT,
        "schema" | "draft/2020-12/schema" => &meta::DRAFT202012,
        "draft/2020-12/meta/core" => &meta::DRAFT202012_CORE,
        "draft/2020-12/meta/applicator" => &meta::DRAFT202012_APPLICATOR,
        "draft/2020-12/meta/unevaluated" => &meta::DRAFT202012_UNEVALUATED,
        "draft/2020-12/meta/validation" => &meta::DRAFT202012_VALIDATION,
        "draft/2020-12/meta/meta-data" => &meta::DRAFT202012_META_DATA,
        "draft/2020-12/meta/format-annotation" => &meta::DRAFT202012_FORMAT_ANNOTATION,
        "draft/2020-12/meta/format-assertion" => &meta::DRAFT202012_FORMAT_ASSERTION,
        "draft/2020-12/meta/content" => &meta::DRAFT202012_CONTENT,
        _ => return None,
    })
}

/// Reads a document that a schema refers to. Nothing is fetched over the network or read from the disk.
fn load(url: &str) -> Result<Json, String> {
    if let Some(document) = known(url) {
        return Ok(Json::from_serde(document));
    }
    let failed = |why: &str| Err(format!("failing loading {}: {why}", quote(url.as_bytes())));
    if url.starts_with("urn:") {
        tracing::warn!(urn = url, "unresolved URN reference ignored; using permissive schema");
        return Ok(Json::Bool(true));
    }
    if let Some(path) = url::file_path(url) {
        let why = match std::fs::metadata(&path).map_err(|error| error.kind()) {
            Ok(found) if found.is_dir() => return failed(&format!("read {path}: is a directory")),
            Ok(_) => return failed("a schema may not refer to other files"),
            Err(ErrorKind::NotADirectory) => "not a directory",
            Err(ErrorKind::PermissionDenied) => "permission denied",
            Err(ErrorKind::InvalidInput) => "invalid argument",
            Err(_) => "no such file or directory",
        };
        return failed(&format!("open {path}: {why}"));
    }
    match url.split_once(':') {
        Some(("http" | "https", _)) => failed("schemas are not fetched over the network"),
        _ => failed(&format!("no URLLoader registered for {}", quote(url.as_bytes()))),
    }
}

fn located(url: &str, pointer: &str) -> String {
    format!("{url}#{}", url::escape(pointer))
}

fn quoted(text: &str) -> String {
    quote(text.as_bytes())
}

/// Where a schema may hold others: under a keyword, in the entries of a map there, in the items of a list there.
const SUBSCHEMAS: &[(Draft, &str, &str)] = &[
    (Draft::Draft4, "definitions", "*"),
    (Draft::Draft4, "not", ""),
    (Draft::Draft4, "allOf", "[]"),
    (Draft::Draft4, "anyOf", "[]"),
    (Draft::Draft4, "oneOf", "[]"),
    (Draft::Draft4, "properties", "*"),
    (Draft::Draft4, "additionalProperties", ""),
    (Draft::Draft4, "patternProperties", "*"),
    (Draft::Draft4, "items", ""),
    (Draft::Draft4, "items", "[]"),
    (Draft::Draft4, "additionalItems", ""),
    (Draft::Draft4, "dependencies", "*"),
    (Draft::Draft6, "propertyNames", ""),
    (Draft::Draft6, "contains", ""),
    (Draft::Draft7, "if", ""),
    (Draft::Draft7, "then", ""),
    (Draft::Draft7, "else", ""),
    (Draft::Draft2019, "$defs", "*"),
    (Draft::Draft2019, "dependentSchemas", "*"),
    (Draft::Draft2019, "unevaluatedProperties", ""),
    (Draft::Draft2019, "unevaluatedItems", ""),
    (Draft::Draft2019, "contentSchema", ""),
    (Draft::Draft2020, "prefixItems", "[]"),
];

/// The identity that a schema gives itself, without its fragment.
fn id_of(object: &Json, draft: Draft) -> &str {
    if draft < Draft::Draft2019 && object.get("$ref").is_some() {
        return "";
    }
    let key = if draft == Draft::Draft4 { "id" } else { "$id" };
    object.get(key).and_then(Json::text).map_or("", |id| split(id).0)
}

impl Compiler {
    fn compile(&mut self, url: &str, document: Option<Json>) -> Result<Schema, String> {
        if let Some(document) = document {
            self.add(url, document)?;
        }
        let (url, pointer) = self.resolve_in(url, "", "")?;
        let root = self.enqueue(url, pointer);
        let mut compiled = 0;
        while compiled < self.nodes.len() {
            let (url, pointer) = self.places[compiled].clone();
            self.ensure(&url, &pointer)?;
            let node = self.node(compiled, &url, &pointer)?;
            self.nodes[compiled] = node;
            compiled += 1;
        }
        Ok(Schema { nodes: std::mem::take(&mut self.nodes), root })
    }

    fn enqueue(&mut self, url: String, pointer: String) -> Id {
        let next = self.nodes.len();
        let id = *self.index.entry((url.clone(), pointer.clone())).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.places.push((url, pointer));
        }
        id
    }

    fn document(&mut self, url: &str) -> Result<&mut Document, String> {
        if !self.documents.contains_key(url) {
            let json = load(url)?;
            self.add(url, json)?;
        }
        Ok(self.documents.get_mut(url).expect("it was added"))
    }

    fn add(&mut self, url: &str, json: Json) -> Result<(), String> {
        let mut document =
            Document { resources: BTreeMap::new(), processed: HashSet::new(), json: Arc::new(json) };
        let json = Arc::clone(&document.json);
        collect(&mut document, url, &json, url, "", Draft::LATEST)?;
        if known(url).is_none() {
            check(&document, url, "")?;
        }
        self.documents.insert(url.to_owned(), document);
        Ok(())
    }

    /// Makes sure that what stands at a place was read as a schema, also where no schema is expected.
    fn ensure(&mut self, url: &str, pointer: &str) -> Result<(), String> {
        let document = self.document(url)?;
        if document.processed.contains(pointer) {
            return Ok(());
        }
        let json = Arc::clone(&document.json);
        let found = find(&json, url, pointer)?;
        let base = document.resource(pointer).clone();
        collect(document, url, found, &base.id, pointer, base.draft)?;
        check(document, url, pointer)
    }

    /// The place that a fragment names in a document.
    fn resolve_in(&mut self, url: &str, resource: &str, fragment: &str) -> Result<(String, String), String> {
        let document = self.document(url)?;
        let resource = document.resource(resource);
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            format!("{}{fragment}", resource.pointer)
        } else {
            let missing = || {
                let reference = format!("{}#{}", resource.id, url::escape(fragment));
                format!("anchor in {} not found in schema {}", quoted(&reference), quoted(url))
            };
            resource.anchors.get(fragment).ok_or_else(missing)?.clone()
        };
        Ok((url.to_owned(), pointer))
    }

    fn reference(&mut self, url: &str, base: &str, reference: &str) -> Result<Id, String> {
        let (target, fragment) = split(reference);
        let fragment = url::unescape(fragment)
            .ok_or_else(|| format!("error in parsing {}: invalid URL escape", quoted(reference)))?;
        let target = url::join(base, target);
        let document = self.document(url)?;
        let local = if target == url {
            Some(String::new())
        } else {
            document.resources.values().find(|r| r.id == target).map(|r| r.pointer.clone())
        };
        let (url, pointer) = match local {
            Some(resource) => self.resolve_in(url, &resource, &fragment)?,
            None => self.resolve_in(&target, "", &fragment)?,
        };
        Ok(self.enqueue(url, pointer))
    }

    fn node(&mut self, id: Id, url: &str, pointer: &str) -> Result<Node, String> {
        let document = self.document(url)?;
        let resource = document.resource(pointer).clone();
        let whole = Arc::clone(&document.json);
        let json = find(&whole, url, pointer)?;
        let mut node =
            Node { location: located(url, pointer), draft: Some(resource.draft), ..Node::default() };
        node.resource = self.enqueue(url.to_owned(), resource.pointer.clone());
        if resource.draft >= Draft::Draft2020 && node.resource == id {
            for anchor in &resource.dynamic_anchors {
                let target = self.enqueue(url.to_owned(), resource.anchors[anchor].clone());
                node.dynamic_anchors.insert(anchor.clone(), target);
            }
        }
        match json {
            Json::Bool(truth) => node.boolean = Some(*truth),
            Json::Object(map) if map.is_empty() => node.boolean = Some(true),
            Json::Object(_) => {
                let mut read = Read { compiler: self, url, pointer, json, resource: &resource };
                read.object(&mut node)?;
            }
            _ => {}
        }
        node.all_properties_evaluated = node.additional_properties.is_some();
        if resource.draft < Draft::Draft2020 {
            node.all_items_evaluated =
                node.additional_items.is_some() || matches!(node.items, Some(Items::All(_)));
            if let Some(Items::Each(items)) = &node.items {
                node.items_evaluated = items.len();
            }
        } else {
            node.all_items_evaluated = node.rest_items.is_some();
            node.items_evaluated = node.prefix_items.len();
        }
        Ok(node)
    }
}

fn find<'j>(json: &'j Json, url: &str, pointer: &str) -> Result<&'j Json, String> {
    let place = || quoted(&located(url, pointer));
    let found = url::lookup(json, pointer).map_err(|()| format!("invalid json-pointer {}", place()))?;
    found.ok_or_else(|| format!("json-pointer in {} not found", place()))
}

/// Holds a schema against the schema of schemas.
fn check(document: &Document, url: &str, pointer: &str) -> Result<(), String> {
    let draft = document.resource(pointer).draft;
    let json = find(&document.json, url, pointer)?;
    if plain::fits(json, draft) {
        return Ok(());
    }
    let meta = Schema::of_schemas(draft);
    validate::run(meta, json)
        .map_err(|text| format!("{} is not valid against metaschema: {text}", quoted(&located(url, pointer))))
}

/// Finds the resources and anchors of a schema and of all schemas in it.
fn collect(
    document: &mut Document,
    url: &str,
    json: &Json,
    base: &str,
    pointer: &str,
    fallback: Draft,
) -> Result<(), String> {
    if document.processed.contains(pointer) {
        return Ok(());
    }
    let new = |id: &str, draft| Resource {
        pointer: pointer.to_owned(),
        id: id.to_owned(),
        draft,
        anchors: BTreeMap::new(),
        dynamic_anchors: Vec::new(),
    };
    if json.object().is_none() {
        if pointer.is_empty() {
            document.resources.insert(String::new(), new(base, fallback));
        }
        document.processed.insert(pointer.to_owned());
        return Ok(());
    }

    let named = json.get("$schema").and_then(Json::text);
    let mut draft = match named {
        None => fallback,
        Some(named) => match Draft::of(named) {
            Some(draft) => draft,
            None if pointer.is_empty() && split(named).0 == url => {
                return Err(format!("draft {} is not supported", quoted(split(named).0)));
            }
            None => {
                load(split(named).0)?;
                fallback
            }
        },
    };
    let mut id = id_of(json, draft);
    let mut has_schema = named.is_some();
    if id.is_empty() && !pointer.is_empty() {
        draft = fallback;
        has_schema = false;
        id = id_of(json, draft);
    }
    let base = if id.is_empty() { base.to_owned() } else { url::join(base, id) };
    if !id.is_empty() || pointer.is_empty() {
        match document.resources.values().find(|r| r.id == base) {
            Some(other) if other.pointer != pointer => {
                return Err(format!(
                    "duplicate id {} in {} at {} and {}",
                    quoted(&base),
                    quoted(url),
                    quoted(pointer),
                    quoted(&other.pointer)
                ));
            }
            Some(_) => {}
            None => {
                let draft = if has_schema { draft } else { fallback };
                document.resources.insert(pointer.to_owned(), new(&base, draft));
            }
        }
    }
    let place = document.resources.values().find(|r| r.id == base).map(|r| r.pointer.clone());
    let place = place.unwrap_or_default();
    let resource = document.resources.get_mut(&place).expect("it was found or made");
    anchors(resource, url, json, pointer)?;
    let inherited = resource.draft;
    document.processed.insert(pointer.to_owned());

    for (_, keyword, shape) in SUBSCHEMAS.iter().filter(|(since, ..)| *since <= draft) {
        let Some(inner) = json.get(keyword) else { continue };
        let at = format!("{pointer}/{keyword}");
        match *shape {
            "*" => {
                for (name, inner) in inner.object().into_iter().flatten() {
                    collect(document, url, inner, &base, &format!("{at}/{}", token(name)), inherited)?;
                }
            }
            "[]" => {
                for (index, inner) in inner.array().into_iter().flatten().enumerate() {
                    collect(document, url, inner, &base, &format!("{at}/{index}"), inherited)?;
                }
            }
            _ => collect(document, url, inner, &base, &at, inherited)?,
        }
    }
    Ok(())
}

fn anchors(resource: &mut Resource, url: &str, json: &Json, pointer: &str) -> Result<(), String> {
    let mut names = Vec::new();
    let text = |key: &str| json.get(key).and_then(Json::text);
    if resource.draft < Draft::Draft2019 {
        if json.get("$ref").is_some() {
            return Ok(());
        }
        let key = if resource.draft == Draft::Draft4 { "id" } else { "$id" };
        let fragment = text(key).map_or("", |id| split(id).1);
        let fragment = url::unescape(fragment)
            .ok_or_else(|| format!("error in parsing anchor at {}", quoted(&located(url, pointer))))?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            names.push(fragment);
        }
    } else {
        names.extend(text("$anchor").map(str::to_owned));
        if resource.draft >= Draft::Draft2020
            && let Some(name) = text("$dynamicAnchor")
        {
            names.push(name.to_owned());
            resource.dynamic_anchors.push(name.to_owned());
        }
    }
    for name in names {
        let other = resource.anchors.entry(name.clone()).or_insert_with(|| pointer.to_owned());
        if other != pointer {
            return Err(format!(
                "duplicate anchor {} in {} at {} and {}",
                quoted(&name),
                quoted(url),
                quoted(other),
                quoted(pointer)
            ));
        }
    }
    Ok(())
}
