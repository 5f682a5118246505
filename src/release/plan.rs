//! What is to be done, from what is desired and what is seen. Pure: no client, no clock but the one given.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    digest::Long,
    inventory::ObjectKey,
    object::{BODY_FORMAT, Desired},
    rules::Rules,
};
use crate::api::definition::DriftMode;

/// A live object that carries some set's label, as it was last seen.
#[derive(Debug, Clone)]
pub struct Live {
    /// Its uid.
    pub uid: Box<str>,
    /// The set that it says it is part of.
    pub set: Arc<str>,
    /// The hash of our entry in its `managedFields`; none when there is no entry of ours.
    pub observed: Option<u64>,
    /// What our last apply left; none when we do not remember one.
    pub applied: Option<Applied>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it says that it is never to be pruned.
    pub keep: bool,
    /// While it is being deleted: the finalizers that hold it, separated by blanks.
    pub finalizers: Box<str>,
    /// What its annotations say about drift.
    pub rules: Option<Arc<Rules>>,
    /// Whether an autoscaler has scaled it.
    pub scaled: bool,
}

/// What an apply left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// Digest of what was sent.
    pub digest: u64,
    /// The hash of our entry in `managedFields` after it.
    pub hash: Option<u64>,
}

impl Live {
    /// Whether somebody else changed a field of ours since our last apply.
    pub fn drifted(&self) -> bool {
        self.applied.is_some_and(|a| a.hash != self.observed)
    }

    /// Whether nothing of it was applied by us, whatever its labels say. What is desired becomes a member with the next apply;
    /// what is not is not ours to delete.
    pub fn is_stray(&self) -> bool {
        self.observed.is_none()
    }

    /// The digest that an apply of a desired object leaves, with the rules that the live one says for itself.
    pub fn with_rules(&self, digest: u64) -> u64 {
        digest ^ self.rules.as_ref().map_or(0, |r| r.hash())
    }
}

/// Why an object is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is not there (or not to be seen: without its labels it is in no watch).
    Missing,
    /// It was there for this same desired state, and is gone or lost its labels.
    Lost,
    /// It is desired otherwise than before.
    Changed,
    /// Somebody else changed a field of ours.
    Drifted,
    /// It is not known what our last apply was: after a restart in the middle of something.
    Unknown,
}

/// An object to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its place in the desired state.
    pub desired: usize,
    /// Why.
    pub why: Why,
}

/// A member to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// Which.
    pub key: Arc<ObjectKey>,
    /// The precondition: this object, not a new one of the same name.
    pub uid: Box<str>,
    /// It is not deleted but let go: labels and owner are taken from it.
    pub keep: bool,
    /// It was never applied by us: somebody has copied a member, labels and all. It is let go.
    pub stray: bool,
}

/// Digest of what members are after an apply: their uids and our entries in their `managedFields`. While it is the same,
/// nobody has touched a field of ours in any of them. `rules` is a hash of the rules by which they were applied.
pub fn members_digest<'m>(
    members: impl IntoIterator<Item = (&'m Arc<ObjectKey>, &'m Live)>,
    rules: u64,
) -> String {
    let mut lines: Vec<_> = members
        .into_iter()
        .map(|(key, live)| (key, &live.uid, live.with_rules(live.observed.unwrap_or(0))))
        .collect();
    lines.sort();
    let mut digest = Long::default();
    digest.number(u64::from(BODY_FORMAT)).number(rules);
    for (key, uid, observed) in lines {
        digest.text(&key.to_string()).text(uid).number(observed);
    }
    digest.finish()
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// Groups of applies, one after the other; those of one group at once.
    pub apply: Vec<Vec<Step>>,
    /// Members that are no longer desired, for after all applies have succeeded.
    pub prune: Vec<Prune>,
    /// Desired objects that another set has: their places, and the other set.
    pub foreign: Vec<(usize, Arc<str>)>,
    /// Desired objects whose predecessor is being deleted: their places.
    pub leaving: Vec<usize>,
    /// Drift that is not corrected, by the definition's mode: places.
    pub tolerated: Vec<usize>,
    /// Drift that is not corrected yet, since somebody keeps fighting for it: place and when its turn is.
    pub held: Vec<(usize, Instant)>,
    /// Jobs that had their time and are gone: places.
    pub spent: Vec<usize>,
    /// Desired objects that need nothing.
    pub unchanged: usize,
}

impl Plan {
    /// Whether there is nothing to do and nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.apply.is_empty()
            && self.prune.is_empty()
            && self.foreign.is_empty()
            && self.leaving.is_empty()
            && self.held.is_empty()
    }
}

/// What a plan is made from, besides the desired state.
pub struct Situation<'a, L, M, R> {
    /// The id of the instance's set.
    pub set: &'a str,
    /// What carries any set's label under a key.
    pub live: L,
    /// The members of the set.
    pub members: M,
    /// How often an object was put back lately.
    pub repairs: R,
    /// Whether the desired state is the one that was applied in full before: what is missing then was taken away.
    pub settled: bool,
    /// What is done about drift.
    pub mode: DriftMode,
    /// Whether to apply everything, whatever is remembered.
    pub everything: bool,
    /// The time.
    pub now: Instant,
}

/// Makes the plan.
pub fn plan<'m, L, M, R>(desired: &[Desired], situation: Situation<'_, L, M, R>) -> Plan
where
    L: Fn(&ObjectKey) -> Option<Live>,
    R: Fn(&ObjectKey) -> Repairs,
    M: IntoIterator<Item = (&'m Arc<ObjectKey>, Live)>,
{
    let mut plan = Plan::default();
    let mut group = None;
    for (at, d) in desired.iter().enumerate() {
        let need = match (situation.live)(&d.key) {
            None if situation.settled && !situation.everything && d.goes_by_itself() => {
                plan.spent.push(at);
                continue;
            }
            None if situation.settled && !situation.everything => drift(d, None, Why::Lost, &situation),
            None => Need::Apply(Why::Missing),
            Some(live) if *live.set != *situation.set => {
                plan.foreign.push((at, live.set));
                continue;
            }
            Some(live) if live.deleting => {
                plan.leaving.push(at);
                continue;
            }
            Some(live) => need(d, &live, &situation),
        };
        let why = match need {
            Need::Nothing => {
                plan.unchanged += 1;
                continue;
            }
            Need::Tolerate => {
                plan.tolerated.push(at);
                continue;
            }
            Need::Hold(until) => {
                plan.held.push((at, until));
                continue;
            }
            Need::Apply(why) => why,
        };
        let step = Step { desired: at, why };
        match plan.apply.last_mut() {
            Some(steps) if group == Some(d.group) => steps.push(step),
            _ => plan.apply.push(vec![step]),
        }
        group = Some(d.group);
    }
    let wanted: HashSet<&ObjectKey> = desired.iter().map(|d| &*d.key).collect();
    for (key, live) in situation.members {
        if !wanted.contains(&**key) && !live.deleting {
            let stray = live.is_stray();
            plan.prune.push(Prune { key: key.clone(), uid: live.uid, keep: live.keep, stray });
        }
    }
    plan.prune.sort_by(|a, b| a.key.cmp(&b.key));
    plan
}

enum Need {
    Nothing,
    Tolerate,
    Hold(Instant),
    Apply(Why),
}

fn need<L, M, R>(desired: &Desired, live: &Live, situation: &Situation<'_, L, M, R>) -> Need
where
    R: Fn(&ObjectKey) -> Repairs,
{
    if situation.everything {
        return Need::Apply(Why::Unknown);
    }
    match live.applied {
        None => Need::Apply(Why::Unknown),
        Some(a) if a.digest != live.with_rules(desired.digest) => Need::Apply(Why::Changed),
        Some(a) if a.hash == live.observed => Need::Nothing,
        Some(_) => drift(desired, Some(live), Why::Drifted, situation),
    }
}

/// What is done about an object that somebody else changed or took away.
fn drift<L, M, R>(
    desired: &Desired,
    live: Option<&Live>,
    why: Why,
    situation: &Situation<'_, L, M, R>,
) -> Need
where
    R: Fn(&ObjectKey) -> Repairs,
{
    // The member's own word goes before the instance's, and that before the definition's.
    let own = live.and_then(|l| l.rules.as_ref()).and_then(|r| r.mode);
    match own.or(desired.rules.mode).unwrap_or(situation.mode) {
        DriftMode::Correct => {}
        DriftMode::Report => return Need::Tolerate,
        DriftMode::Off => return Need::Nothing,
    }
    match (situation.repairs)(&desired.key).held_until(situation.now) {
        Some(until) => Need::Hold(until),
        None => Need::Apply(why),
    }
}

/// How often an object was put back lately. Somebody who changes it again and again is given way, longer each time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Repairs {
    count: u8,
    last: Option<Instant>,
}

impl Repairs {
    /// So many repairs in a row are made at once.
    const FREE: u8 = 5;
    /// After so long without one, the count begins anew.
    const FORGET: Duration = Duration::from_secs(600);
    /// The longest wait.
    const LONGEST: Duration = Duration::from_secs(300);

    /// Counts a repair.
    pub fn count(&mut self, now: Instant) {
        if self.last.is_some_and(|last| now.duration_since(last) > Self::FORGET) {
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        self.last = Some(now);
    }

    /// How many repairs were made lately.
    pub fn lately(&self) -> u8 {
        self.count
    }

    /// When the next repair may be made, if that is later than now: after the free ones, 1, 2, 4… seconds apart.
    pub fn held_until(&self, now: Instant) -> Option<Instant> {
        let over = self.count.checked_sub(Self::FREE)?;
        let wait = Duration::from_secs(1 << over.min(9)).min(Self::LONGEST);
        let until = self.last? + wait;
        (until > now).then_some(until)
    }

    /// Whether somebody fights over the object.
    pub fn is_fight(&self) -> bool {
        self.count > Self::FREE
    }

    /// Whether nothing of it counts any more.
    pub fn is_forgotten(&self, now: Instant) -> bool {
        self.last.is_none_or(|last| now.duration_since(last) > Self::FORGET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::object::{
        prepare,
        tests::{parent, rendered, served},
    };
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    struct World {
        desired: Vec<Desired>,
        live: BTreeMap<Arc<ObjectKey>, Live>,
        set: String,
        now: Instant,
        repairs: Repairs,
    }

    impl World {
        /// A world in which all desired objects are live and as applied.
        fn new(objects: &[Value]) -> Self {
            let desired = prepare(rendered(objects), &parent(), "shop", served).unwrap().desired;
            let set = parent().set();
            let live = desired
                .iter()
                .map(|d| {
                    let live = Live {
                        uid: d.key.name.clone(),
                        set: set.as_str().into(),
                        observed: Some(1),
                        applied: Some(Applied { digest: d.digest, hash: Some(1) }),
                        deleting: false,
                        keep: d.keep,
                        finalizers: Box::default(),
                        rules: None,
                        scaled: false,
                    };
                    (d.key.clone(), live)
                })
                .collect();
            World { desired, live, set, now: Instant::now(), repairs: Repairs::default() }
        }

        fn at(&mut self, i: usize) -> &mut Live {
            self.live.get_mut(&self.desired[i].key).unwrap()
        }

        fn plan(&self, mode: DriftMode, settled: bool) -> Plan {
            plan(
                &self.desired,
                Situation {
                    set: &self.set,
                    live: |k: &ObjectKey| self.live.get(k).cloned(),
                    members: self
                        .live
                        .iter()
                        .filter(|(_, l)| *l.set == *self.set)
                        .map(|(k, l)| (k, l.clone())),
                    repairs: |_: &ObjectKey| self.repairs,
                    settled,
                    mode,
                    everything: false,
                    now: self.now,
                },
            )
        }
    }

    fn objects() -> Vec<Value> {
        vec![
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}),
        ]
    }

    #[test]
    fn nothing_to_do_when_all_is_as_applied() {
        let world = World::new(&objects());
        let plan = world.plan(DriftMode::Correct, true);
        assert!(plan.is_empty());
        assert_eq!(plan.unchanged, 3);
    }

    #[test]
    fn from_nothing_in_groups() {
        let mut world = World::new(&objects());
        world.live.clear();
        let plan = world.plan(DriftMode::Correct, false);
        let step = |desired| Step { desired, why: Why::Missing };
        assert_eq!(plan.apply, [vec![step(0), step(1)], vec![step(2)]]);
    }

    #[test]
    fn each_reason_to_apply() {
        let mut world = World::new(&objects());
        world.at(0).observed = Some(2);
        world.at(1).applied = None;
        world.at(2).applied = Some(Applied { digest: 0, hash: Some(1) });
        let plan = world.plan(DriftMode::Correct, true);
        let whys: Vec<Why> = plan.apply.iter().flatten().map(|s| s.why).collect();
        assert_eq!(whys, [Why::Drifted, Why::Unknown, Why::Changed]);
    }

    #[test]
    fn what_was_taken_away_comes_back_unless_told_otherwise() {
        let mut world = World::new(&objects());
        let gone = world.desired[0].key.clone();
        world.live.remove(&gone);
        assert_eq!(world.plan(DriftMode::Correct, true).apply[0][0].why, Why::Lost);
        assert_eq!(world.plan(DriftMode::Report, true).tolerated, [0]);
        assert_eq!(world.plan(DriftMode::Off, false).apply[0][0].why, Why::Missing);
    }

    #[test]
    fn drift_is_left_where_the_mode_says_so() {
        let mut world = World::new(&objects());
        world.at(0).observed = Some(2);
        let plan = world.plan(DriftMode::Report, true);
        assert!(plan.is_empty());
        assert_eq!(plan.tolerated, [0]);
    }

    #[test]
    fn what_was_never_applied_is_not_deleted() {
        let mut world = World::new(&objects());
        let gone = world.desired.pop().unwrap().key;
        assert_eq!(world.plan(DriftMode::Correct, true).prune[0].key, gone);
        world.live.get_mut(&gone).unwrap().observed = None;
        let plan = world.plan(DriftMode::Correct, true);
        assert!(plan.prune[0].stray);
    }

    #[test]
    fn a_members_own_word_goes_first() {
        let mut world = World::new(&objects());
        for at in 0..3 {
            world.at(at).observed = Some(2);
        }
        let rules = |mode| Rules { mode: Some(mode), ..Rules::default() };
        world.at(0).rules = Some(Arc::new(rules(DriftMode::Correct)));
        world.desired[0].rules = rules(DriftMode::Off);
        world.desired[1].rules = rules(DriftMode::Off);
        let plan = world.plan(DriftMode::Report, true);
        assert_eq!(plan.apply, [vec![Step { desired: 0, why: Why::Drifted }]]);
        assert_eq!((plan.unchanged, &plan.tolerated[..]), (1, &[2][..]));
    }

    #[test]
    fn a_rule_on_the_live_object_is_applied() {
        let mut world = World::new(&objects());
        world.at(0).rules = Some(Arc::new(Rules { ignore: vec!["/data".into()], ..Rules::default() }));
        assert_eq!(world.plan(DriftMode::Correct, true).apply[0][0].why, Why::Changed);
        let digest = world.live[&world.desired[0].key].with_rules(world.desired[0].digest);
        world.at(0).applied = Some(Applied { digest, hash: Some(1) });
        assert!(world.plan(DriftMode::Correct, true).is_empty());
    }

    #[test]
    fn another_sets_object_is_not_touched() {
        let mut world = World::new(&objects());
        world.at(0).set = "applyset-other-v1".into();
        world.at(1).deleting = true;
        let plan = world.plan(DriftMode::Correct, true);
        assert_eq!(plan.foreign, [(0, "applyset-other-v1".into())]);
        assert_eq!(plan.leaving, [1]);
        assert!(plan.apply.is_empty() && plan.prune.is_empty());
    }

    #[test]
    fn what_is_no_longer_desired_is_pruned_by_uid() {
        let mut world = World::new(&objects());
        world.desired.remove(1);
        let plan = world.plan(DriftMode::Correct, false);
        assert_eq!(plan.prune.len(), 1);
        assert_eq!(&*plan.prune[0].uid, "b");
    }

    #[test]
    fn a_fight_is_held_back_longer_and_longer() {
        let mut world = World::new(&objects());
        world.at(0).observed = Some(2);
        let now = world.now;
        let mut waits = Vec::new();
        for _ in 0..8 {
            world.repairs.count(now);
            let plan = world.plan(DriftMode::Correct, true);
            waits.push(plan.held.first().map(|(_, until)| until.duration_since(now).as_secs()));
        }
        assert_eq!(waits, [None, None, None, None, Some(1), Some(2), Some(4), Some(8)]);
        let mut later = world.repairs;
        later.count(now + Repairs::FORGET + Duration::from_secs(1));
        assert_eq!(later.lately(), 1);
    }
}
