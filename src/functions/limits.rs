//! How much one call may answer. Charts come nowhere near; what would exhaust the memory is refused.

use super::Error;
use crate::value::Scope;

/// The longest list that a function makes out of a number.
pub(crate) const MAX_ITEMS: usize = 1 << 22;

/// Refuses a text of this many bytes if it is longer than the render allows.
pub(crate) fn check_text(scope: &Scope, size: usize) -> Result<(), Error> {
    let most = scope.text_limit();
    if size > most {
        return Err(Error::Limit(format!("the result would be longer than {most} bytes")));
    }
    Ok(())
}

/// Refuses a list of this many items if it is too long.
pub(crate) fn check_items(count: usize) -> Result<(), Error> {
    if count > MAX_ITEMS {
        return Err(Error::Limit(format!("the result would have more than {MAX_ITEMS} items")));
    }
    Ok(())
}
