//! What the comments of a values file say of its keys.
//!
//! Charts document their values in three ways: a comment above the key, or after it; helm-docs' `# -- text` above it,
//! or `# path.of.key -- text` anywhere; and the `## @param path.of.key text` of Bitnami's readme generator.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use super::{
    Error,
    parser::{Event, Parser},
    reader,
};

/// The comments that belong to one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comment {
    /// The lines directly above the key, without `#` and one space after it.
    pub above: Vec<String>,
    /// The comment on the key's own line.
    pub after: Option<String>,
}

impl Comment {
    /// helm-docs' text: what follows the last line of `above` that begins with `--`, the lines after it included up to
    /// one that begins with `@`. A type in parentheses before it is left out.
    #[must_use]
    pub fn helm_docs(&self) -> Option<String> {
        let start = self.above.iter().rposition(|line| line.starts_with("-- ") || line == "--")?;
        let first = self.above[start].trim_start_matches("--").trim();
        let first = match first.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest.trim_start(),
            None => first,
        };
        let rest =
            self.above[start + 1..].iter().map(|line| line.trim()).take_while(|line| !line.starts_with('@'));
        join(std::iter::once(first).chain(rest))
    }

    /// The lines above the key as one text, rulers and `@` annotations left out; the comment after it if there are none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let ruler = |line: &str| line.chars().all(|c| matches!(c, '#' | '-' | '=' | '*' | '_' | '~' | '+'));
        let lines = self.above.iter().map(|line| line.trim_start_matches('#').trim());
        join(lines.filter(|line| !ruler(line) && !line.starts_with('@'))).or_else(|| self.after.clone())
    }
}

/// Joins lines with spaces; none if there is nothing in them.
fn join<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { None } else { Some(lines.join(" ")) }
}

/// The comments of a values file; made by [`comments`].
#[derive(Debug, Clone, Default)]
pub struct Comments {
    entries: BTreeMap<Vec<String>, Comment>,
    /// What comments say of a key that they name, by its path with dots.
    named: HashMap<String, String>,
}

impl Comments {
    /// The comments at a key. A path is the keys that lead to it; `[]` stands for any item of a list.
    #[must_use]
    pub fn get(&self, path: &[String]) -> Option<&Comment> {
        self.entries.get(path)
    }

    /// All keys that have comments, with these.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], &Comment)> {
        self.entries.iter().map(|(path, comment)| (path.as_slice(), comment))
    }

    /// A description of a key: helm-docs' text, else Bitnami's, else the plain comments.
    #[must_use]
    pub fn description(&self, path: &[String]) -> Option<String> {
        let comment = self.entries.get(path);
        comment
            .and_then(Comment::helm_docs)
            .or_else(|| self.named.get(&path.join(".")).cloned())
            .or_else(|| comment.and_then(Comment::text))
    }
}

/// Where the parser is in the document.
enum Level {
    List,
    /// The key whose value comes next, if it was a scalar; none before a key.
    Map {
        key: Option<String>,
        at_value: bool,
    },
}

/// Reads the comments of the first document of a text.
///
/// A comment above a key belongs to it if there is no empty line in between and it is not indented deeper, as the values
/// that are commented out below `resources: {}` are. What looks like a comment inside of a block scalar is none.
///
/// # Errors
/// When the text is not YAML.
pub fn comments(text: &str) -> Result<Comments, Error> {
    let source = reader::read(text.as_bytes());
    let mut parser = Parser::new(&source);
    parser.scanner.keep_comments();
    let mut keys: Vec<(Vec<String>, u32)> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    loop {
        let (event, line) = parser.next()?;
        if let (
            Some(Level::Map { key: key @ None, at_value: at_value @ false }),
            Event::Scalar { value, .. },
        ) = (levels.last_mut(), &event)
        {
            *key = Some(value.clone().into_owned());
            *at_value = true;
            path.push(value.clone().into_owned());
            keys.push((path.clone(), line));
            continue;
        }
        match event {
            Event::StreamEnd | Event::DocumentEnd => break,
            Event::StreamStart | Event::DocumentStart => {}
            Event::SequenceStart(_) => {
                levels.push(Level::List);
                path.push("[]".to_owned());
            }
            Event::MappingStart(_) => levels.push(Level::Map { key: None, at_value: false }),
            Event::Alias(_) | Event::Scalar { .. } => step(&mut levels, &mut path),
            Event::SequenceEnd => {
                levels.pop();
                path.pop();
                step(&mut levels, &mut path);
            }
            Event::MappingEnd => {
                levels.pop();
                step(&mut levels, &mut path);
            }
        }
    }
    Ok(attach(&source.text, parser.scanner.take_comments(), keys))
}

/// Notes that a node has ended: where it was a value, a key comes next, and where it was a key that is no scalar, a value.
fn step(levels: &mut [Level], path: &mut Vec<String>) {
    if let Some(Level::Map { key, at_value }) = levels.last_mut() {
        if *at_value && key.take().is_some() {
            path.pop();
        }
        *at_value = !*at_value;
    }
}

/// The starts of the lines of a text, broken where YAML 1.1 breaks them.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = match c {
            '\r' => match chars.next_if(|(_, next)| *next == '\n') {
                Some((at, _)) => at + 1,
                None => at + 1,
            },
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => at + c.len_utf8(),
            _ => continue,
        };
        starts.push(after);
    }
    starts
}

/// What a comment says of a key that it names.
fn named(comment: &str) -> Option<(String, String)> {
    let rest = comment.strip_prefix("@param ").or_else(|| comment.strip_prefix("@extra "));
    let (path, text) = match rest {
        Some(rest) => {
            let (path, mut text) = rest.trim_start().split_once(' ')?;
            // Its modifiers: `[default: x]`, `[object]`.
            while let Some((_, after)) =
                text.trim_start().strip_prefix('[').and_then(|text| text.split_once(']'))
            {
                text = after;
            }
            (path, text)
        }
        None => comment.split_once(" -- ").filter(|(path, _)| !path.is_empty() && !path.contains(' '))?,
    };
    let text = text.trim();
    if text.is_empty() { None } else { Some((path.to_owned(), text.to_owned())) }
}

/// Gives each comment to the key it belongs to.
fn attach(text: &str, found: Vec<(u32, Range<usize>)>, keys: Vec<(Vec<String>, u32)>) -> Comments {
    let starts = line_starts(text);
    let start_of = |line: u32| starts.get(line as usize).copied().unwrap_or(text.len());
    let mut comments = Comments::default();
    // By line: the text, and the column if there is nothing else in the line.
    let mut lines: HashMap<u32, (String, Option<usize>)> = HashMap::new();
    for (line, range) in found {
        let before = &text[start_of(line).min(range.start)..range.start];
        let alone = before.trim().is_empty().then(|| before.chars().count());
        let content = text[range].trim_start_matches('#');
        let content = content.strip_prefix(' ').unwrap_or(content).trim_end().to_owned();
        if alone.is_some() {
            comments.named.extend(named(&content));
        }
        lines.insert(line, (content, alone));
    }
    let mut last_line = None;
    for (path, line) in keys {
        // Of several keys in a line, the comments are the first one's.
        if last_line.replace(line) == Some(line) {
            continue;
        }
        let column = text[start_of(line)..].chars().take_while(|c| *c == ' ').count();
        let mut above: Vec<String> = (0..line)
            .rev()
            .map_while(|before| match lines.get(&before) {
                Some((content, Some(of_comment))) if *of_comment <= column => Some(content.clone()),
                _ => None,
            })
            .collect();
        above.reverse();
        let comment = Comment { above, after: lines.get(&line).map(|(content, _)| content.clone()) };
        if comment != Comment::default() {
            comments.entries.entry(path).or_insert(comment);
        }
    }
    comments
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    const VALUES: &str = "\
# Copyright

# How many replicas.
# At least one.
replicas: 1 # not zero

## @section Image
## @param image.registry [default: docker.io] Where the image is
## @param image.tag [string, nullable] Which one
##
image:
  registry: docker.io
  tag: ''
  # -- (string) when to pull
  # it from there
  # @default -- IfNotPresent
  pullPolicy: IfNotPresent

# pod.labels -- labels of pods
resources: {}
  # limits:
  #   cpu: 1
pod:
  labels: {}
  # ------
  # the containers
  containers:
    # its name
    - name: a
      # its port
      port: 1
script: |
  # no comment
after: x
flow: {a: 1, b: 2} # two
quoted: \"# no comment\"
";

    #[test]
    fn comments_above_and_after() {
        let found = comments(VALUES).unwrap();
        let replicas = found.get(&path("replicas")).unwrap();
        assert_eq!(replicas.above, ["How many replicas.", "At least one."]);
        assert_eq!(replicas.after.as_deref(), Some("not zero"));
        assert_eq!(found.description(&path("replicas")).unwrap(), "How many replicas. At least one.");
        assert_eq!(found.get(&path("after")), None);
        assert_eq!(found.get(&path("quoted")), None);
        assert_eq!(found.description(&path("flow")).unwrap(), "two");
        assert_eq!(found.description(&path("flow.a")), None);
    }

    #[test]
    fn bitnami_names_its_keys() {
        let found = comments(VALUES).unwrap();
        assert_eq!(found.description(&path("image.registry")).unwrap(), "Where the image is");
        assert_eq!(found.description(&path("image.tag")).unwrap(), "Which one");
        assert_eq!(found.description(&path("image")), None);
    }

    #[test]
    fn helm_docs_marks_its_text() {
        let found = comments(VALUES).unwrap();
        assert_eq!(found.description(&path("image.pullPolicy")).unwrap(), "when to pull it from there");
        assert_eq!(found.description(&path("pod.labels")).unwrap(), "labels of pods");
    }

    #[test]
    fn values_that_are_commented_out_belong_to_nothing() {
        assert_eq!(comments(VALUES).unwrap().get(&path("pod")), None);
    }

    #[test]
    fn items_of_lists_have_a_path() {
        let found = comments(VALUES).unwrap();
        assert_eq!(found.description(&path("pod.containers")).unwrap(), "the containers");
        assert_eq!(found.description(&path("pod.containers.[].name")).unwrap(), "its name");
        assert_eq!(found.description(&path("pod.containers.[].port")).unwrap(), "its port");
    }

    #[test]
    fn an_error_is_said() {
        assert!(comments("a: [").unwrap_err().to_string().starts_with("yaml: line"));
        assert!(comments("").unwrap().iter().next().is_none());
    }
}
