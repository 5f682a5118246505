//! Classes of characters, by Perl's, POSIX's and Unicode's names.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A class of ranges.
pub(super) fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(first, last)| ClassUnicodeRange::new(*first, *last)))
}

/// Every character.
pub(super) fn any() -> ClassUnicode {
    of_ranges(&[('\0', char::MAX)])
}

/// The class with all that is the same but for case.
pub(super) fn folded(mut class: ClassUnicode, fold: bool) -> ClassUnicode {
    if fold {
        // It fails only where the tables of cases are not built in.
        let _ = class.try_case_fold_simple();
    }
    class
}

pub(super) fn negated(mut class: ClassUnicode, negate: bool) -> ClassUnicode {
    if negate {
        class.negate();
    }
    class
}

/// The class behind a Perl escape such as `\d`, all of which are ASCII.
pub(super) fn perl(letter: u8) -> Option<(ClassUnicode, bool)> {
    let ranges: &[(char, char)] = match letter.to_ascii_lowercase() {
        b'd' => &[('0', '9')],
        b's' => &[('\t', '\n'), ('\x0C', '\r'), (' ', ' ')],
        b'w' => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        _ => return None,
    };
    Some((of_ranges(ranges), letter.is_ascii_uppercase()))
}

/// The class behind a POSIX name such as `alpha` of `[:alpha:]`, all of which are ASCII.
pub(super) fn posix(name: &str) -> Option<ClassUnicode> {
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7F')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1F'), ('\x7F', '\x7F')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(of_ranges(ranges))
}

/// The class behind a name of Unicode such as `Greek` of `\p{Greek}`, as Go 1.26 has it, which knows the characters of
/// Unicode 15: newer ones have no properties yet.
pub(super) fn unicode(name: &str) -> Option<ClassUnicode> {
    let name = canonical(name);
    let mut class = latest(&name)?;
    let known = table("age=15.0")?;
    match name.as_str() {
        "Any" => {}
        "C" | "Other" | "Cn" | "Unassigned" => class.union(&negated(known, true)),
        _ => class.intersect(&known),
    }
    Some(class)
}

fn latest(name: &str) -> Option<ClassUnicode> {
    match name {
        "Any" => return Some(any()),
        "Ascii" => return Some(of_ranges(&[('\0', '\x7F')])),
        "Assigned" => return table("gc=Cn").map(|class| negated(class, true)),
        "Lc" => return table("gc=LC"),
        // Surrogates are no characters here.
        "Cs" | "Surrogate" => return Some(of_ranges(&[])),
        _ => {}
    }
    if CATEGORIES.contains(&name) || CATEGORY_ALIASES.contains(&name) {
        return table(&format!("gc={name}"));
    }
    if SCRIPTS.contains(&name) { table(&format!("sc={name}")) } else { None }
}

/// A name as Go looks it up: one capital at the start, and no separators.
fn canonical(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')) {
        out.push(if out.is_empty() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
    }
    out
}

/// The class of a property in the tables of regex-syntax.
fn table(property: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(&format!("\\p{{{property}}}")).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

const CATEGORIES: &[&str] = &[
    "C", "Cc", "Cf", "Cn", "Co", "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl",
    "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs",
];

const CATEGORY_ALIASES: &[&str] = &[
    "Casedletter",
    "Closepunctuation",
    "Cntrl",
    "Combiningmark",
    "Connectorpunctuation",
    "Control",
    "Currencysymbol",
    "Dashpunctuation",
    "Decimalnumber",
    "Digit",
    "Enclosingmark",
    "Finalpunctuation",
    "Format",
    "Initialpunctuation",
    "Letter",
    "Letternumber",
    "Lineseparator",
    "Lowercaseletter",
    "Mark",
    "Mathsymbol",
    "Modifierletter",
    "Modifiersymbol",
    "Nonspacingmark",
    "Number",
    "Openpunctuation",
    "Other",
    "Otherletter",
    "Othernumber",
    "Otherpunctuation",
    "Othersymbol",
    "Paragraphseparator",
    "Privateuse",
    "Punct",
    "Punctuation",
    "Separator",
    "Spaceseparator",
    "Spacingmark",
    "Symbol",
    "Titlecaseletter",
    "Unassigned",
    "Uppercaseletter",
];

/// Those of one word: Go knows the others by names that its own lookup does not make.
const SCRIPTS: &[&str] = &[
    "Adlam",
    "Ahom",
    "Arabic",
    "Armenian",
    "Avestan",
    "Balinese",
    "Bamum",
    "Batak",
    "Bengali",
    "Bhaiksuki",
    "Bopomofo",
    "Brahmi",
    "Braille",
    "Buginese",
    "Buhid",
    "Carian",
    "Chakma",
    "Cham",
    "Cherokee",
    "Chorasmian",
    "Common",
    "Coptic",
    "Cuneiform",
    "Cypriot",
    "Cyrillic",
    "Deseret",
    "Devanagari",
    "Dogra",
    "Duployan",
    "Elbasan",
    "Elymaic",
    "Ethiopic",
    "Georgian",
    "Glagolitic",
    "Gothic",
    "Grantha",
    "Greek",
    "Gujarati",
    "Gurmukhi",
    "Han",
    "Hangul",
    "Hanunoo",
    "Hatran",
    "Hebrew",
    "Hiragana",
    "Inherited",
    "Javanese",
    "Kaithi",
    "Kannada",
    "Katakana",
    "Kawi",
    "Kharoshthi",
    "Khmer",
    "Khojki",
    "Khudawadi",
    "Lao",
    "Latin",
    "Lepcha",
    "Limbu",
    "Lisu",
    "Lycian",
    "Lydian",
    "Mahajani",
    "Makasar",
    "Malayalam",
    "Mandaic",
    "Manichaean",
    "Marchen",
    "Medefaidrin",
    "Miao",
    "Modi",
    "Mongolian",
    "Mro",
    "Multani",
    "Myanmar",
    "Nabataean",
    "Nandinagari",
    "Newa",
    "Nko",
    "Nushu",
    "Ogham",
    "Oriya",
    "Osage",
    "Osmanya",
    "Palmyrene",
    "Phoenician",
    "Rejang",
    "Runic",
    "Samaritan",
    "Saurashtra",
    "Sharada",
    "Shavian",
    "Siddham",
    "Sinhala",
    "Sogdian",
    "Soyombo",
    "Sundanese",
    "Syriac",
    "Tagalog",
    "Tagbanwa",
    "Takri",
    "Tamil",
    "Tangsa",
    "Tangut",
    "Telugu",
    "Thaana",
    "Thai",
    "Tibetan",
    "Tifinagh",
    "Tirhuta",
    "Toto",
    "Ugaritic",
    "Vai",
    "Vithkuqi",
    "Wancho",
    "Yezidi",
    "Yi",
];
