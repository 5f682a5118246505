//! Rules for kinds that follow the conventions of conditions, and for kinds that define kinds.

use super::{Health, Observed};

/// What every rule begins with: a controller that has not yet seen the spec, and the conditions that kstatus defines for
/// everybody.
pub(super) fn not_observed(o: &Observed<'_>) -> Option<Health> {
    if let (Some(generation), Some(observed)) = (o.generation, o.status.observed_generation.0)
        && observed < generation
    {
        return Some(Health::progress(format!("generation {generation} is not yet observed")));
    }
    for c in &o.status.conditions.0 {
        match (&*c.r#type.0, &*c.status.0) {
            ("Reconciling", "True") => return Some(Health::progress(c.why())),
            ("Stalled", "True") => return Some(Health::failed(c.why())),
            _ => {}
        }
    }
    None
}

/// Any kind: the condition Ready decides when there is one, and else what others have in its place: Available (Kubernetes'
/// own word for it), Programmed (Gateway API). Without any, what exists is current, as kstatus has it.
pub(super) fn conditions(o: &Observed<'_>) -> Health {
    let Some(c) = ["Ready", "Available", "Programmed"].iter().find_map(|t| o.status.condition(t)) else {
        return Health::current();
    };
    if let (Some(generation), Some(observed)) = (o.generation, c.observed_generation.0)
        && observed < generation
    {
        return Health::progress(format!("generation {generation} is not yet observed"));
    }
    if c.is("True") { Health::current() } else { Health::progress(c.why()) }
}

/// CustomResourceDefinition: its names are accepted and it is served.
pub(super) fn established(o: &Observed<'_>) -> Health {
    if let Some(c) = o.status.condition("NamesAccepted").filter(|c| c.is("False")) {
        return Health::failed(c.why());
    }
    match o.status.condition("Established") {
        Some(c) if c.is("True") => Health::current(),
        Some(c) if c.is("False") && &*c.reason.0 != "Installing" => Health::failed(c.why()),
        _ => Health::progress("not yet served"),
    }
}

/// APIService: the API server reaches what is behind it.
pub(super) fn available(o: &Observed<'_>) -> Health {
    match o.status.condition("Available") {
        Some(c) if c.is("True") => Health::current(),
        Some(c) => Health::progress(c.why()),
        None => Health::progress("not yet available"),
    }
}
