//! The hooks of a chart as objects to be made, and which of them belong to what is done to a release. Pure.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::{
    digest::Fnv,
    health,
    inventory::{ObjectKey, Parent},
    object::{self, Error, Rendered},
};
use crate::{
    api::{
        Gvk, names,
        status::{self, Action, HOOKS_LIMIT, HookPhase},
    },
    manifest::{self, DeletePolicy, Event},
};

/// One object of a hook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The template that it came from.
    pub source: Arc<str>,
    /// Its kind and version.
    pub gvk: Gvk,
    /// The namespace that its manifest names; empty when it names none.
    pub namespace: Box<str>,
    /// Its name; empty when the API server is to make one.
    pub name: Box<str>,
    /// What the API server makes the name from.
    pub generate_name: Box<str>,
    /// Tells apart hooks of one kind that are named alike.
    pub ordinal: u32,
    /// When it is run.
    pub events: Vec<Event>,
    /// Whether what is there by its name is deleted before it is made.
    pub replaces: bool,
    /// Whether it is deleted when all hooks of the event have succeeded.
    pub goes_when_well: bool,
    /// Whether it is deleted when it has failed.
    pub goes_when_failed: bool,
    /// Whether it is never to be deleted with the instance.
    keep: bool,
    object: Value,
}

/// Which run of an event's hooks.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The event.
    pub event: Event,
    /// The revision.
    pub revision: u32,
    /// What began it: the digest of the inputs, or the request.
    pub cause: &'a str,
    /// How often it was begun anew.
    pub attempt: u32,
}

/// The hooks of a render as objects to be made, in the order in which those of one event run: Helm's, by weight and name.
/// A `List` is as many hooks as it has items.
pub fn prepare(rendered: &[manifest::Hook]) -> Result<Vec<Hook>, Error> {
    let mut sorted: Vec<&manifest::Hook> = rendered.iter().collect();
    manifest::Hook::sort_for_run(&mut sorted);
    let mut hooks: Vec<Hook> = Vec::with_capacity(sorted.len());
    let mut alike: HashMap<(String, Box<str>, Box<str>), u32> = HashMap::new();
    for hook in sorted {
        let source = &hook.manifest.source;
        let rendered = Rendered { source: source.to_string(), object: hook.manifest.object.clone() };
        for Rendered { object, .. } in object::flat(vec![rendered]) {
            if object.is_null() {
                continue;
            }
            let gvk =
                object::gvk(&object).ok_or_else(|| Error::NoKind { source_name: source.to_string() })?;
            let metadata = &object["metadata"];
            let text = |field: &str| -> Box<str> { metadata[field].as_str().unwrap_or_default().into() };
            let name = text("name");
            let generate_name = if name.is_empty() { text("generateName") } else { Box::default() };
            if name.is_empty() && generate_name.is_empty() {
                return Err(Error::NoName { source_name: source.to_string(), kind: gvk.kind });
            }
            let keep = metadata["annotations"][names::RESOURCE_POLICY]
                .as_str()
                .is_some_and(|policy| policy.trim() == "keep");
            let called = if name.is_empty() { &generate_name } else { &name };
            let ordinal = alike.entry((gvk.group_kind(), text("namespace"), called.clone())).or_default();
            hooks.push(Hook {
                source: source.clone(),
                namespace: text("namespace"),
                name,
                generate_name,
                ordinal: *ordinal,
                events: hook.events.clone(),
                replaces: hook.deleted_at(&DeletePolicy::BeforeHookCreation),
                goes_when_well: hook.deleted_at(&DeletePolicy::HookSucceeded),
                goes_when_failed: hook.deleted_at(&DeletePolicy::HookFailed),
                keep,
                gvk,
                object,
            });
            *ordinal += 1;
        }
    }
    Ok(hooks)
}

/// The events before and after what is done.
pub fn events(action: Action) -> (Event, Event) {
    match action {
        Action::Install => (Event::PreInstall, Event::PostInstall),
        Action::Upgrade => (Event::PreUpgrade, Event::PostUpgrade),
        Action::Rollback => (Event::PreRollback, Event::PostRollback),
        Action::Uninstall => (Event::PreDelete, Event::PostDelete),
    }
}

/// Whether hooks are run before or after what is done.
pub fn any_of(hooks: &[Hook], action: Action) -> bool {
    let (pre, post) = events(action);
    hooks.iter().any(|hook| hook.is_of(pre) || hook.is_of(post))
}

impl Hook {
    /// Whether it is run at an event.
    pub fn is_of(&self, event: Event) -> bool {
        self.events.contains(&event)
    }

    /// Whether its end is waited for.
    pub fn ends(&self) -> bool {
        health::ends(&self.gvk.group, &self.gvk.kind)
    }

    /// For a person: `hook Job.batch web-migrate (pre-upgrade)`.
    pub fn title(&self, event: Event) -> String {
        if self.name.is_empty() {
            return self.title_of(&format!("{}…", self.generate_name), event);
        }
        self.title_of(&self.name, event)
    }

    /// The same, of the object that was made.
    pub fn title_of(&self, name: &str, event: Event) -> String {
        let namespace =
            if self.namespace.is_empty() { String::new() } else { format!("{}/", self.namespace) };
        format!("hook {} {namespace}{name} ({})", self.gvk.group_kind(), event.name())
    }

    /// The word for a run of it, by which its object is known again. Each run has another.
    pub fn run(&self, run: Run<'_>, uid: &str) -> String {
        let mut hash = Fnv::default();
        for text in [
            uid,
            run.cause,
            run.event.name(),
            &self.gvk.group_kind(),
            &self.namespace,
            &self.name,
            &self.generate_name,
        ] {
            hash.text(text);
        }
        for number in [run.revision, run.attempt, self.ordinal] {
            hash.write(&number.to_le_bytes());
        }
        format!("{:016x}", hash.finish())
    }

    /// What is sent to make it, `key` being what it will be. The error is the path of what is no mapping.
    ///
    /// Jobs and Pods are owned by the instance, so that those that no policy has deleted go with it. Everything else
    /// outlives it, as with Helm: a hook's volume claim or Secret may be a hook for just that. What runs while the instance
    /// is deleted is not owned: a deletion in the foreground would end it.
    pub fn body(&self, key: &ObjectKey, parent: &Parent, run: Run<'_>) -> Result<Value, &'static str> {
        let mut body = self.object.clone();
        let metadata = object::clean(&mut body, &key.namespace)?;
        let annotations = object::mapping(metadata, "annotations")?;
        annotations.insert(names::HOOK_REVISION.into(), run.revision.to_string().into());
        annotations.insert(names::HOOK_EVENT.into(), run.event.name().into());
        annotations.insert(names::HOOK_RUN.into(), self.run(run, &parent.uid).into());
        let labels = object::mapping(metadata, "labels")?;
        labels.insert(names::HOOK_OF.into(), parent.set().into());
        labels.insert(names::DEFINITION.into(), parent.definition.clone().into());
        let runs = matches!((&*self.gvk.group, &*self.gvk.kind), ("batch", "Job") | ("", "Pod"));
        let outlives = matches!(run.event, Event::PreDelete | Event::PostDelete);
        if runs && !outlives && !self.keep && parent.can_own(key) && !metadata.contains_key("ownerReferences")
        {
            metadata.insert("ownerReferences".into(), Value::Array(vec![parent.reference()]));
        }
        Ok(body)
    }

    /// Whether a line of the status is about it, all of its name before it counted.
    fn is(&self, line: &status::Hook) -> bool {
        let called = if line.generate_name.is_empty() { &line.name } else { &line.generate_name };
        let own = if self.name.is_empty() { &self.generate_name } else { &self.name };
        line.generate_name.is_empty() != self.name.is_empty()
            && line.kind == self.gvk.group_kind()
            && *line.namespace == *self.namespace
            && **called == **own
    }

    fn line(&self) -> status::Hook {
        status::Hook {
            kind: self.gvk.group_kind(),
            namespace: self.namespace.to_string(),
            name: self.name.to_string(),
            generate_name: self.generate_name.to_string(),
            events: self.events.iter().map(|e| e.name().to_owned()).collect(),
            ..status::Hook::default()
        }
    }
}

/// The lines of the status for some hooks, none of which has been run.
pub fn lines(hooks: &[Hook]) -> Vec<status::Hook> {
    hooks.iter().take(HOOKS_LIMIT).map(Hook::line).collect()
}

/// The line about a hook at an event. One that is missing is added, in the place of one about something that is past.
pub fn line_of<'l>(lines: &'l mut Vec<status::Hook>, hook: &Hook, event: Event) -> &'l mut status::Hook {
    let found = {
        let alike = lines.iter().enumerate().filter(|(_, line)| hook.is(line));
        alike.map(|(at, _)| at).nth(hook.ordinal as usize)
    };
    let at = found.unwrap_or_else(|| {
        if lines.len() >= HOOKS_LIMIT {
            let past = lines.iter().position(|line| line.event != event.name()).unwrap_or(0);
            lines.remove(past);
        }
        lines.push(hook.line());
        lines.len() - 1
    });
    let line = &mut lines[at];
    if line.event != event.name() {
        // What it came to at another event.
        *line = status::Hook { event: event.name().to_owned(), ..hook.line() };
    }
    line
}

/// Lets the hooks of an event be begun anew.
pub fn begin_anew(lines: &mut [status::Hook], event: &str) {
    for line in lines.iter_mut().filter(|line| line.event == event) {
        line.phase = HookPhase::NotRun;
        line.event.clear();
        line.started_at.clear();
        line.completed_at.clear();
        line.message.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        manifest::{Order, sort},
        release::{
            inventory::GroupKind,
            object::tests::{parent, served},
        },
    };

    fn hooks(text: &str) -> Vec<Hook> {
        prepare(&sort([("web/templates/h.yaml", text.as_bytes())], Order::Install).unwrap().hooks).unwrap()
    }

    fn run(event: Event) -> Run<'static> {
        Run { event, revision: 3, cause: "in", attempt: 0 }
    }

    #[test]
    fn bodies_and_owners() {
        let all = hooks(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: b, resourceVersion: '1', annotations: {helm.sh/hook: 'pre-upgrade,post-delete'}}\n\
             ---\napiVersion: v1\nkind: Secret\nmetadata: {generateName: s-, annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: '-1'}}\n",
        );
        let names: Vec<String> = all.iter().map(|h| h.title(h.events[0])).collect();
        assert_eq!(names, ["hook Secret s-… (pre-install)", "hook Job.batch b (pre-upgrade)"]);
        let body = |hook: &Hook, event| {
            let kind: Arc<GroupKind> = served(&hook.gvk).unwrap().kind;
            let key = ObjectKey { kind, namespace: "shop".into(), name: hook.name.clone() };
            hook.body(&key, &parent(), run(event)).unwrap()
        };
        insta::assert_json_snapshot!([
            body(&all[0], Event::PreInstall),
            body(&all[1], Event::PreUpgrade),
            body(&all[1], Event::PostDelete),
        ]);
    }

    #[test]
    fn each_run_has_its_word() {
        let all = hooks(
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, annotations: {helm.sh/hook: 'pre-upgrade,test'}}\n\
             ---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, annotations: {helm.sh/hook: pre-upgrade}}\n",
        );
        let base = run(Event::PreUpgrade);
        let mut words: Vec<String> = vec![
            all[0].run(base, "u"),
            all[1].run(base, "u"),
            all[0].run(base, "v"),
            all[0].run(run(Event::Test), "u"),
            all[0].run(Run { attempt: 1, ..base }, "u"),
            all[0].run(Run { revision: 4, ..base }, "u"),
            all[0].run(Run { cause: "other", ..base }, "u"),
        ];
        words.sort();
        words.dedup();
        assert_eq!(words.len(), 7);
        assert_eq!(all[0].run(base, "u"), all[0].clone().run(base, "u"));
    }

    #[test]
    fn lines_of_hooks_named_alike_stay_apart() {
        let all = hooks(
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, annotations: {helm.sh/hook: pre-upgrade}}\n\
             ---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, annotations: {helm.sh/hook: pre-upgrade}}\n",
        );
        let mut status = lines(&all);
        line_of(&mut status, &all[1], Event::PreUpgrade).name = "p-xyz".into();
        line_of(&mut status, &all[1], Event::PreUpgrade).phase = HookPhase::Running;
        assert_eq!(status[0].phase, HookPhase::NotRun);
        assert_eq!((status[1].phase, &*status[1].name), (HookPhase::Running, "p-xyz"));
        // At another event it begins again.
        assert_eq!(line_of(&mut status, &all[1], Event::Test).phase, HookPhase::NotRun);
    }

    #[test]
    fn many_hooks_stay_few_in_status() {
        let text: String = (0..200)
            .map(|i| {
                format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}, annotations: {{helm.sh/hook: pre-upgrade}}}}\n")
            })
            .collect();
        let all = hooks(&text);
        let mut status = lines(&all);
        line_of(&mut status, &all[199], Event::PreUpgrade);
        assert_eq!(status.len(), HOOKS_LIMIT);
    }
}
