//! .helmignore: which files of a chart folder are left out.

use super::error::Error;
use super::pattern::{BadPattern, matches};

/// The rules of a .helmignore file, and Helm's own one: no dot files directly in `templates/`.
pub struct Rules(Vec<Rule>);

struct Rule {
    pattern: String,
    negated: bool,
    only_folders: bool,
    /// The pattern has no slash: it is held against the last part of a path.
    only_base: bool,
    form: Form,
}

/// What a pattern is, since most are simple.
enum Form {
    /// A name as it is.
    Name,
    /// A star and what a name that has no slash must end with.
    End,
    /// Anything else.
    Other,
}

impl Form {
    fn of(pattern: &str, only_base: bool) -> Self {
        let is_name = |text: &str| !text.contains(['*', '?', '[', '\\']);
        match pattern.strip_prefix('*') {
            _ if is_name(pattern) => Self::Name,
            Some(end) if only_base && is_name(end) => Self::End,
            _ => Self::Other,
        }
    }
}

impl Rule {
    fn matches(&self, subject: &str) -> bool {
        match self.form {
            Form::Name => subject == self.pattern,
            Form::End => subject.ends_with(&self.pattern[1..]),
            Form::Other => matches(&self.pattern, subject).unwrap_or(false),
        }
    }
}

/// The longest line that Go's scanner takes.
const LONGEST_LINE: usize = 64 * 1024;

impl Rules {
    /// Reads .helmignore, if the chart has one.
    pub fn parse(file: Option<&[u8]>) -> Result<Self, Error> {
        let mut rules = Self(Vec::new());
        let text = file.unwrap_or_default();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for line in text.split(|&b| b == b'\n') {
            if line.len() >= LONGEST_LINE {
                return Err(Error::new("bufio.Scanner: token too long"));
            }
            rules.add(&String::from_utf8_lossy(line))?;
        }
        rules.add("templates/.?*")?;
        Ok(rules)
    }

    fn add(&mut self, line: &str) -> Result<(), Error> {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            return Ok(());
        }
        if rule.contains("**") {
            return Err(Error::new("double-star (**) syntax is not supported"));
        }
        matches(rule, "abc").map_err(|e: BadPattern| Error::new(e.to_string()))?;
        let (rule, negated) = rule.strip_prefix('!').map_or((rule, false), |r| (r, true));
        let (rule, only_folders) = rule.strip_suffix('/').map_or((rule, false), |r| (r, true));
        let (pattern, only_base) = match rule.strip_prefix('/') {
            Some(rooted) => (rooted, false),
            None => (rule, !rule.contains('/')),
        };
        let form = Form::of(pattern, only_base);
        self.0.push(Rule { pattern: pattern.to_owned(), negated, only_folders, only_base, form });
        Ok(())
    }

    /// Whether `path`, relative to the chart, is left out. The first rule that decides wins; a negated rule
    /// leaves out all that it does not match, as Helm has it.
    pub fn ignores(&self, path: &str, folder: bool) -> bool {
        for rule in &self.0 {
            let subject = if rule.only_base { path.rsplit('/').next().unwrap_or(path) } else { path };
            let hit = || rule.matches(subject);
            if rule.negated {
                if (rule.only_folders && !folder) || !hit() {
                    return true;
                }
            } else if (!rule.only_folders || folder) && hit() {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(rules: &str, path: &str, folder: bool) -> bool {
        Rules::parse(Some(rules.as_bytes())).unwrap().ignores(path, folder)
    }

    #[test]
    fn the_cases_of_helm() {
        for (rules, path, folder, expected) in [
            ("helm.txt", "helm.txt", false, true),
            ("helm.*", "helm.txt", false, true),
            ("helm.*", "rudder.txt", false, false),
            ("*.txt", "tiller.txt", false, true),
            ("*.txt", "cargo/a.txt", false, true),
            ("cargo/*.txt", "cargo/a.txt", false, true),
            ("cargo/*.*", "cargo/a.txt", false, true),
            ("cargo/*.txt", "mast/a.txt", false, false),
            ("ru[c-e]?er.txt", "rudder.txt", false, true),
            ("templates/.?*", "templates/.dotfile", false, true),
            (".*", ".joonix", false, true),
            (".*", "helm.txt", false, false),
            (".*", "cargo/.a", false, true),
            ("cargo/", "cargo", true, true),
            ("cargo/", "cargo/", true, false),
            ("cargo/", "mast/", true, false),
            ("helm.txt/", "helm.txt", false, false),
            ("!helm.txt", "helm.txt", false, false),
            ("!helm.txt", "tiller.txt", false, true),
            ("!*.txt", "cargo", true, true),
            ("!cargo/", "mast/", true, true),
            ("/a.txt", "a.txt", false, true),
            ("/a.txt", "cargo/a.txt", false, false),
            ("/cargo/a.txt", "cargo/a.txt", false, true),
            ("# *.txt", "a.txt", false, false),
            ("\u{feff}*.txt\r\n", "a.txt", false, true),
            ("", "templates/.git", false, true),
            ("", "templates/x/.git", false, false),
            ("", ".git", false, false),
        ] {
            assert_eq!(ignores(rules, path, folder), expected, "{rules:?} on {path}");
        }
    }

    #[test]
    fn what_helm_refuses() {
        let refused = |rules: &str| Rules::parse(Some(rules.as_bytes())).err().unwrap().to_string();
        assert_eq!(refused("a/**/b"), "double-star (**) syntax is not supported");
        assert_eq!(refused("["), "syntax error in pattern");
    }
}
