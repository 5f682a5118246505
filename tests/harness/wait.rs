//! Waiting for conditions.

use std::{fmt::Debug, future::Future, time::Duration};

use anyhow::{Result, bail};
use kube::{
    Api, Resource,
    runtime::wait::{Condition, await_condition},
};
use serde::{Serialize, de::DeserializeOwned};

/// How long tests wait for what takes a second on an idle machine. Nothing is waited for longer than it takes, so a long
/// limit costs nothing, and a short one fails on a machine that is busy with something else.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The pause between two attempts at what cannot be watched.
const RETRY: Duration = Duration::from_millis(20);

/// Watches an object until `condition` holds, and returns it. The API server may go and come meanwhile. When it takes
/// longer than [`PATIENCE`] the error shows the object as it is.
pub async fn object<K>(
    api: &Api<K>,
    name: &str,
    what: &str,
    condition: impl Condition<K>,
) -> Result<Option<K>>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    let mut last = None;
    let matches = |object: Option<&K>| condition.matches_object(object);
    let watching = async {
        loop {
            match await_condition(api.clone(), name, matches).await {
                Ok(object) => return object,
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    if let Ok(object) = tokio::time::timeout(PATIENCE, watching).await {
        return Ok(object);
    }
    let shown = match (last, api.get_opt(name).await?) {
        (Some(error), _) => format!("the last error is: {error}"),
        (None, Some(object)) => format!("it is:\n{}", serde_yaml::to_string(&object)?),
        (None, None) => "there is none".to_owned(),
    };
    bail!("waited {PATIENCE:?} in vain for {}/{name} until {what}; {shown}", api.resource_url())
}

/// Watches until no object has that name, or another has it than the one of `uid`.
pub async fn gone<K>(api: &Api<K>, name: &str, uid: &str) -> Result<()>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    let gone = |object: Option<&K>| object.is_none_or(|object| object.meta().uid.as_deref() != Some(uid));
    self::object(api, name, "it is deleted", gone).await.map(drop)
}

/// Asks `attempt` until it has an answer, for what cannot be watched. An error of an attempt is kept for the message.
pub async fn until<T, F>(what: &str, limit: Duration, mut attempt: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
{
    let mut last = None;
    let asking = async {
        loop {
            match attempt().await {
                Ok(Some(answer)) => return answer,
                Ok(None) => last = None,
                Err(error) => last = Some(error),
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    match tokio::time::timeout(limit, asking).await {
        Ok(answer) => Ok(answer),
        Err(_) => match last {
            Some(error) => Err(error.context(format!("waited {limit:?} in vain until {what}"))),
            None => bail!("waited {limit:?} in vain until {what}"),
        },
    }
}
