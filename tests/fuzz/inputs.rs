//! Inputs out of a seed and a number: pieces of what people write, mutated.

use std::{fs, path::Path};

/// Where inputs come from: whole texts, and what may stand in them.
pub struct Inputs {
    seeds: Vec<Vec<u8>>,
    words: &'static [&'static str],
}

impl Inputs {
    /// The inputs of a target.
    pub fn of(target: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (seeds, words) = match target {
            "templates" => (templates(root), TEMPLATE_WORDS),
            "yaml" => (files(root, &["values.yaml", "Chart.yaml"]), YAML_WORDS),
            "archives" => (archives(root), ARCHIVE_WORDS),
            _ => (SETS.iter().map(|text| text.as_bytes().to_vec()).collect(), SET_WORDS),
        };
        assert!(!seeds.is_empty(), "no seeds for {target}");
        Self { seeds, words }
    }

    /// The input of a number.
    pub fn make(&self, seed: u64, number: u64) -> Vec<u8> {
        let mut dice = Dice::new(seed, number);
        let mut input = self.seeds[dice.below(self.seeds.len())].clone();
        // Pieces are enough, and quicker.
        if input.len() > 600 && dice.below(8) != 0 {
            let from = dice.below(input.len() - 300);
            input = input[from..from + 100 + dice.below(200)].to_vec();
        }
        for _ in 0..=dice.below(8) {
            self.mutate(&mut input, &mut dice);
        }
        input
    }

    fn mutate(&self, input: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(input.len() + 1);
        let end = (at + dice.below(40)).min(input.len());
        match dice.below(10) {
            0 => drop(input.drain(at..end)),
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
            2 => input.insert(at, dice.byte()),
            3 => {
                // The same again, now and then very often.
                let times = if dice.below(20) == 0 { 2000 } else { 1 + dice.below(3) };
                let piece = input[at..end].repeat(times);
                input.splice(at..at, piece);
            }
            4 => {
                let other = &self.seeds[dice.below(self.seeds.len())];
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(120)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            5 if dice.below(4) == 0 => {
                let word = self.words[dice.below(self.words.len())].repeat(1 + dice.below(3000));
                input.splice(at..at, word.into_bytes());
            }
            6 => input.truncate(at),
            7 => input.swap_remove_some(at),
            _ => {
                let word = self.words[dice.below(self.words.len())];
                input.splice(at..at, word.bytes());
            }
        }
        input.truncate(1 << 17);
    }
}

trait SwapRemove {
    fn swap_remove_some(&mut self, at: usize);
}

impl SwapRemove for Vec<u8> {
    fn swap_remove_some(&mut self, at: usize) {
        if at < self.len() {
            self.swap_remove(at);
        }
    }
}

/// Random numbers out of a seed.
struct Dice(u64);

impl Dice {
    fn new(seed: u64, number: u64) -> Self {
        let mixed = (seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self(mixed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 24
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % limit
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// The templates of the test cases and of the charts that are kept here.
fn templates(root: &Path) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for entry in fs::read_dir(root.join("tests/render")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let sections = text.split("\n--- ").filter(|section| section.starts_with("templates/"));
        seeds.extend(sections.filter_map(|section| section.split_once('\n')).map(|(_, body)| body.into()));
    }
    walk(&root.join("charts"), &mut |path, data| {
        if path.to_string_lossy().contains("/templates/") {
            seeds.push(data);
        }
    });
    seeds
}

fn files(root: &Path, names: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = YAML_SEEDS.iter().map(|text| text.as_bytes().to_vec()).collect();
    walk(&root.join("charts"), &mut |path, data| {
        if path.file_name().is_some_and(|name| names.iter().any(|wanted| name == *wanted)) {
            seeds.push(data);
        }
    });
    seeds
}

/// Small charts, packed and not.
fn archives(root: &Path) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for chart in ["echo", "web"] {
        let mut tar = tar::Builder::new(Vec::new());
        tar.append_dir_all(chart, root.join("charts").join(chart)).unwrap();
        let tar = tar.into_inner().unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packed, &tar).unwrap();
        seeds.extend([packed.finish().unwrap(), tar]);
    }
    seeds
}

fn walk(folder: &Path, each: &mut dyn FnMut(&Path, Vec<u8>)) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, each);
        } else {
            let data = fs::read(&path).unwrap();
            each(&path, data);
        }
    }
}

const TEMPLATE_WORDS: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " -}}",
    "{{- ",
    "(",
    ")",
    "|",
    ".",
    "$",
    ":=",
    "=",
    ",",
    "\"",
    "`",
    "'",
    "\\",
    "/*",
    "*/",
    " if ",
    " else ",
    " else if ",
    " else with ",
    " end ",
    " range ",
    " with ",
    " define ",
    " block ",
    " template ",
    " break ",
    " continue ",
    " nil ",
    " true ",
    "{{ if . }}",
    "{{ end }}",
    "{{ range 3 }}",
    "{{ else }}",
    "{{ break }}",
    "{{ continue }}",
    "{{ $x := 1 }}",
    "{{ $x = 2 }}",
    "$x",
    ".Values",
    ".Values.map.b",
    ".Values.list",
    ".Values.name",
    ".Release.Name",
    ".Files.Get",
    ".Capabilities.APIVersions.Has",
    " and ",
    " or ",
    " not ",
    " eq ",
    " index ",
    " len ",
    " printf ",
    " print ",
    " include \"h\" ",
    " include \"r\" ",
    " tpl ",
    " toYaml ",
    " fromYaml ",
    " toJson ",
    " set ",
    " dict ",
    " list ",
    " default ",
    " required ",
    " fail ",
    " nindent 2 ",
    " repeat 1000 ",
    " until 100 ",
    " merge ",
    " deepCopy ",
    " regexMatch ",
    " call ",
    "0x1F",
    "1e3",
    "1_000",
    "'a'",
    "-1",
    "1i",
    "9223372036854775808",
    "é",
    "\u{0}",
    "{%",
    "%}",
    "{#",
    "#}",
    "\r\n",
    "\n",
];

const YAML_WORDS: &[&str] = &[
    "- ",
    "? ",
    ": ",
    "\n",
    "\n  ",
    "\t",
    "&a ",
    "*a",
    "!!str ",
    "!!int ",
    "!!binary ",
    "!!set",
    "!<x>",
    "<<: *a",
    "|",
    ">",
    "|2-",
    ">+",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "\"",
    "'",
    "\\x41",
    "\\u263A",
    "~",
    "null",
    "yes",
    "0777",
    "1_000",
    "0x1f",
    ".inf",
    ".nan",
    "1e400",
    "2001-01-01",
    "\u{FEFF}",
    "\u{85}",
    "\u{2028}",
    "\r",
    "\u{7}",
    "é",
    "=",
];

const ARCHIVE_WORDS: &[&str] = &[
    "../",
    "/",
    "\\",
    "C:",
    "Chart.yaml",
    "charts/",
    ".tgz",
    "\u{0}",
    "0000644",
    "77777777777",
    "ustar",
    "L",
    "x",
    "g",
    "1",
    "2",
    "5",
];

const SET_WORDS: &[&str] = &[
    "=", ",", ".", "[", "]", "{", "}", "\\", "a", "a.b", "[0]", "[65536]", "[-1]", "null", "true", "1", "\"",
    "'", ":", "é", " ",
];

const SETS: &[&str] = &[
    "a=1",
    "a.b.c=x,d=y",
    "a[0].b=1,a[1]=2",
    "list={a,b,c}",
    "a={}",
    "a=",
    "a\\.b=c\\,d",
    "map.b.c[1]=x",
    "name=null",
    "a=true,b=1e3,c=0x1f",
    "a={\"b\": [1, {\"c\": null}]}",
    "a[0][1][2]=x",
    "a.b[3]={x,y}",
];

const YAML_SEEDS: &[&str] = &[
    "a: &a {x: 1}\nb: *a\nc:\n  <<: *a\n  y: [1, 2.5, ~, yes, 'q', \"\\u263A\"]\n",
    "- |\n  text\n   more\n- >-\n  folded\n  text\n\n  more\n- ? key\n  : value\n",
    "%YAML 1.1\n---\na: !!str 1\nb: !!binary aGVsbG8=\n...\n---\nc\n",
    "a: 0777\nb: 1_000\nc: .inf\nd: 2001-01-01\ne: 0x1f\nf: 1e3\n",
];
