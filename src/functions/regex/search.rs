//! Searching, splitting and replacing, one match after another as Go's regexp does.

use std::borrow::Cow;

use regex_automata::{Input, util::captures::Captures};

use super::expand::Template;
use crate::{
    functions::limits,
    value::{Scope, regexp::Expression},
};

/// The text that is searched: its runes, and where they are in the original.
struct Haystack<'t> {
    original: &'t [u8],
    text: Cow<'t, str>,
    /// For each byte of a text that is not UTF-8 where it is in the original.
    places: Option<Vec<usize>>,
}

impl<'t> Haystack<'t> {
    fn new(original: &'t [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(original) {
            return Self { original, text: Cow::Borrowed(text), places: None };
        }
        let (mut text, mut places) = (String::new(), Vec::new());
        let mut at = 0;
        for chunk in original.utf8_chunks() {
            text.push_str(chunk.valid());
            places.extend(at..at + chunk.valid().len());
            at += chunk.valid().len();
            for _ in chunk.invalid() {
                text.push(char::REPLACEMENT_CHARACTER);
                places.extend([at; 3]);
                at += 1;
            }
        }
        places.push(original.len());
        Self { original, text: Cow::Owned(text), places: Some(places) }
    }

    /// A part of the original.
    fn part(&self, from: usize, to: usize) -> &'t [u8] {
        let place = |at: usize| self.places.as_ref().map_or(at, |places| places[at]);
        &self.original[place(from)..place(to)]
    }

    fn len(&self) -> usize {
        self.text.len()
    }

    /// The width of the rune at a place, 0 at the end.
    fn width(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(0, char::len_utf8)
    }
}

impl Expression {
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(Input::new(&*Haystack::new(text).text))
    }

    fn find_at(&self, haystack: &Haystack<'_>, at: usize) -> Option<(usize, usize)> {
        let found = self.regex.find(Input::new(&*haystack.text).span(at..haystack.len()))?;
        Some((found.start(), found.end()))
    }

    /// The places of at most `most` matches.
    fn find_all(
        &self,
        haystack: &Haystack<'_>,
        most: usize,
    ) -> Result<Vec<(usize, usize)>, crate::functions::Error> {
        let mut found = Vec::new();
        let (mut at, mut last_end) = (0, None);
        while found.len() < most && at <= haystack.len() {
            let Some((start, end)) = self.find_at(haystack, at) else { break };
            let mut accept = true;
            if end == at {
                // Nothing is no match right behind another.
                accept = Some(start) != last_end;
                at += haystack.width(at).max(1);
            } else {
                at = end;
            }
            last_end = Some(end);
            if accept {
                found.push((start, end));
                limits::check_items(found.len())?;
            }
        }
        Ok(found)
    }

    /// The texts of at most `most` matches.
    pub(super) fn all<'t>(
        &self,
        text: &'t [u8],
        most: usize,
    ) -> Result<Vec<&'t [u8]>, crate::functions::Error> {
        let haystack = Haystack::new(text);
        let found = self.find_all(&haystack, most)?;
        Ok(found.into_iter().map(|(start, end)| haystack.part(start, end)).collect())
    }

    /// The text of the first match, nothing if there is none.
    pub(super) fn first<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let haystack = Haystack::new(text);
        self.find_at(&haystack, 0).map_or(&[], |(start, end)| haystack.part(start, end))
    }

    /// The texts between matches, at most `most` of them, the last one with all that is left.
    pub(super) fn split<'t>(
        &self,
        text: &'t [u8],
        most: Option<usize>,
    ) -> Result<Vec<&'t [u8]>, crate::functions::Error> {
        if !self.is_empty && text.is_empty() {
            return Ok(vec![text]);
        }
        let haystack = Haystack::new(text);
        let mut parts = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for (start, stop) in self.find_all(&haystack, most.unwrap_or(usize::MAX))? {
            if most.is_some_and(|most| parts.len() + 1 == most) {
                break;
            }
            end = start;
            if stop != 0 {
                parts.push(haystack.part(begin, end));
            }
            begin = stop;
        }
        if end != haystack.len() {
            parts.push(haystack.part(begin, haystack.len()));
        }
        Ok(parts)
    }

    /// The text with each match replaced.
    pub(super) fn replace(
        &self,
        scope: &Scope,
        text: &[u8],
        template: &Template<'_>,
    ) -> Result<Vec<u8>, crate::functions::Error> {
        let haystack = Haystack::new(text);
        let mut out = Vec::with_capacity(text.len());
        let mut captures = if template.needs_groups() {
            self.regex.create_captures()
        } else {
            Captures::matches(self.regex.group_info().clone())
        };
        let (mut last_end, mut at) = (0, 0);
        while at <= haystack.len() {
            let input = Input::new(&*haystack.text).span(at..haystack.len());
            self.regex.search_captures(&input, &mut captures);
            let Some(found) = captures.get_match() else { break };
            out.extend_from_slice(haystack.part(last_end, found.start()));
            // Nothing is not replaced right behind another match.
            if found.end() > last_end || found.start() == 0 {
                template.expand(&mut out, &self.names, |group| {
                    captures.get_group(group).map(|span| haystack.part(span.start, span.end))
                });
                limits::check_text(scope, out.len())?;
            }
            last_end = found.end();
            let width = haystack.width(at);
            at = if at + width > last_end {
                at + width
            } else if at + 1 > last_end {
                at + 1
            } else {
                last_end
            };
        }
        out.extend_from_slice(haystack.part(last_end, haystack.len()));
        Ok(out)
    }
}
