//! Writes a converted file: the text between tags as it was, and the dashes that remove white space where they were.

use crate::gotemplate::ast::Span;

use super::Unsupported;

/// A tag of Tera's.
pub(super) enum Tag {
    /// `{{ … }}`
    Print(String),
    /// `{% … %}`
    Block(String),
    /// `{# … #}`
    Comment(String),
    /// A text that no tag may be found in.
    Raw(String),
}

/// The file under conversion, and how far it is.
pub(super) struct Writer<'a> {
    pub source: &'a [u8],
    pub out: String,
    /// What was read of the source.
    at: usize,
    /// Whether the space here is to be removed by us, as Tera would not remove the same.
    by_hand: bool,
}

/// What Go trims.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn space(wanted: bool) -> &'static str {
    if wanted { " " } else { "" }
}

/// Whether Tera would find a tag in a text.
fn has_tags(text: &str) -> bool {
    text.contains("{%") || text.contains("{#") || text.ends_with('{')
}

impl<'a> Writer<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { source, out: String::with_capacity(source.len() * 2), at: 0, by_hand: false }
    }

    /// Writes the text before an action, and tags in the place of the action.
    pub(super) fn tags(&mut self, span: Span, tags: &[Tag]) -> Result<(), Unsupported> {
        let inner = self.source.get(span.start..span.end).unwrap_or_default();
        let trims_before = inner.get(2) == Some(&b'-') && inner.get(3).is_some_and(u8::is_ascii_whitespace);
        let trims_after = inner.ends_with(b"-}}")
            && inner.get(inner.len().wrapping_sub(4)).is_some_and(u8::is_ascii_whitespace);
        let before = self.text(span.start, trims_before)?;
        self.at = span.end;
        let after = trims_after && self.can_trim();
        self.by_hand = trims_after && !after;
        let last = tags.len().saturating_sub(1);
        for (at, tag) in tags.iter().enumerate() {
            let (left, right) =
                (if at == 0 && before { "-" } else { "" }, if at == last && after { "-" } else { "" });
            match tag {
                Tag::Print(text) => self.out.push_str(&format!("{{{{{left} {text} {right}}}}}")),
                Tag::Block(text) => self.out.push_str(&format!("{{%{left} {text} {right}%}}")),
                Tag::Comment(text) => {
                    let (open, close) = (space(!text.starts_with('\n')), space(!text.ends_with('\n')));
                    self.out.push_str(&format!("{{#{left}{open}{text}{close}{right}#}}"));
                }
                Tag::Raw(text) => {
                    self.out.push_str(&format!("{{%{left} raw %}}{text}{{% endraw {right}%}}"));
                }
            }
        }
        Ok(())
    }

    /// Writes the text to the end of the source.
    pub(super) fn end(&mut self) -> Result<(), Unsupported> {
        self.text(self.source.len(), false).map(|_| ())
    }

    /// Goes on after this place, without the text before it.
    pub(super) fn skip(&mut self, to: usize) {
        self.at = to;
        self.by_hand = false;
    }

    /// Writes the text up to an action. Whether the action's tag is to remove the space before it.
    fn text(&mut self, until: usize, trim: bool) -> Result<bool, Unsupported> {
        let raw = self.source.get(self.at..until).unwrap_or_default();
        let Ok(mut text) = std::str::from_utf8(raw) else {
            return Err(Unsupported { at: self.at, what: "text that is not UTF-8".to_owned() });
        };
        if self.by_hand {
            text = text.trim_start_matches(is_space);
        }
        let trimmed = text.trim_end_matches(is_space);
        let teras = trimmed.len() == text.trim_end().len() && !has_tags(text);
        let dash = trim && teras && trimmed.len() < text.len();
        if trim && !dash {
            text = trimmed;
        }
        let mut rest = text;
        while let Some(at) = rest.find("{%").into_iter().chain(rest.find("{#")).min() {
            self.out.push_str(&rest[..at]);
            self.out.push_str(&format!("{{{{ \"{}\" }}}}", &rest[at..at + 2]));
            rest = &rest[at + 2..];
        }
        match rest.strip_suffix('{') {
            Some(rest) => {
                self.out.push_str(rest);
                self.out.push_str("{{ \"{\" }}");
            }
            None => self.out.push_str(rest),
        }
        Ok(dash)
    }

    /// Whether Tera would remove the same space here as Go.
    fn can_trim(&self) -> bool {
        let rest = self.source.get(self.at..).unwrap_or_default();
        let gap = &rest[..memchr::memmem::find(rest, b"{{").unwrap_or(rest.len())];
        let Ok(gap) = std::str::from_utf8(gap) else { return false };
        !gap.is_empty() && gap.trim_start_matches(is_space).len() == gap.trim_start().len() && !has_tags(gap)
    }
}
