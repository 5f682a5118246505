//! The comments of a values.yaml, by the path of the key that they stand above.
//!
//! Only block style is read, by indentation: what a person comments. A line that is not understood costs its comment,
//! nothing else.

use std::collections::BTreeMap;

/// Comments by path: `["image", "tag"]`. Keys inside of lists have none.
pub(super) type Comments = BTreeMap<Vec<String>, String>;

/// Reads the comments of a YAML text.
pub(super) fn of(text: &str) -> Comments {
    let mut comments = Comments::new();
    // The keys that lead to the current line, each with its indentation.
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    let mut above_indent = 0;
    // Inside of a block scalar (or a list item) lines deeper than this are no keys.
    let mut skip_deeper_than: Option<usize> = None;
    for line in text.lines() {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        if body.trim().is_empty() {
            above.clear();
            continue;
        }
        if skip_deeper_than.is_some_and(|limit| indent > limit) {
            continue;
        }
        skip_deeper_than = None;
        if let Some(comment) = body.strip_prefix('#') {
            if indent != above_indent {
                above.clear();
            }
            above_indent = indent;
            above.push(comment);
            continue;
        }
        let said = if above_indent == indent { std::mem::take(&mut above) } else { Vec::new() };
        above.clear();
        if body.starts_with("- ") || body == "-" {
            skip_deeper_than = Some(indent);
            continue;
        }
        let Some((key, rest)) = key_of(body) else { continue };
        while path.last().is_some_and(|(at, _)| *at >= indent) {
            path.pop();
        }
        path.push((indent, key));
        if rest.starts_with(['|', '>']) {
            skip_deeper_than = Some(indent);
        }
        let text = tidy(&said);
        if !text.is_empty() {
            comments.insert(path.iter().map(|(_, key)| key.clone()).collect(), text);
        }
    }
    comments
}

/// The key that a line begins with, and what follows the colon.
fn key_of(body: &str) -> Option<(String, &str)> {
    for quote in ['"', '\''] {
        if let Some(rest) = body.strip_prefix(quote) {
            let end = rest.find(quote)?;
            let after = rest[end + 1..].trim_start().strip_prefix(':')?;
            return Some((rest[..end].to_owned(), after.trim_start()));
        }
    }
    let end = body.match_indices(':').find(|(at, _)| {
        let after = &body[at + 1..];
        after.is_empty() || after.starts_with([' ', '\t'])
    })?;
    let key = &body[..end.0];
    (!key.is_empty() && !key.contains(['{', '[', '"']))
        .then(|| (key.to_owned(), body[end.0 + 1..].trim_start()))
}

/// The text of comment lines: without helm-docs' and bitnami's marks, joined to paragraphs; nothing when it is commented-out
/// YAML.
fn tidy(lines: &[&str]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for line in lines {
        let line = line.trim_start_matches('#').trim();
        let line = line.strip_prefix("-- ").unwrap_or(line);
        // bitnami's generator: `@param image.tag Tag of the image`; others are marks for machines.
        let line = match line.strip_prefix("@param ") {
            Some(rest) => rest.split_once(' ').map_or("", |(_, text)| text.trim_start()),
            None if line.starts_with('@') || line.starts_with("+docs:") => "",
            None => line,
        };
        if line.chars().any(char::is_alphanumeric) {
            kept.push(line);
        }
    }
    let commented_out =
        kept.iter().filter(|l| key_of(l).is_some_and(|(k, _)| !k.contains(' ')) || l.starts_with("- "));
    if kept.is_empty() || commented_out.count() * 2 > kept.len() {
        return String::new();
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stand_above_their_keys() {
        let text = r#"
# Not about anything: a blank line follows.

# Number of Pods.
# Not used while autoscaling is enabled.
replicas: 2
image:
  # -- Where the image is pulled from.
  repository: "a/b"
  ## @param image.tag Tag of the image
  tag: ""
  # Wrong indentation is not about this key.
policy: {}
# resources:
#   limits:
#     cpu: 1
resources: {}
config: |
  # not a comment
  key: value
  other: value
# Quoted.
"a.b": 1
list:
  - name: x
    # Inside of a list.
    value: 1
# After.
after: true
url: http://example.com
"#;
        let said: Vec<String> =
            of(text).into_iter().map(|(path, text)| format!("{}: {text}", path.join("/"))).collect();
        insta::assert_snapshot!(said.join("\n"));
    }
}
