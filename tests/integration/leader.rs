//! Several processes: one leads at a time, and shares are kept apart.

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use rustix::process::Signal;
use serde_json::json;

use crate::{
    harness::{AuditMark, Cluster, Namespace, Request, wait},
    operator::{Operator, Resources, entry, sample},
};

const LEASE: &str = "test";

/// Flags that elect a leader in a namespace, and look at the Lease more often than by default. What is waited for is the end of
/// one that is killed; no machine is so busy that it does not renew one in so long a time.
fn elected(space: &Namespace) -> Vec<String> {
    let namespace = format!("--leader-election-namespace={}", space.name());
    let flags = [
        "--leader-elect",
        "--leader-election-id=test",
        &namespace,
        "--leader-election-lease-duration=20s",
        "--leader-election-renew-deadline=15s",
        "--leader-election-retry-period=500ms",
    ];
    flags.map(str::to_owned).to_vec()
}

async fn start(cluster: &Cluster, space: &Namespace, flags: &[String]) -> Operator {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    Operator::start(cluster, space, &[entry("Sample", &sample())], &flags).await.unwrap()
}

async fn holder(leases: &Api<Lease>) -> String {
    let lease = leases.get_opt(LEASE).await.unwrap();
    lease.and_then(|l| l.spec).and_then(|s| s.holder_identity).unwrap_or_default()
}

/// Waits until somebody holds the Lease who is not `before`.
async fn leads(leases: &Api<Lease>, before: &str) -> String {
    wait::until("there is a new leader", wait::PATIENCE, || async {
        let holder = holder(leases).await;
        Ok((!holder.is_empty() && holder != before).then_some(holder))
    })
    .await
    .unwrap()
}

/// What an operator has done since, but for the Lease.
fn work(cluster: &Cluster, mark: AuditMark, operator: &Operator) -> Vec<Request> {
    let requests = cluster.requests_since(mark).unwrap();
    let ours = |r: &Request| {
        // The harness asks as the operator's user whether its rights are in force.
        r.user == operator.user() && !["leases", "selfsubjectaccessreviews"].contains(&r.resource.as_str())
    };
    requests.into_iter().filter(ours).collect()
}

fn is_write(r: &Request) -> bool {
    !["get", "list", "watch"].contains(&r.verb.as_str())
}

/// Creates resources, and waits until the leader is in the middle of applying their members.
async fn busy(cluster: &Cluster, mark: AuditMark, samples: &Resources, leader: &Operator) {
    for i in 0..20 {
        samples.create(&format!("web-{i}"), json!({"maps": 5})).await.unwrap();
    }
    leader
        .until("a third is applied", || async {
            Ok((work(cluster, mark, leader).iter().filter(|r| r.verb == "patch").count() > 50).then_some(()))
        })
        .await
        .unwrap();
}

/// Waits until all that [`busy`] made is ready, and sees that nothing was done twice.
async fn all_once(space: &Namespace, samples: &Resources, leader: &Operator) {
    for i in 0..20 {
        let web = samples.ready(leader, &format!("web-{i}")).await.unwrap();
        assert_eq!(web.data["status"]["release"]["revision"], 1);
    }
    let maps: Api<ConfigMap> = space.api();
    let all = maps.list(&ListParams::default().labels("applyset.kubernetes.io/part-of")).await.unwrap();
    assert_eq!(all.items.len(), 100);
}

/// The second wrote nothing before the first had written for the last time.
fn one_after_the_other(cluster: &Cluster, mark: AuditMark, first: &Operator, second: &Operator) {
    let times = |operator| {
        let writes = work(cluster, mark, operator).into_iter().filter(is_write);
        writes.map(|r| r.received).collect::<Vec<_>>()
    };
    let last = times(first).into_iter().max().unwrap();
    let next = times(second).into_iter().min().unwrap();
    assert!(last < next, "{last} {next}");
}

#[tokio::test]
async fn another_takes_over_from_one_that_is_killed_and_at_once_from_one_that_ends() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("leader").await.unwrap();
    let leases: Api<Lease> = space.api();
    let mark = cluster.audit_mark().unwrap();
    let mut first = start(cluster, &space, &elected(&space)).await;
    let one = leads(&leases, "").await;
    let mut second = start(cluster, &space, &elected(&space)).await;
    let samples = Resources::new(&space, "Sample");
    busy(cluster, mark, &samples, &first).await;
    let told: Vec<String> = work(cluster, mark, &second).into_iter().map(|r| r.uri).collect();
    assert_eq!(told, ["/version"], "who stands by does nothing");
    assert!(second.metrics().await.unwrap().sum("pintle_leader", &[]) < 1.0);

    first.kill().await.unwrap();
    let two = leads(&leases, &one).await;
    all_once(&space, &samples, &second).await;
    one_after_the_other(cluster, mark, &first, &second);

    // With nothing to do, leading costs the renewals.
    second
        .until("nothing but the lease is written", || async {
            let mark = cluster.audit_mark()?;
            second
                .until("the lease is renewed some times", || async {
                    let all = cluster.requests_since(mark)?;
                    let renewals = all.iter().filter(|r| r.user == second.user() && r.resource == "leases");
                    Ok((renewals.count() > 5).then_some(()))
                })
                .await?;
            Ok(work(cluster, mark, &second).is_empty().then_some(()))
        })
        .await
        .unwrap();

    first.run().await.unwrap();
    let log = second.log_file().unwrap();
    second.stop().await.unwrap();
    leads(&leases, &two).await;
    assert!(std::fs::read_to_string(log).unwrap().contains("released"));
    samples.create("late", json!({"workload": false})).await.unwrap();
    samples.ready(&first, "late").await.unwrap();
}

#[tokio::test]
async fn a_leader_that_was_frozen_does_not_go_on() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("frozen").await.unwrap();
    let leases: Api<Lease> = space.api();
    let mark = cluster.audit_mark().unwrap();
    let first = start(cluster, &space, &elected(&space)).await;
    let one = leads(&leases, "").await;
    let second = start(cluster, &space, &elected(&space)).await;
    let samples = Resources::new(&space, "Sample");
    busy(cluster, mark, &samples, &first).await;

    first.signal(Signal::STOP).unwrap();
    leads(&leases, &one).await;
    all_once(&space, &samples, &second).await;
    first.signal(Signal::CONT).unwrap();
    let status = first.ended().await.unwrap();
    assert!(!status.success(), "it has lost, and says so: {status}");
    one_after_the_other(cluster, mark, &first, &second);
}

#[tokio::test]
async fn each_serves_its_share() {
    let cluster = Cluster::shared().await.unwrap();
    let space = cluster.namespace("share").await.unwrap();
    let flags = |share: &str| {
        let mut flags = elected(&space);
        // Each share has a Lease of its own, by default.
        flags.retain(|f| !f.contains("election-id"));
        flags.push(format!("--selector=share={share}"));
        flags
    };
    let blue = start(cluster, &space, &flags("blue")).await;
    let green = start(cluster, &space, &flags("green")).await;
    let samples = Resources::new(&space, "Sample");
    samples.create("nobodys", json!({"workload": false})).await.unwrap();
    samples.create("web", json!({"workload": false})).await.unwrap();
    let label = |share: &str| Patch::Merge(json!({"metadata": {"labels": {"share": share}}}));
    samples.api().patch("web", &PatchParams::default(), &label("blue")).await.unwrap();
    samples.ready(&blue, "web").await.unwrap();
    let maps: Api<ConfigMap> = space.api();
    let uid = maps.get("web-0").await.unwrap().metadata.uid;

    let mark = cluster.audit_mark().unwrap();
    samples.api().patch("web", &PatchParams::default(), &label("green")).await.unwrap();
    samples.change("web", json!({"message": "after"})).await.unwrap();
    let back =
        |m: Option<&ConfigMap>| m.and_then(|m| m.data.as_ref()).is_some_and(|d| d["message"] == "after");
    wait::object(&maps, "web-0", "the other one applies", back).await.unwrap();
    samples.ready(&green, "web").await.unwrap();
    assert_eq!(maps.get("web-0").await.unwrap().metadata.uid, uid);
    let blue: Vec<String> = work(cluster, mark, &blue)
        .into_iter()
        .filter(|r| is_write(r) && r.resource != "events")
        .map(|r| r.uri)
        .collect();
    assert_eq!(blue, [] as [&str; 0]);
    let nobodys = samples.api().get("nobodys").await.unwrap();
    assert!(nobodys.data["status"].is_null(), "{}", nobodys.data["status"]);
}
