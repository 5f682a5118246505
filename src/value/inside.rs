//! The maps that a walk is inside of, so that one that holds itself ends it.

use tera::Map;

use super::{Error, MapRef};

/// The changed maps on the path of a walk. Maps as they were made cannot hold themselves, and are not kept.
#[derive(Default)]
pub(super) struct Inside(Vec<*const Map>);

impl Inside {
    /// Goes into a map; what it answers is for [`Inside::leave`]. A map that the walk is inside of already is an
    /// [`Error::Cycle`].
    pub(super) fn enter(&mut self, map: &MapRef<'_>) -> Result<Entered, Error> {
        let MapRef::Changed(changed) = map else { return Ok(Entered(false)) };
        let address = std::ptr::from_ref::<Map>(changed);
        if self.0.contains(&address) {
            return Err(Error::Cycle);
        }
        self.0.push(address);
        Ok(Entered(true))
    }

    /// Goes out of the map last gone into.
    pub(super) fn leave(&mut self, Entered(kept): Entered) {
        if kept {
            self.0.pop();
        }
    }
}

/// Whether the map gone into is kept in the path.
#[must_use]
pub(super) struct Entered(bool);
