//! The flags of leader election: operator-sdk's, and the durations of controller-runtime.

use std::{env, time::Duration};

use anyhow::{Result, bail};
use clap::Args;

use crate::{api::duration, controller::leader::Election, release::digest::Fnv};

/// The Lease's name, if none is given.
const NAME: &str = "pintle";

/// Leader election
#[derive(Args)]
#[command(next_help_heading = "Leader election")]
pub struct Leader {
    /// Work only while holding a Lease, so that of several processes one works and the others stand by.
    #[arg(long, alias = "enable-leader-election", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true", action = clap::ArgAction::Set)]
    leader_elect: bool,
    /// Name of the Lease; by default pintle, and a name of its own for each --selector.
    #[arg(long, env = "OPERATOR_NAME", value_name = "NAME", default_value = "")]
    leader_election_id: String,
    /// Namespace of the Lease; by default the Pod's own, or that of the kubeconfig's context.
    #[arg(long, value_name = "NAMESPACE", default_value = "")]
    leader_election_namespace: String,
    /// How long a leader that went silent is waited for.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration::parse)]
    leader_election_lease_duration: Duration,
    /// How long the leader tries to renew the Lease before it gives up.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    leader_election_renew_deadline: Duration,
    /// How often the leader renews the Lease, and the others look at it.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration::parse)]
    leader_election_retry_period: Duration,
}

impl Leader {
    /// The election to take part in, if any. `selector` is what the process serves.
    pub fn election(&self, selector: &str, namespace: &str) -> Result<Option<Election>> {
        if !self.leader_elect {
            return Ok(None);
        }
        let or = |given: &str, default: &str| {
            if given.is_empty() { default.to_owned() } else { given.to_owned() }
        };
        // The Pod's name says who leads; what follows it tells apart two processes that go by one name.
        let host = env::var("POD_NAME").or_else(|_| env::var("HOSTNAME")).unwrap_or_else(|_| NAME.into());
        let election = Election {
            namespace: or(&self.leader_election_namespace, namespace),
            name: or(&self.leader_election_id, &default_name(selector)),
            identity: format!("{host}_{}", uuid::Uuid::new_v4()),
            lease: self.leader_election_lease_duration,
            renew: self.leader_election_renew_deadline,
            retry: self.leader_election_retry_period,
        };
        match election.fault() {
            None => Ok(Some(election)),
            Some(fault) => bail!(fault),
        }
    }
}

/// Processes that serve different instances elect leaders of their own.
fn default_name(selector: &str) -> String {
    if selector.is_empty() {
        return NAME.to_owned();
    }
    let mut hash = Fnv::default();
    hash.text(selector);
    format!("{NAME}-{:016x}", hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_has_its_own_lease() {
        assert_eq!(default_name(""), "pintle");
        assert_ne!(default_name("shard=a"), default_name("shard=b"));
    }
}
