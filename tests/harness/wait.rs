//! Waiting for conditions.

use std::{fmt::Debug, future::Future, time::Duration};

use anyhow::{Result, bail};
use kube::{
    Api, Resource,
    runtime::wait::{Condition, await_condition, conditions},
};
use serde::{Serialize, de::DeserializeOwned};

/// How long tests wait for what takes a second on an idle machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Watches an object until `condition` holds, and returns it. When that takes longer than [`PATIENCE`] the error shows
/// the object as it is.
pub async fn object<K>(
    api: &Api<K>,
    name: &str,
    what: &str,
    condition: impl Condition<K>,
) -> Result<Option<K>>
where
    K: Resource<DynamicType: Default> + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    match tokio::time::timeout(PATIENCE, await_condition(api.clone(), name, condition)).await {
        Ok(object) => Ok(object?),
        Err(_) => {
            let kind = K::kind(&K::DynamicType::default()).into_owned();
            let shown = match api.get_opt(name).await? {
                Some(object) => serde_yaml::to_string(&object)?,
                None => "(there is none)".to_owned(),
            };
            bail!("waited {PATIENCE:?} in vain until {what}; {kind} {name} is:\n{shown}");
        }
    }
}

/// Watches until no object has that name, or another has it than the one of `uid`.
pub async fn gone<K>(api: &Api<K>, name: &str, uid: &str) -> Result<()>
where
    K: Resource<DynamicType: Default> + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    object(api, name, "it is deleted", conditions::is_deleted(uid)).await.map(drop)
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
            tokio::time::sleep(Duration::from_millis(20)).await;
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
