//! What can go wrong with a request, as far as it makes a difference what is done then.

use super::inventory::ObjectKey;

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// 409: for an apply, another manager holds a field with another value.
    #[error("{0}")]
    Conflict(String),
    /// Server-side apply cannot read the object: duplicate entries of a keyed list, or fields that the schema does not
    /// declare.
    #[error("{0}")]
    Untyped(String),
    /// 422 or 400: the object is not valid, or a field of it cannot be changed.
    #[error("{0}")]
    Invalid(String),
    /// 401 or 403.
    #[error("{0}")]
    Forbidden(String),
    /// 404: the object, or the namespace it is to be in, is not there.
    #[error("{0}")]
    NotFound(String),
    /// The kind is not served.
    #[error("the cluster does not serve {0}")]
    NotServed(String),
    /// 429, 5xx, or no answer: later perhaps.
    #[error("{0}")]
    Unavailable(String),
}

impl Failure {
    /// What a client's error means.
    pub fn of(error: kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Failure::Unavailable(chain(&error));
        };
        let message = status.message.clone();
        if message.contains("failed to create typed patch object")
            || message.contains("failed to create manager for")
        {
            return Failure::Untyped(message);
        }
        match status.code {
            409 => Failure::Conflict(message),
            400 | 405 | 406 | 413 | 415 | 422 => Failure::Invalid(message),
            401 | 403 => Failure::Forbidden(message),
            404 => Failure::NotFound(message.trim_end().to_owned()),
            _ => Failure::Unavailable(message),
        }
    }

    /// Whether waiting may help, without anybody changing the chart, the values or our rights.
    pub fn is_passing(&self) -> bool {
        matches!(self, Failure::Unavailable(_) | Failure::NotServed(_) | Failure::NotFound(_))
    }

    /// Whether it says that the kind is not served, rather than that an object is not there.
    pub fn says_no_kind(&self) -> bool {
        matches!(self, Failure::NotFound(m)
            if m.starts_with("404 page not found") || m.contains("could not find the requested resource"))
    }

    /// The message for a condition about an object. What the API server quotes of a Secret's content is left out.
    pub fn about(&self, key: &ObjectKey) -> String {
        let message = self.to_string();
        if key.kind.group.is_empty() && &*key.kind.kind == "Secret" {
            without_values(&message)
        } else {
            message
        }
    }
}

/// An error and its causes as one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(c) = cause {
        let more = c.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = c.source();
    }
    text
}

/// Cuts the quoted values out of a validation message: `Invalid value: "c2VjcmV0": …` and their kin.
fn without_values(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(" value: ") {
        let start = at + " value: ".len();
        out.push_str(&rest[..start]);
        out.push('…');
        let value = &rest[start..];
        // Go prints values with %q or as JSON: to the closing quote, or else to the next colon.
        let end = if let Some(quoted) = value.strip_prefix('"') {
            let mut escaped = false;
            quoted
                .find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                })
                .map_or(value.len(), |i| i + 2)
        } else {
            value.find(": ").unwrap_or(value.len())
        };
        rest = &value[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::inventory::GroupKind;
    use std::sync::Arc;

    #[test]
    fn secrets_are_not_quoted() {
        let key = |kind: &str| ObjectKey {
            kind: Arc::new(GroupKind::parse(kind)),
            namespace: "n".into(),
            name: "s".into(),
        };
        let said = Failure::Invalid(
            "Secret \"s\" is invalid: [data[a]: Invalid value: \"hunt\\\"er2\": too long, type: Invalid value: hunter3: no]"
                .into(),
        );
        insta::assert_snapshot!(said.about(&key("Secret")), @r#"Secret "s" is invalid: [data[a]: Invalid value: …: too long, type: Invalid value: …: no]"#);
        assert!(said.about(&key("ConfigMap")).contains("hunter3"));
    }

    #[test]
    fn codes_tell_what_is_done() {
        let of = |code: u16, message: &str| {
            Failure::of(kube::Error::Api(
                kube::core::Status::failure(message, "Reason").with_code(code).boxed(),
            ))
        };
        assert!(matches!(of(409, "Apply failed with 1 conflict"), Failure::Conflict(_)));
        assert!(of(503, "etcd is not there").is_passing());
        assert!(matches!(
            of(
                500,
                "failed to create typed patch object (a/b; v1, Kind=Pod): .spec.x: field not declared in schema"
            ),
            Failure::Untyped(_)
        ));
    }
}
