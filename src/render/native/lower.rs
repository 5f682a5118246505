//! Native templates become Tera templates that evaluate by the rules of charts.
//!
//! Tera's language stays as it is: what changes is what its expressions mean ([`super::emit`]), and that a file may hold
//! definitions, `{% define "name" %}…{% enddefine %}`, each of which becomes a template of that name. What Tera would refuse
//! is passed on for Tera to refuse it.

use std::collections::HashSet;

use crate::gotemplate::lower::Tables;

use super::{
    emit::{Env, Origin, Out},
    tokens::{Kind, Part, Tag, Token, parts, unquoted},
    tree::Reader,
};

/// A template out of a file.
pub(in crate::render) struct Piece {
    /// The name of a definition; none for the file's own template.
    pub name: Option<String>,
    /// What Tera runs.
    pub source: String,
    /// Where the parts of the source come from.
    pub origins: Box<[Origin]>,
    /// Whether it holds nothing but white space and comments.
    pub blank: bool,
}

/// Lowers a file. `included` tells whether other templates include it with Tera's `include`.
pub(in crate::render) fn file(text: &str, included: bool, tables: &mut Tables) -> Vec<Piece> {
    let Some(parts) = parts(text) else {
        return vec![Piece { name: None, source: text.to_owned(), origins: Box::default(), blank: false }];
    };
    let mut main: Vec<Part<'_>> = Vec::new();
    let mut pieces = Vec::new();
    let mut parts = parts.into_iter();
    while let Some(part) = parts.next() {
        let Some((name, tag)) = definition(&part) else {
            main.push(part);
            continue;
        };
        let mut body = vec![edge(false, tag.trim_after)];
        let mut end = None;
        for part in parts.by_ref() {
            if let Part::Block(tag) = &part
                && tag.tokens.first().is_some_and(|token| token.is("enddefine"))
            {
                end = Some(tag.clone());
                break;
            }
            body.push(part);
        }
        let Some(end) = end else {
            // Tera says that it does not know the tag.
            main.push(part);
            main.append(&mut body);
            continue;
        };
        body.push(edge(end.trim_before, false));
        main.push(edge(tag.trim_before, false));
        main.push(edge(false, end.trim_after));
        pieces.push(piece(Some(name), &body, included, tables));
    }
    pieces.insert(0, piece(None, &main, included, tables));
    pieces
}

/// What removes the space before or after it, and prints nothing.
fn edge(before: bool, after: bool) -> Part<'static> {
    Part::Verbatim(match (before, after) {
        (true, true) => "{#- -#}",
        (true, false) => "{#- #}",
        (false, true) => "{# -#}",
        (false, false) => "{# #}",
    })
}

/// The name of the definition that begins here.
fn definition<'a, 'p>(part: &'p Part<'a>) -> Option<(String, &'p Tag<'a>)> {
    let Part::Block(tag) = part else { return None };
    match tag.tokens.as_slice() {
        [keyword, name] if keyword.is("define") && name.kind == Kind::Text => {
            Some((unquoted(name.text), tag))
        }
        _ => None,
    }
}

/// The templates that a file includes with Tera's `include`.
pub(in crate::render) fn includes(text: &str) -> Vec<String> {
    let parts = if text.contains("include") { parts(text).unwrap_or_default() } else { Vec::new() };
    let included = |part: Part<'_>| match part {
        Part::Block(tag) => match tag.tokens.as_slice() {
            [keyword, name] if keyword.is("include") && name.kind == Kind::Text => Some(unquoted(name.text)),
            _ => None,
        },
        _ => None,
    };
    parts.into_iter().filter_map(included).collect()
}

fn piece(name: Option<String>, parts: &[Part<'_>], included: bool, tables: &mut Tables) -> Piece {
    let mut lowering = Lowering {
        env: Env { tables, locals: locals(parts), included, component: false },
        out: Out::default(),
        loops: 0,
        before: parts.iter().any(|part| matches!(part, Part::Block(tag) if word(tag, 0) == "extends")),
    };
    lowering.early(parts);
    for part in parts {
        match part {
            Part::Verbatim(text) => lowering.out.push(text),
            Part::Print(tag) => lowering.print(tag),
            Part::Block(tag) => lowering.block(tag),
        }
    }
    let Lowering { out, .. } = lowering;
    let blank = parts.iter().all(|part| match part {
        Part::Verbatim(text) => is_blank(text),
        _ => false,
    });
    Piece { name, source: out.text, origins: out.map.into_boxed_slice(), blank }
}

fn is_blank(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("{#") {
        if !before.trim().is_empty() {
            return false;
        }
        rest = comment.split_once("#}").map_or("", |(_, after)| after);
    }
    rest.trim().is_empty()
}

fn word<'a>(tag: &Tag<'a>, at: usize) -> &'a str {
    tag.tokens.get(at).filter(|token| token.kind == Kind::Word).map_or("", |token| token.text)
}

/// The variables that a template sets.
fn locals<'a>(parts: &[Part<'a>]) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for part in parts {
        let (Part::Block(tag) | Part::Print(tag)) = part else { continue };
        if matches!(part, Part::Block(_)) && matches!(word(tag, 0), "set" | "set_global") {
            names.insert(word(tag, 1));
        }
        for (at, _) in tag.tokens.iter().enumerate().filter(|(_, token)| token.is("for")) {
            names.insert(word(tag, at + 1));
            if tag.tokens.get(at + 2).is_some_and(|token| token.is(",")) {
                names.insert(word(tag, at + 3));
            }
        }
    }
    names.remove("");
    names
}

struct Lowering<'a, 't> {
    env: Env<'a, 't>,
    out: Out,
    loops: usize,
    /// Whether the template extends another one, so that nothing may stand before its first tag.
    before: bool,
}

impl<'a> Lowering<'a, '_> {
    /// A variable that is read before it is set has until then what the dot has under its name.
    fn early(&mut self, parts: &[Part<'a>]) {
        if self.before {
            return;
        }
        let mut set: HashSet<&str> = HashSet::new();
        let mut early: Vec<&str> = Vec::new();
        for part in parts {
            let (Part::Block(tag) | Part::Print(tag)) = part else { continue };
            let is_set = matches!(part, Part::Block(_)) && matches!(word(tag, 0), "set" | "set_global");
            let is_for = matches!(part, Part::Block(_)) && word(tag, 0) == "for";
            for (at, token) in tag.tokens.iter().enumerate().skip(usize::from(is_set) * 2) {
                let field = at > 0 && matches!(tag.tokens[at - 1].text, "." | "?." | "|");
                let key = tag.tokens.get(at + 1).is_some_and(|next| next.is("=") || next.is("("));
                let named = is_for && at < 4;
                let is_read = token.kind == Kind::Word
                    && !(field || key || named)
                    && self.env.locals.contains(token.text)
                    && !set.contains(token.text);
                let comprehended = tag.tokens.iter().skip(1).any(|token| token.is("for"));
                if is_read && !comprehended && !early.contains(&token.text) {
                    early.push(token.text);
                }
            }
            if is_set {
                set.insert(word(tag, 1));
            }
            if is_for {
                set.insert(word(tag, 1));
                if tag.tokens.get(2).is_some_and(|token| token.is(",")) {
                    set.insert(word(tag, 3));
                }
            }
        }
        for name in early {
            if self.env.included {
                continue;
            }
            let filter = self.env.tables.used(name, crate::gotemplate::lower::Form::Value).filter();
            self.out.push(&format!("{{%set_global {name}=d|{filter}%}}"));
        }
    }

    fn open(&mut self, delimiter: &str, trim: bool) {
        self.out.push(delimiter);
        self.out.push(if trim { "-" } else { "" });
    }

    fn close(&mut self, delimiter: &str, trim: bool) {
        self.out.push(if trim { "-" } else { "" });
        self.out.push(delimiter);
    }

    /// What is not understood here is for Tera to refuse.
    fn verbatim(&mut self, tag: &Tag<'a>) {
        self.out.from(tag.text, tag.start, tag.start + tag.text.len());
    }

    fn print(&mut self, tag: &Tag<'a>) {
        let Some(expr) = Reader::new(&tag.tokens).whole() else { return self.verbatim(tag) };
        self.open("{{", tag.trim_before);
        // A minus must not be taken for one that trims.
        self.out.push(" ");
        self.env.print(&expr, &mut self.out);
        self.close("}}", tag.trim_after);
    }

    fn block(&mut self, tag: &Tag<'a>) {
        let done = match word(tag, 0) {
            "if" | "elif" => self.condition(tag),
            "for" => self.each(tag),
            "set" | "set_global" => self.set(tag),
            "filter" => self.filter(tag),
            "component" => {
                self.env.component = true;
                None
            }
            "endcomponent" => {
                self.env.component = false;
                None
            }
            "" if tag.tokens.first().is_some_and(|token| token.is("<")) => self.component(tag),
            _ => None,
        };
        if done.is_none() {
            self.verbatim(tag);
        }
    }

    fn condition(&mut self, tag: &Tag<'a>) -> Option<()> {
        let (keyword, rest) = tag.tokens.split_first()?;
        let expr = Reader::new(rest).whole()?;
        self.open("{%", tag.trim_before);
        self.out.token(*keyword);
        self.out.push(" ");
        self.env.truth(&expr, 0, &mut self.out);
        self.close("%}", tag.trim_after);
        Some(())
    }

    fn each(&mut self, tag: &Tag<'a>) -> Option<()> {
        let mut reader = Reader::new(&tag.tokens);
        let keyword = reader.next()?;
        let first = reader.word()?;
        let second = if reader.take(",") { Some(reader.word()?) } else { None };
        if !reader.take("in") {
            return None;
        }
        let source = reader.whole()?;
        self.loops += 1;
        self.open("{%", tag.trim_before);
        self.out.token(keyword);
        self.out.push(" ");
        match second {
            None => self.out.token(first),
            Some(_) => self.out.push(&format!("_entry{}", self.loops)),
        }
        self.out.push(" in ");
        self.env.value(&source, 17, &mut self.out);
        let Some(second) = second else {
            self.out.push("|_each");
            self.close("%}", tag.trim_after);
            return Some(());
        };
        self.out.push("|_entries%}");
        for (at, name) in [first, second].into_iter().enumerate() {
            self.out.push("{%set ");
            self.out.token(name);
            self.out.push(&format!("=_entry{}[{at}]", self.loops));
            self.close("%}", at == 1 && tag.trim_after);
        }
        Some(())
    }

    fn set(&mut self, tag: &Tag<'a>) -> Option<()> {
        let mut reader = Reader::new(&tag.tokens);
        let (keyword, name) = (reader.next()?, reader.word()?);
        if !reader.peek_is("=") {
            let filters = self.filters(reader)?;
            self.open("{%", tag.trim_before);
            self.out.token(keyword);
            self.out.push(" ");
            self.out.token(name);
            for write in filters {
                self.out.push("|");
                write(self);
            }
            self.close("%}", tag.trim_after);
            return Some(());
        }
        reader.next();
        let expr = reader.whole()?;
        self.open("{%", tag.trim_before);
        self.out.token(keyword);
        self.out.push(" ");
        self.out.token(name);
        self.out.push("=");
        self.env.value(&expr, 0, &mut self.out);
        self.close("%}", tag.trim_after);
        Some(())
    }

    fn filter(&mut self, tag: &Tag<'a>) -> Option<()> {
        let mut reader = Reader::new(&tag.tokens);
        let keyword = reader.next()?;
        // The first one has no bar before it.
        let mut tokens: Vec<Token<'a>> =
            vec![Token { kind: Kind::Operator, text: "|", start: keyword.end() }];
        tokens.extend_from_slice(reader.rest());
        let filters = self.filters(Reader::new(&tokens))?;
        self.open("{%", tag.trim_before);
        self.out.token(keyword);
        self.out.push(" ");
        for (at, write) in filters.into_iter().enumerate() {
            self.out.push(if at > 0 { "|" } else { "" });
            write(self);
        }
        self.close("%}", tag.trim_after);
        Some(())
    }

    /// `| name(…) | name`, to the end.
    #[allow(clippy::type_complexity, reason = "each writes one filter")]
    fn filters(&self, mut reader: Reader<'a, '_>) -> Option<Vec<Box<dyn FnOnce(&mut Self) + 'a>>> {
        let mut filters: Vec<Box<dyn FnOnce(&mut Self) + 'a>> = Vec::new();
        while reader.take("|") {
            let name = reader.word()?;
            let kwargs = if reader.peek_is("(") { Some(reader.kwargs()?) } else { None };
            filters.push(Box::new(move |lowering: &mut Self| {
                lowering.env.filter(name, kwargs.as_ref(), &mut lowering.out);
            }));
        }
        reader.rest().is_empty().then_some(filters)
    }

    fn component(&mut self, tag: &Tag<'a>) -> Option<()> {
        let mut reader = Reader::new(&tag.tokens);
        let open = reader.next()?;
        let (name, attributes) = reader.component_head()?;
        if !(reader.take(">") && reader.rest().is_empty()) {
            return None;
        }
        self.open("{%", tag.trim_before);
        self.out.push(" ");
        self.out.token(open);
        self.env.component(&name, &attributes, &mut self.out);
        self.out.push(">");
        self.close("%}", tag.trim_after);
        Some(())
    }
}
