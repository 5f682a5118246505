//! Random choices out of random bytes, so that a generator is plain code and still shrinks: fewer and smaller bytes
//! make smaller choices.

use proptest::prelude::*;

/// The bytes that decide. When they are used up, every choice is the first one.
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        let choice = if limit <= 256 {
            usize::from(self.byte())
        } else {
            usize::from(self.byte()) << 8 | usize::from(self.byte())
        };
        choice % limit
    }

    /// Whether something of this probability happens; not when the choices are used up.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A string of characters from a set, up to a length.
    pub fn text(&mut self, from: &str, longest: usize) -> String {
        let set: Vec<char> = from.chars().collect();
        (0..self.below(longest + 1)).map(|_| self.pick(&set)).collect()
    }

    /// Several results of a generator, joined.
    pub fn join(
        &mut self,
        least: usize,
        most: usize,
        separator: &str,
        mut make: impl FnMut(&mut Self) -> String,
    ) -> String {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| make(self)).collect::<Vec<_>>().join(separator)
    }
}

/// Bytes for [`Choices`].
pub fn choices(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}
