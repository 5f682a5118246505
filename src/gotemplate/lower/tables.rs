//! What lowered templates refer to by number or name.

use std::collections::{HashMap, HashSet};

/// A constant that stands outside the lowered source.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Text, which need not be UTF-8.
    Text(Box<[u8]>),
    /// An `int` that Tera's grammar cannot write.
    Int(i64),
    /// A `uint32` and its like.
    Uint(u64),
    /// A `float64`.
    Float(f64),
    /// A `complex128`: the real and the imaginary part.
    Complex(f64, f64),
}

/// What becomes of the field that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// It is used as it is.
    Value,
    /// It is tested.
    Truth,
    /// It is printed.
    Print,
}

/// A use of a path, for which the renderer registers a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathUse {
    /// Which of [`Tables::paths`].
    pub path: u32,
    /// What becomes of the field.
    pub form: Form,
    /// Whether the path begins at an element of a list or map, where a field of nil is an error; a field of a dot
    /// or variable that is nil is nil.
    pub strict: bool,
}

impl PathUse {
    /// The letter that the filter's name begins with; the number of the path follows.
    #[must_use]
    pub const fn letter(self) -> char {
        match (self.form, self.strict) {
            (Form::Value, false) => 'p',
            (Form::Truth, false) => 'q',
            (Form::Print, false) => 'w',
            (Form::Value, true) => 's',
            (Form::Truth, true) => 'r',
            (Form::Print, true) => 'x',
        }
    }

    /// The filter's name.
    #[must_use]
    pub fn filter(self) -> String {
        format!("{}{}", self.letter(), self.path)
    }
}

/// The paths, constants, functions and methods that the lowered templates of one Tera instance refer to.
#[derive(Debug, Default)]
pub struct Tables {
    /// Field paths without the leading dot, `Values.image.tag`, by number.
    pub paths: Vec<Box<str>>,
    /// Constants, by number.
    pub constants: Vec<Constant>,
    /// The uses of paths.
    pub path_uses: HashSet<PathUse>,
    /// The functions that are called without arguments, `g_f()`.
    pub called_bare: HashSet<Box<str>>,
    /// The functions that are called with one argument, `x|h_f`.
    pub called_one: HashSet<Box<str>>,
    /// The functions that are called with more arguments, `[x,y]|g_f`.
    pub called_many: HashSet<Box<str>>,
    /// The functions that are called with the last argument in the first place, `[y,x]|r_f`.
    pub called_rotated: HashSet<Box<str>>,
    /// The methods that are called with arguments on what a nil makes an error, `[x,y]|m_M`.
    pub methods: HashSet<Box<str>>,
    /// The methods that are called with arguments on what may be nil, `[x,y]|n_M`.
    pub lenient_methods: HashSet<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Tables {
    /// Notes that a path is used where nil is no error for what it begins at.
    pub fn used(&mut self, path: &str, form: Form) -> PathUse {
        let used = PathUse { path: self.path(path), form, strict: false };
        self.path_uses.insert(used);
        used
    }

    /// The number of a path.
    pub(super) fn path(&mut self, path: &str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(path.into());
        self.numbers.insert(path.into(), number);
        number
    }

    /// Notes a name in one of the sets.
    pub(super) fn note(set: &mut HashSet<Box<str>>, name: &str) {
        if !set.contains(name) {
            set.insert(name.into());
        }
    }

    /// The number of a constant.
    pub(super) fn constant(&mut self, constant: Constant) -> u32 {
        self.constants.push(constant);
        u32::try_from(self.constants.len() - 1).unwrap_or(u32::MAX)
    }
}
