//! Kubeconfigs, and users with chosen rights.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject},
};
use kube::{
    Api, Client, Config,
    api::{ObjectMeta, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, process::Command};

use super::{Cluster, certificates::Identity, programs, wait};

/// How somebody proves who they are.
pub enum Proof<'a> {
    /// A client certificate.
    Certificate(&'a Identity),
    /// A service account's token.
    Token(&'a str),
}

/// A kubeconfig for one user and one cluster, with everything in it.
pub fn kubeconfig(server: &str, authority: &str, proof: &Proof<'_>, namespace: &str) -> Result<String> {
    let user = match proof {
        Proof::Certificate(identity) => json!({
            "client-certificate-data": BASE64_STANDARD.encode(&identity.certificate),
            "client-key-data": BASE64_STANDARD.encode(&identity.key),
        }),
        Proof::Token(token) => json!({ "token": token }),
    };
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {
            "server": server, "certificate-authority-data": BASE64_STANDARD.encode(authority),
        }}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "user", "namespace": namespace}}],
        "current-context": "test",
    });
    Ok(serde_yaml::to_string(&config)?)
}

/// How a program ended and what it printed.
#[derive(Debug, Clone)]
pub struct Output {
    /// Whether its exit code was 0.
    pub success: bool,
    /// What it printed on stdout.
    pub stdout: String,
    /// What it printed on stderr.
    pub stderr: String,
}

/// Somebody who may use the cluster.
#[derive(Debug, Clone)]
pub struct Credentials {
    user: String,
    kubeconfig: PathBuf,
}

impl Credentials {
    pub(super) fn write(
        dir: &Path,
        file: &str,
        user: &str,
        (server, authority): (&str, &str),
        proof: &Proof<'_>,
        namespace: &str,
    ) -> Result<Self> {
        let path = dir.join(format!("{file}.kubeconfig"));
        fs::write(&path, kubeconfig(server, authority, proof, namespace)?)
            .with_context(|| format!("write {}", path.display()))?;
        Ok(Self { user: user.to_owned(), kubeconfig: path })
    }

    pub(super) fn open(dir: &Path, file: &str, user: &str) -> Self {
        Self { user: user.to_owned(), kubeconfig: dir.join(format!("{file}.kubeconfig")) }
    }

    /// The user's name, as the API server and its audit log know it.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// A kubeconfig file for kubectl, helm and pintle.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Runs `kubectl` or `helm` as this user to its end, and gives what it printed.
    pub async fn run(&self, program: &str, args: &[&str], stdin: &str) -> Result<Output> {
        // Both keep what kinds a server has in the home folder, by its address, and would find it stale there.
        let home = tempfile::tempdir()?;
        let mut child = Command::new(programs::program(program)?)
            .args(args)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", home.path())
            .env_remove("KUBECACHEDIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("start {program}"))?;
        let mut pipe = child.stdin.take().context("a pipe was asked for")?;
        let write = async {
            // A program that does not read its input closes it.
            let _ = pipe.write_all(stdin.as_bytes()).await;
            drop(pipe);
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), write);
        let output = output?;
        Ok(Output {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// A new client. Each test needs its own, since connections belong to the runtime that opened them.
    pub async fn client(&self) -> Result<Client> {
        let config = Config::from_custom_kubeconfig(
            Kubeconfig::read_from(&self.kubeconfig)?,
            &KubeConfigOptions::default(),
        )
        .await?;
        Ok(Client::try_from(config)?)
    }
}

/// Rights to give to a user.
#[derive(Debug, Clone)]
pub enum Grant<'a> {
    /// In all namespaces and on cluster-scoped resources.
    Everywhere(Vec<PolicyRule>),
    /// In one namespace.
    In(&'a str, Vec<PolicyRule>),
}

/// A rule: API groups (`""` is the core group), resources (`deployments`, `deployments/status`) and verbs.
pub fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    PolicyRule {
        api_groups: Some(owned(groups)),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

static USERS: AtomicUsize = AtomicUsize::new(0);

impl Cluster {
    /// A new user with a client certificate, who may do what `grants` say and nothing else. The user's name begins
    /// with `name`. Returns when the API server knows the rights.
    pub async fn user(&self, name: &str, grants: &[Grant<'_>]) -> Result<Credentials> {
        let user = format!("{name}-{}-{}", std::process::id(), USERS.fetch_add(1, Ordering::Relaxed));
        let identity = self.authority().client(&user, None)?;
        let credentials = Credentials::write(
            self.dir(),
            &user,
            &user,
            (&self.server(), self.authority().certificate()),
            &Proof::Certificate(&identity),
            "default",
        )?;
        let client = self.client().await?;
        for (number, grant) in grants.iter().enumerate() {
            let metadata = ObjectMeta { name: Some(format!("{user}-{number}")), ..ObjectMeta::default() };
            let subject = Subject {
                kind: "User".into(),
                name: user.clone(),
                api_group: Some(RBAC.into()),
                namespace: None,
            };
            let role = |kind: &str| RoleRef {
                api_group: Some(RBAC.into()),
                kind: kind.into(),
                name: metadata.name.clone().unwrap_or_default(),
            };
            let params = PostParams::default();
            match grant {
                Grant::Everywhere(rules) => {
                    let role_ref = role("ClusterRole");
                    let role = ClusterRole {
                        metadata: metadata.clone(),
                        rules: Some(rules.clone()),
                        aggregation_rule: None,
                    };
                    Api::all(client.clone()).create(&params, &role).await?;
                    let binding = ClusterRoleBinding { metadata, role_ref, subjects: Some(vec![subject]) };
                    Api::all(client.clone()).create(&params, &binding).await?;
                }
                Grant::In(namespace, rules) => {
                    let role_ref = role("Role");
                    let role = Role { metadata: metadata.clone(), rules: Some(rules.clone()) };
                    Api::namespaced(client.clone(), namespace).create(&params, &role).await?;
                    let binding = RoleBinding { metadata, role_ref, subjects: Some(vec![subject]) };
                    Api::namespaced(client.clone(), namespace).create(&params, &binding).await?;
                }
            }
        }
        let theirs = credentials.client().await?;
        for grant in grants {
            wait_for_grant(&theirs, grant).await?;
        }
        Ok(credentials)
    }

    /// Credentials of an existing service account: a token of an hour from the TokenRequest API, as a Pod has it.
    pub async fn service_account(&self, namespace: &str, name: &str) -> Result<Credentials> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client().await?, namespace);
        let request = TokenRequest {
            spec: Some(TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() }),
            ..TokenRequest::default()
        };
        let answer: TokenRequest =
            accounts.create_subresource("token", name, &PostParams::default(), &request).await?;
        let token = answer.status.and_then(|status| status.token).context("the API server gave no token")?;
        let file =
            format!("{namespace}-{name}-{}-{}", std::process::id(), USERS.fetch_add(1, Ordering::Relaxed));
        Credentials::write(
            self.dir(),
            &file,
            &format!("system:serviceaccount:{namespace}:{name}"),
            (&self.server(), self.authority().certificate()),
            &Proof::Token(&token),
            namespace,
        )
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// Rights take effect when the API server's own watch has seen them.
async fn wait_for_grant(client: &Client, grant: &Grant<'_>) -> Result<()> {
    let (namespace, rules) = match grant {
        Grant::Everywhere(rules) => (None, rules),
        Grant::In(namespace, rules) => (Some((*namespace).to_owned()), rules),
    };
    let first = |words: &Option<Vec<String>>| words.as_ref().and_then(|words| words.first().cloned());
    for rule in rules {
        let (Some(resource), Some(verb)) = (first(&rule.resources), rule.verbs.first()) else { continue };
        let (resource, subresource) = match resource.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), Some(subresource.to_owned())),
            None => (resource, None),
        };
        let review = SelfSubjectAccessReview {
            spec: SelfSubjectAccessReviewSpec {
                resource_attributes: Some(ResourceAttributes {
                    group: first(&rule.api_groups),
                    resource: Some(resource),
                    subresource,
                    verb: Some(verb.clone()),
                    namespace: namespace.clone(),
                    name: first(&rule.resource_names),
                    ..ResourceAttributes::default()
                }),
                ..SelfSubjectAccessReviewSpec::default()
            },
            ..SelfSubjectAccessReview::default()
        };
        let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
        wait::until("the API server knows a user's rights", wait::PATIENCE, || async {
            let answer = reviews.create(&PostParams::default(), &review).await?;
            Ok(answer.status.is_some_and(|status| status.allowed).then_some(()))
        })
        .await?;
    }
    Ok(())
}
