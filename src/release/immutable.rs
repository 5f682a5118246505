//! Fields that cannot be changed: told from the API server's refusals.

/// Words of refusals that are about a change rather than about a value (kubernetes/pkg/apis/*/validation).
const WORDS: [&str; 12] = [
    "is immutable",
    "immutable when",
    "updates to statefulset spec",
    "updates to provisioner",
    "updates to parameters",
    "updates to reclaimPolicy",
    "may not change",
    "may not be changed",
    "cannot change",
    "can not be changed",
    "can not be unset",
    "can not be less than",
];

/// A refused change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Immutable {
    /// The fields, as the API server names them: `spec.selector`.
    pub fields: Vec<String>,
    /// Its reason.
    pub why: String,
}

/// What cannot be changed, if that is what a refusal (422) says.
pub fn read(message: &str) -> Option<Immutable> {
    if !WORDS.iter().any(|word| message.contains(word)) {
        return None;
    }
    // `Deployment.apps "web" is invalid: spec.selector: Invalid value: …: field is immutable`, or several such in brackets.
    let errors = message.split_once(" is invalid: ").map_or(message, |(_, errors)| errors);
    let errors = errors.strip_prefix('[').and_then(|e| e.strip_suffix(']')).unwrap_or(errors);
    let mut fields: Vec<String> = Vec::new();
    for (at, _) in errors.match_indices(": ") {
        let kinds = ["Invalid value", "Forbidden", "Required value", "Unsupported value"];
        if !kinds.iter().any(|kind| errors[at + 2..].starts_with(kind)) {
            continue;
        }
        let before = &errors[..at];
        let start = before.rfind([' ', ',']).map_or(0, |i| i + 1);
        let field = &before[start..];
        let is_path = field.chars().all(|c| c.is_alphanumeric() || "._-[]/()".contains(c));
        if !field.is_empty() && is_path && !fields.iter().any(|f| f == field) {
            fields.push(field.to_owned());
        }
    }
    // Of a claim's spec the API server goes on with a comparison of both, line by line.
    let line = errors.lines().next().unwrap_or_default();
    let why = match line.split_once("Forbidden: ") {
        Some((_, why)) => why,
        None => line.rsplit(": ").next().unwrap_or_default(),
    };
    let why = why.trim().trim_end_matches('.').to_owned();
    Some(Immutable { fields, why })
}

impl Immutable {
    /// `.spec.selector, .spec.template`; `a field` when the API server named none.
    pub fn names(&self) -> String {
        if self.fields.is_empty() {
            return "a field".into();
        }
        self.fields.iter().map(|f| format!(".{f}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages are as kube-apiserver 1.36 writes them.
    #[test]
    fn fields_and_reasons() {
        let messages = [
            r#"Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b, c: d"}}: field is immutable"#,
            r#"StatefulSet.apps "db" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"#,
            "PersistentVolumeClaim \"data\" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -1: +1: @@\n-  \"a\": null,\n",
            "PersistentVolumeClaim \"data\" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
            "ConfigMap \"c\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
            r#"Service "s" is invalid: [spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set, spec.ipFamilies[0]: Invalid value: "IPv6": field is immutable]"#,
            r#"StorageClass.storage.k8s.io "fast" is invalid: parameters: Forbidden: updates to parameters are forbidden."#,
        ];
        let said: Vec<String> = messages
            .iter()
            .map(|m| {
                let found = read(m).unwrap();
                format!("{}: {}", found.names(), found.why)
            })
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        .spec.selector: field is immutable
        .spec: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden
        .spec: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims
        .spec.resources.requests.storage: field can not be less than status.capacity
        .data: field is immutable when `immutable` is set
        .spec.clusterIPs[0], .spec.ipFamilies[0]: field is immutable
        .parameters: updates to parameters are forbidden
        "#);
        for other in [
            r#"Service "s" is invalid: spec.ports[0].port: Invalid value: 99999999: must be between 1 and 65535, inclusive"#,
            "",
        ] {
            assert_eq!(read(other), None);
        }
    }
}
