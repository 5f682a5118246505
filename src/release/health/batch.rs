//! Rules for Job.

use super::{Health, Observed};

/// A Job that runs is current, as kstatus has it: what it will come to is not known, and a chart with a long Job would never
/// be ready. A failed one has failed.
pub(super) fn job(o: &Observed<'_>) -> Health {
    let s = o.status;
    for c in &s.conditions.0 {
        match (&*c.r#type.0, &*c.status.0) {
            ("Failed", "True") => return Health::failed(c.why()),
            ("Complete" | "Suspended", "True") => return Health::current(),
            _ => {}
        }
    }
    if s.start_time.0 { Health::current() } else { Health::progress("not yet started") }
}
