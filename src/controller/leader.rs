//! Leader election: of several processes the one that holds a Lease works, as client-go's leaderelection has it.
//!
//! Nobody trusts another's clock: how old a claim is counts from when it was first seen here. The holder gives up its work
//! (`renew` after its last renewal) before anybody else may begin (`lease` after it), so no two work at once; and whoever
//! ends well empties the Lease, so that the next one need not wait.

use std::time::{Duration, Instant};

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};
use kube::{Api, Client, api::PostParams};
use tokio::{sync::oneshot, task::JoinHandle};

use super::jittered;
use crate::release::{failure::Failure, mandate::Mandate};

/// How a leader is elected.
#[derive(Debug, Clone)]
pub struct Election {
    /// Where the Lease is.
    pub namespace: String,
    /// The Lease's name. Those with the same name and namespace elect one among them.
    pub name: String,
    /// Who this process is; no other may have the same.
    pub identity: String,
    /// So long after its last renewal a claim holds.
    pub lease: Duration,
    /// So long the holder tries to renew before it gives up.
    pub renew: Duration,
    /// How often the holder renews, and the others look.
    pub retry: Duration,
}

impl Election {
    /// What is wrong with the durations, in the words of the flags, if something is.
    pub fn fault(&self) -> Option<&'static str> {
        if self.lease < Duration::from_secs(1) {
            return Some("--leader-election-lease-duration must be at least 1s");
        }
        if self.lease <= self.renew {
            return Some(
                "--leader-election-lease-duration must be longer than --leader-election-renew-deadline",
            );
        }
        if self.retry.is_zero() || self.renew <= self.retry + self.retry / 5 {
            return Some(
                "--leader-election-renew-deadline must be longer than 1.2 times --leader-election-retry-period",
            );
        }
        None
    }

    /// Waits until this process holds the Lease, and keeps it, and the mandate, from then on. What fails meanwhile is
    /// logged, and tried again. The client must not be one that waits for the mandate.
    pub async fn win(self, client: Client, mandate: Mandate) -> Leading {
        let api: Api<Lease> = Api::namespaced(client, &self.namespace);
        let mut sight = Sight::default();
        let mut said = String::new();
        loop {
            let asked = Instant::now();
            match self.attempt(&api, &mut sight, asked).await {
                Ok(Attempt::Won(lease)) => {
                    tracing::info!(lease = %self.name, namespace = %self.namespace, identity = %self.identity, "leading");
                    return Leading::keep(self, api, *lease, asked, mandate);
                }
                Ok(Attempt::Held(by)) => {
                    if said != by {
                        tracing::info!(lease = %self.name, namespace = %self.namespace, holder = %by, "another one leads: standing by");
                        said = by;
                    }
                }
                Err(failure) => {
                    let failure = failure.to_string();
                    if said != failure {
                        tracing::warn!(lease = %self.name, namespace = %self.namespace, error = %failure, "the lease cannot be had; it will be tried again");
                        said = failure;
                    }
                }
            }
            tokio::time::sleep(jittered(self.retry)).await;
        }
    }

    async fn attempt(&self, api: &Api<Lease>, sight: &mut Sight, now: Instant) -> Result<Attempt, Failure> {
        let Some(live) = api.get_opt(&self.name).await.map_err(Failure::of)? else {
            let lease = Lease {
                metadata: ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() },
                spec: Some(self.claim(None)),
            };
            return match api.create(&PostParams::default(), &lease).await.map_err(Failure::of) {
                Ok(lease) => Ok(Attempt::Won(Box::new(lease))),
                Err(Failure::Conflict(_)) => Ok(Attempt::Held("somebody who was faster".into())),
                Err(failure) => Err(failure),
            };
        };
        let spec = live.spec.clone().unwrap_or_default();
        if let Some(holder) = sight.holder(&spec, now) {
            return Ok(Attempt::Held(holder.to_owned()));
        }
        let lease = Lease { spec: Some(self.claim(Some(&spec))), ..live };
        match api.replace(&self.name, &PostParams::default(), &lease).await.map_err(Failure::of) {
            Ok(lease) => Ok(Attempt::Won(Box::new(lease))),
            Err(Failure::Conflict(_)) => Ok(Attempt::Held("somebody who was faster".into())),
            Err(failure) => Err(failure),
        }
    }

    fn claim(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        // Rounded up: others must not begin before the holder has given up.
        let seconds = self.lease.as_secs() + u64::from(self.lease.subsec_nanos() > 0);
        let changes = before.and_then(|b| b.lease_transitions).unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(seconds).unwrap_or(i32::MAX)),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: Some(if before.is_some() { changes.saturating_add(1) } else { 0 }),
            ..LeaseSpec::default()
        }
    }
}

enum Attempt {
    Won(Box<Lease>),
    Held(String),
}

/// What was last seen of a Lease, and since when it is so.
#[derive(Default)]
struct Sight {
    seen: Option<(LeaseSpec, Instant)>,
}

impl Sight {
    /// Who holds a Lease of which this was just seen; nobody when it is empty, or has not been renewed in its time.
    fn holder<'a>(&mut self, spec: &'a LeaseSpec, now: Instant) -> Option<&'a str> {
        let since = match &self.seen {
            Some((seen, since)) if seen == spec => *since,
            _ => {
                self.seen = Some((spec.clone(), now));
                now
            }
        };
        let holder = spec.holder_identity.as_deref().filter(|h| !h.is_empty())?;
        let holds = Duration::from_secs(u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0));
        (now.duration_since(since) < holds).then_some(holder)
    }
}

/// A Lease that is held, and renewed by a task of its own.
pub struct Leading {
    task: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Leading {
    fn keep(election: Election, api: Api<Lease>, lease: Lease, since: Instant, mandate: Mandate) -> Self {
        mandate.renewed(since, election.renew);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(keep(election, api, lease, since, mandate, stopped));
        Leading { task, stop: Some(stop) }
    }

    /// Waits until the Lease is lost.
    pub async fn lost(&mut self) {
        // A panic loses it as well.
        let _ = (&mut self.task).await;
    }

    /// Empties the Lease, for the next one to take at once.
    pub async fn release(mut self) {
        if let Some(stop) = self.stop.take() {
            // It has been lost already, then.
            let _ = stop.send(());
        }
        let _ = self.task.await;
    }
}

/// Renews a Lease until it is lost, or to be released.
async fn keep(
    election: Election,
    api: Api<Lease>,
    mut lease: Lease,
    mut renewed: Instant,
    mandate: Mandate,
    mut stopped: oneshot::Receiver<()>,
) {
    loop {
        let asked = tokio::select! {
            () = tokio::time::sleep(election.retry) => Instant::now(),
            _ = &mut stopped => {
                release(&election, &api, lease).await;
                return;
            }
        };
        let deadline = renewed + election.renew;
        let answer = tokio::time::timeout_at(deadline.into(), renew(&election, &api, &mut lease)).await;
        match answer {
            Ok(Ok(true)) => {
                renewed = asked;
                mandate.renewed(asked, election.renew);
            }
            Ok(Ok(false)) => {
                tracing::error!(lease = %election.name, "another one leads");
                return;
            }
            Ok(Err(failure)) => {
                tracing::warn!(lease = %election.name, error = %failure, "the lease was not renewed");
            }
            Err(_) => {}
        }
        if Instant::now() >= renewed + election.renew {
            tracing::error!(lease = %election.name, "the lease could not be renewed in time");
            return;
        }
    }
}

/// Renews a Lease; false when it is another's.
async fn renew(election: &Election, api: &Api<Lease>, lease: &mut Lease) -> Result<bool, Failure> {
    let mut next = lease.clone();
    next.spec.get_or_insert_default().renew_time = Some(MicroTime(Timestamp::now()));
    match api.replace(&election.name, &PostParams::default(), &next).await.map_err(Failure::of) {
        Ok(renewed) => {
            *lease = renewed;
            Ok(true)
        }
        // Somebody changed it (a label, perhaps), or deleted it.
        Err(Failure::Conflict(_) | Failure::NotFound(_)) => {
            let Some(live) = api.get_opt(&election.name).await.map_err(Failure::of)? else {
                return Ok(false);
            };
            let holder = live.spec.as_ref().and_then(|s| s.holder_identity.as_deref());
            let ours = holder == Some(election.identity.as_str());
            *lease = live;
            if !ours {
                return Ok(false);
            }
            lease.spec.get_or_insert_default().renew_time = Some(MicroTime(Timestamp::now()));
            *lease = api.replace(&election.name, &PostParams::default(), lease).await.map_err(Failure::of)?;
            Ok(true)
        }
        Err(failure) => Err(failure),
    }
}

async fn release(election: &Election, api: &Api<Lease>, mut lease: Lease) {
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(Timestamp::now()));
    let params = PostParams::default();
    let released = api.replace(&election.name, &params, &lease);
    match tokio::time::timeout(election.retry, released).await {
        Ok(Ok(_)) => tracing::info!(lease = %election.name, "released"),
        Ok(Err(error)) => {
            tracing::warn!(lease = %election.name, error = %Failure::of(error), "not released");
        }
        Err(_) => tracing::warn!(lease = %election.name, "not released: no answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(holder: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.into()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime(Timestamp::from_second(renewed).unwrap())),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_claim_ages_from_when_it_was_seen() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut sight = Sight::default();
        // Its clock is years behind, which says nothing.
        assert_eq!(sight.holder(&claim("a", 0), at(0)), Some("a"));
        assert_eq!(sight.holder(&claim("a", 0), at(14)), Some("a"));
        assert_eq!(sight.holder(&claim("a", 2), at(16)), Some("a"), "renewed");
        assert_eq!(sight.holder(&claim("a", 2), at(30)), Some("a"));
        assert_eq!(sight.holder(&claim("a", 2), at(31)), None);
        assert_eq!(sight.holder(&claim("", 3), at(32)), None, "released");
        assert_eq!(sight.holder(&LeaseSpec::default(), at(33)), None);
    }

    #[test]
    fn durations_leave_time_to_give_up() {
        let election = |lease, renew, retry| Election {
            namespace: "n".into(),
            name: "l".into(),
            identity: "i".into(),
            lease: Duration::from_secs(lease),
            renew: Duration::from_secs(renew),
            retry: Duration::from_secs(retry),
        };
        assert_eq!(election(15, 10, 2).fault(), None);
        assert!(election(10, 10, 2).fault().is_some());
        assert!(election(15, 2, 2).fault().is_some());
        assert!(election(15, 10, 0).fault().is_some());
        assert!(election(0, 0, 0).fault().is_some());
    }
}
