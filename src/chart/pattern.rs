//! Go's `filepath.Match`: the patterns of .helmignore and of `--show-only`.

/// A pattern that Go would not compile. The text is Go's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

/// Whether the whole of `name` matches `pattern`: `*` and `?` stop at `/`, `[…]` is a class, `\` takes the next
/// character as it is.
///
/// As in Go, a bad pattern is an error only where matching comes to it.
pub fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let mut pattern = pattern;
    let mut name = name;
    while !pattern.is_empty() {
        let (star, chunk, rest) = split(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Ok(!name.contains('/'));
        }
        let tail = match_chunk(chunk, name)?;
        if let Some(tail) = tail
            && (tail.is_empty() || !pattern.is_empty())
        {
            name = tail;
            continue;
        }
        if star {
            let mut found = None;
            for (at, c) in name.char_indices() {
                if c == '/' {
                    break;
                }
                if let Some(tail) = match_chunk(chunk, &name[at + c.len_utf8()..])? {
                    if pattern.is_empty() && !tail.is_empty() {
                        continue;
                    }
                    found = Some(tail);
                    break;
                }
            }
            if let Some(tail) = found {
                name = tail;
                continue;
            }
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// Takes the leading stars and the text up to the next star off the pattern.
fn split(pattern: &str) -> (bool, &str, &str) {
    let chunk = pattern.trim_start_matches('*');
    let star = chunk.len() < pattern.len();
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in chunk.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => return (star, &chunk[..at], &chunk[at..]),
            _ => {}
        }
    }
    (star, chunk, "")
}

/// Matches a chunk without stars at the start of `name`; gives what is left of it.
fn match_chunk<'n>(chunk: &str, name: &'n str) -> Result<Option<&'n str>, BadPattern> {
    let mut rest = name.chars();
    let mut failed = false;
    let mut pattern = chunk.chars();
    while let Some(c) = pattern.next() {
        failed |= rest.as_str().is_empty();
        match c {
            '[' => {
                let subject = if failed { None } else { rest.next() };
                let negated = pattern.as_str().starts_with('^');
                if negated {
                    pattern.next();
                }
                let mut hit = false;
                let mut ranges = 0;
                loop {
                    if pattern.as_str().starts_with(']') && ranges > 0 {
                        pattern.next();
                        break;
                    }
                    let low = class_char(&mut pattern)?;
                    let mut high = low;
                    if pattern.as_str().starts_with('-') {
                        pattern.next();
                        high = class_char(&mut pattern)?;
                    }
                    hit |= subject.is_some_and(|s| (low..=high).contains(&s));
                    ranges += 1;
                }
                failed |= hit == negated;
            }
            '?' => {
                if !failed {
                    failed |= rest.next() == Some('/');
                }
            }
            c => {
                let c = if c == '\\' { pattern.next().ok_or(BadPattern)? } else { c };
                if !failed {
                    failed |= rest.next() != Some(c);
                }
            }
        }
    }
    Ok((!failed).then_some(rest.as_str()))
}

/// One end of a range in a class; something must follow it.
fn class_char(pattern: &mut std::str::Chars<'_>) -> Result<char, BadPattern> {
    let c = match pattern.next() {
        None | Some('-' | ']') => return Err(BadPattern),
        Some('\\') => pattern.next().ok_or(BadPattern)?,
        Some(c) => c,
    };
    if pattern.as_str().is_empty() { Err(BadPattern) } else { Ok(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_go() {
        for (pattern, name, expected) in [
            ("abc", "abc", Ok(true)),
            ("*", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*", "a", Ok(true)),
            ("a*", "abc", Ok(true)),
            ("a*", "ab/c", Ok(false)),
            ("a*/b", "abc/b", Ok(true)),
            ("a*/b", "a/c/b", Ok(false)),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", Ok(true)),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/f", Ok(true)),
            ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f", Ok(false)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzy", Ok(false)),
            ("ab[c]", "abc", Ok(true)),
            ("ab[b-d]", "abc", Ok(true)),
            ("ab[e-g]", "abc", Ok(false)),
            ("ab[^c]", "abc", Ok(false)),
            ("ab[^e-g]", "abc", Ok(true)),
            ("a\\*b", "a*b", Ok(true)),
            ("a\\*b", "ab", Ok(false)),
            ("a?b", "a☺b", Ok(true)),
            ("a[^a]b", "a☺b", Ok(true)),
            ("a???b", "a☺b", Ok(false)),
            ("[a-ζ]*", "α", Ok(true)),
            ("*[a-ζ]", "A", Ok(false)),
            ("a?b", "a/b", Ok(false)),
            ("a*b", "a/b", Ok(false)),
            ("[\\]a]", "]", Ok(true)),
            ("[\\-]", "-", Ok(true)),
            ("[x\\-]", "x", Ok(true)),
            ("[]a]", "]", Err(BadPattern)),
            ("[-]", "-", Err(BadPattern)),
            ("[x-]", "x", Err(BadPattern)),
            ("[a-b-c]", "a", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("[^", "a", Err(BadPattern)),
            ("a[", "a", Err(BadPattern)),
            ("a[", "ab", Err(BadPattern)),
            ("a[", "x", Err(BadPattern)),
            ("a/b[", "x", Err(BadPattern)),
            ("*x", "xxx", Ok(true)),
            ("", "", Ok(true)),
            ("\\", "a", Err(BadPattern)),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} on {name}");
        }
    }
}
