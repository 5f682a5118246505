//! Names of objects, as Kubernetes wants them.

/// What is wrong with the name of an object of a kind, in the words of Kubernetes.
pub(super) fn complaints(kind: &str, name: &str) -> Vec<String> {
    match kind.to_lowercase().as_str() {
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => segment(name),
        "service" => label_1035(name),
        "namespace" => label_1123(name),
        _ => subdomain(name),
    }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

fn example(text: &str, regex: &str, examples: &str) -> String {
    format!("{text} (e.g. {examples}, regex used for validation is '{regex}')")
}

fn is_label(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(edge) && text.ends_with(edge) && text.chars().all(|c| edge(c) || c == '-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn subdomain(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if name.len() > 253 {
        found.push("must be no more than 253 bytes".to_owned());
    }
    if !is_subdomain(name) {
        found.push(example(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            &format!("{LABEL}(\\.{LABEL})*"),
            "'example.com'",
        ));
    }
    found
}

fn label_1123(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if name.len() > 63 {
        found.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label(name) {
        found.push(if is_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            example(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL,
                "'my-name',  or '123-abc'",
            )
        });
    }
    found
}

fn label_1035(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if name.len() > 63 {
        found.push("must be no more than 63 characters".to_owned());
    }
    if !(is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())) {
        found.push(example(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            "'my-name',  or 'abc-123'",
        ));
    }
    found
}

fn segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    let bad = ["/", "%"].into_iter().filter(|part| name.contains(part));
    bad.map(|part| format!("may not contain '{part}'")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_depend_on_the_kind() {
        insta::assert_snapshot!(
            [
                complaints("Pod", "web-1.a"),
                complaints("Pod", "Web"),
                complaints("Pod", ""),
                complaints("Pod", &"a".repeat(300)),
                complaints("Service", "1a"),
                complaints("Service", &"A".repeat(70)),
                complaints("Namespace", "a.b"),
                complaints("Namespace", "_"),
                complaints("ClusterRole", "system:x/y%"),
                complaints("Role", ".."),
                complaints("CertificateSigningRequest", "///"),
            ]
            .map(|found| format!("{found:#?}"))
            .join("\n")
        );
    }
}
