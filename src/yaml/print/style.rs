//! How a string may be written: plain, quoted or as a block.

use super::super::resolve::{Dialect, is_plain_string};

/// The styles of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// What was found in a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysis {
    /// Whether there is a line break in it, of any kind.
    pub(super) multiline: bool,
    plain: bool,
    single_quoted: bool,
    block: bool,
    /// Whether there is a line feed in it.
    line_feed: bool,
    /// Whether it does not survive the way through JSON that sigs.k8s.io/yaml takes.
    pub(super) odd: bool,
}

/// Marks the bytes that an analysis stops at.
const fn interesting() -> [bool; 256] {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = b <= b' ' as usize || b >= 0x7F || b == b':' as usize || b == b'#' as usize;
        b += 1;
    }
    table
}

static INTERESTING: [bool; 256] = interesting();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Previous {
    Other,
    Space,
    Tab,
    Break,
}

/// Looks a string over, as libyaml's emitter does.
pub(super) fn analyze(text: &str, dialect: Dialect) -> Analysis {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
    if bytes.is_empty() {
        return Analysis {
            multiline: false,
            plain: true,
            single_quoted: true,
            block: false,
            line_feed: false,
            odd: false,
        };
    }
    let blank_after = |i: usize| i >= bytes.len() || matches!(bytes[i], b' ' | b'\t');
    let mut indicators = match bytes[0] {
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%'
        | b'@' | b'`' => true,
        b'?' | b':' | b'-' if blank_after(1) => true,
        first @ (b'-' | b'.') => at(1) == first && at(2) == first,
        _ => false,
    };
    let (mut breaks, mut line_feed, mut special, mut tabs) = (false, false, false, false);
    let (mut break_then_space, mut space_then_break, mut odd) = (false, false, false);
    let mut previous = Previous::Other;
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        if !INTERESTING[b as usize] {
            previous = Previous::Other;
            i += 1;
            continue;
        }
        let mut width = 1;
        let mut now = Previous::Other;
        match b {
            b' ' => {
                now = Previous::Space;
                break_then_space |= previous == Previous::Break;
            }
            b':' => indicators |= i > 0 && blank_after(i + 1),
            b'#' => indicators |= previous != Previous::Other,
            b'\t' => {
                now = Previous::Tab;
                tabs = true;
            }
            b'\n' => {
                now = Previous::Break;
                line_feed = true;
            }
            b'\r' => {
                now = Previous::Break;
                special = true;
            }
            0 => {
                // Counts as blank for a following `#`.
                now = Previous::Tab;
                special = true;
            }
            1..0x20 => special = true,
            0x7F => {
                special = true;
                odd = true;
            }
            _ => {
                width = match b {
                    0..0xE0 => 2,
                    0xE0..0xF0 => 3,
                    _ => 4,
                };
                match (b, at(i + 1), at(i + 2)) {
                    (0xC2, second @ 0..0xA0, _) => {
                        special = true;
                        odd = true;
                        if second == 0x85 {
                            now = Previous::Break;
                        }
                    }
                    (0xE2, 0x80, 0xA8 | 0xA9) => now = Previous::Break,
                    (0xEF, 0xBB, 0xBF) | (0xF0.., ..) => special = true,
                    (0xEF, 0xBF, 0xBE | 0xBF) => {
                        special = true;
                        odd = true;
                    }
                    _ => {}
                }
            }
        }
        if now == Previous::Break {
            breaks = true;
            space_then_break |= previous == Previous::Space;
        }
        previous = now;
        i += width;
    }
    let first_is_break =
        matches!(bytes[0], b'\n' | b'\r') || text.starts_with(['\u{85}', '\u{2028}', '\u{2029}']);
    let ends_in_space = previous == Previous::Space;
    let ends_open = bytes[0] == b' ' || first_is_break || ends_in_space || previous == Previous::Break;
    let tabs = match dialect {
        Dialect::V2 => {
            special |= tabs;
            false
        }
        Dialect::V3 => tabs,
    };
    let inline = !(break_then_space || space_then_break || special || tabs);
    Analysis {
        multiline: breaks,
        plain: inline && !ends_open && !breaks && !indicators,
        single_quoted: inline,
        block: !(ends_in_space || space_then_break || special),
        line_feed,
        odd,
    }
}

/// The style that go-yaml writes a string in.
pub(super) fn select(text: &str, analysis: &Analysis, simple_key: bool, dialect: Dialect) -> Style {
    if analysis.line_feed {
        return if analysis.block && !simple_key { Style::Literal } else { Style::DoubleQuoted };
    }
    if (simple_key && analysis.multiline) || !is_plain_string(text, dialect) {
        Style::DoubleQuoted
    } else if analysis.plain {
        Style::Plain
    } else if analysis.single_quoted {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    }
}
