//! What `helm template` prints.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Hook, Manifests, split};
use crate::chart::{Crd, matches};

/// One document with the line that says where it comes from.
pub struct Section<'m> {
    /// The path in the comment: `web/templates/service.yaml`.
    pub source: &'m str,
    /// The document.
    pub text: Cow<'m, str>,
    /// Whether it is a CRD of `crds/`.
    pub crd: bool,
    /// Whether it is a hook.
    pub hook: bool,
}

impl Section<'_> {
    /// The document as it is printed, and as it is written to a file.
    pub fn print(&self) -> String {
        let mut out = String::with_capacity(self.length());
        for part in self.parts() {
            out.push_str(part);
        }
        out
    }

    fn parts(&self) -> [&str; 5] {
        ["---\n# Source: ", self.source, "\n", &*self.text, "\n"]
    }

    /// How long it is as it is printed.
    fn length(&self) -> usize {
        "---\n# Source: \n\n".len() + self.source.len() + self.text.len()
    }
}

/// Which parts of a rendered chart are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    /// Hooks too.
    pub hooks: bool,
    /// Hooks of the event `test` too, if hooks are shown.
    pub tests: bool,
}

/// The documents of a rendered chart in the order in which Helm prints them: CRDs, objects, hooks.
pub fn sections<'m>(crds: &'m [Crd], manifests: &'m Manifests, show: Show) -> Vec<Section<'m>> {
    let crds = crds.iter();
    let crds = crds.map(|crd| Section { source: &crd.path, text: crd.file.text(), crd: true, hook: false });
    let objects = manifests.objects.iter();
    let objects =
        objects.map(|m| Section { source: &m.source, text: Cow::from(&m.text), crd: false, hook: false });
    let shown = |hook: &&Hook| show.hooks && (show.tests || !hook.events.contains(&super::Event::Test));
    let hooks = manifests.hooks.iter().filter(shown).map(|hook| Section {
        source: &hook.manifest.source,
        text: Cow::from(&hook.manifest.text),
        crd: false,
        hook: true,
    });
    crds.chain(objects).chain(hooks).collect()
}

/// The text that Helm prints for the documents. White space around what is not a hook is not printed; there is always
/// a line break after it, even where there is nothing before.
pub fn print(sections: &[Section<'_>]) -> String {
    let mut out = String::with_capacity(1 + sections.iter().map(Section::length).sum::<usize>());
    for part in parts(sections) {
        out.push_str(part);
    }
    out
}

/// The same, piece by piece.
pub fn parts<'s>(sections: &'s [Section<'_>]) -> impl Iterator<Item = &'s str> {
    let last = sections.iter().rposition(|section| !section.hook);
    let others = sections.iter().enumerate().filter(|(_, section)| !section.hook);
    let others = others.flat_map(move |(number, section)| {
        let mut parts = section.parts();
        if Some(number) == last {
            // White space at the end of all that are no hooks is no part of it.
            for part in parts.iter_mut().rev() {
                *part = part.trim_end();
                if !part.is_empty() {
                    break;
                }
            }
        }
        parts
    });
    let hooks = sections.iter().filter(|section| section.hook).flat_map(Section::parts);
    others.chain(["\n"]).chain(hooks)
}

/// The documents of a printed text that come from the templates that `patterns` name (`templates/*.yaml`, relative to
/// the chart), in the order of the patterns, as `--show-only`.
///
/// Fails when a pattern matches no template, in Helm's words.
pub fn only(printed: &str, patterns: &[String]) -> Result<String, String> {
    let documents: Vec<(&str, Option<&str>)> =
        split(printed).map(|document| (document, template_of(document))).collect();
    let mut out = String::new();
    for pattern in patterns {
        let mut missing = true;
        for (document, template) in &documents {
            if template.is_some_and(|template| matches(pattern, template).unwrap_or(false)) {
                missing = false;
                write!(out, "---\n{document}\n").expect("a string takes all text");
            }
        }
        if missing {
            return Err(format!("could not find template {pattern} in chart"));
        }
    }
    Ok(out)
}

/// The path, without the chart's name, in the first comment of a document that says where it comes from.
fn template_of(document: &str) -> Option<&str> {
    document.match_indices("# Source: ").find_map(|(at, mark)| {
        let rest = &document[at + mark.len()..];
        // The name may hold line breaks as far as Helm's pattern goes, the path may not.
        let (name, path) = rest.split_once('/')?;
        let path = path.split('\n').next().unwrap_or(path);
        (!name.is_empty() && !path.is_empty()).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Order, sort};

    fn printed(files: &[(&str, &str)], show: Show) -> String {
        let manifests =
            sort(files.iter().map(|(name, text)| (*name, text.as_bytes())), Order::Install).unwrap();
        print(&sections(&[], &manifests, show))
    }

    const FILES: &[(&str, &str)] = &[
        ("web/templates/b.yaml", "kind: Service\n---\nkind: ConfigMap\nx: 1\n\n"),
        ("web/templates/a.yaml", "\nkind: Zebra"),
        ("web/templates/hook.yaml", "kind: Pod\nmetadata: {annotations: {helm.sh/hook: test}}\n\n"),
    ];

    #[test]
    fn objects_come_before_hooks() {
        insta::assert_snapshot!(printed(FILES, Show { hooks: true, tests: true }));
        assert!(!printed(FILES, Show { hooks: true, tests: false }).contains("hook.yaml"));
        assert_eq!(printed(&[], Show::default()), "\n");
    }

    #[test]
    fn templates_are_chosen_by_pattern() {
        let all = printed(FILES, Show { hooks: true, tests: true });
        insta::assert_snapshot!(
            only(&all, &["templates/hook.yaml".into(), "templates/[ab].yaml".into()]).unwrap()
        );
        assert_eq!(
            only(&all, &["templates/c.yaml".into()]),
            Err("could not find template templates/c.yaml in chart".into())
        );
    }
}
