//! What lowered templates refer to by number or name.

use std::collections::{HashMap, HashSet};

use super::Op;

/// A constant that stands outside the lowered source.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// Text, which need not be UTF-8.
    Text(Box<[u8]>),
    /// An `int`.
    Int(i64),
    /// A `uint32` and its like.
    Uint(u64),
    /// A `float64`.
    Float(f64),
    /// A `complex128`: the real and the imaginary part.
    Complex(f64, f64),
    /// A boolean.
    Bool(bool),
    /// `nil`.
    Nil,
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

/// The expressions, paths, constants, functions and methods that the lowered templates of one Tera instance refer to.
#[derive(Debug, Default)]
pub struct Tables {
    /// The expressions that Tera does not read, one after the other.
    pub ops: Vec<Op>,
    /// Field paths without the leading dot, `Values.image.tag`, by number.
    pub paths: Names,
    /// Functions, by number.
    pub functions: Names,
    /// Methods, by number.
    pub methods: Names,
    /// Constants, by number.
    pub constants: Vec<Constant>,
    /// The uses of paths as filters, in templates of Tera's language.
    pub path_uses: HashSet<PathUse>,
}

impl Tables {
    /// Notes that a path is used where nil is no error for what it begins at.
    pub fn used(&mut self, path: &str, form: Form) -> PathUse {
        let used = PathUse { path: self.paths.number(path), form, strict: false };
        self.path_uses.insert(used);
        used
    }

    /// The number of a constant.
    pub(super) fn constant(&mut self, constant: Constant) -> u32 {
        self.constants.push(constant);
        u32::try_from(self.constants.len() - 1).unwrap_or(u32::MAX)
    }
}

/// Names by number.
#[derive(Debug, Default)]
pub struct Names {
    names: Vec<Box<str>>,
    /// The numbers, once there are many.
    numbers: HashMap<Box<str>, u32>,
}

/// Up to how many names are looked through one by one.
const FEW: usize = 8;

impl Names {
    /// The name of a number.
    #[must_use]
    pub fn get(&self, number: u32) -> &str {
        self.names.get(number as usize).map(|name| &**name).unwrap_or_default()
    }

    /// All names, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The number of a name.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let known = if self.names.len() <= FEW {
            self.names.iter().position(|known| **known == *name).and_then(|at| u32::try_from(at).ok())
        } else {
            self.numbers.get(name).copied()
        };
        if let Some(number) = known {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        if self.names.len() > FEW {
            let missing = self.numbers.len()..self.names.len();
            for (number, name) in missing.clone().zip(&self.names[missing]) {
                self.numbers.insert(name.clone(), u32::try_from(number).unwrap_or(u32::MAX));
            }
        }
        number
    }
}
