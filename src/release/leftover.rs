//! Why an object that is being deleted is still there. Pure.

/// What finalizers, separated by blanks, wait for, for a person; none where there are none.
pub fn why(finalizers: &str) -> Option<String> {
    let each: Vec<String> = finalizers.split_whitespace().map(one).collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn one(finalizer: &str) -> String {
    let why = match finalizer {
        "kubernetes.io/pvc-protection" => "a Pod still uses the claim",
        "kubernetes.io/pv-protection" => "the volume is still bound to a claim",
        "foregroundDeletion" => "its dependents are deleted first",
        "orphan" => "its dependents are let go first",
        "service.kubernetes.io/load-balancer-cleanup" => "the cloud's load balancer is being removed",
        "batch.kubernetes.io/job-tracking" => "its Job has not yet counted it",
        "customresourcecleanup.apiextensions.k8s.io" => "its resources are deleted first",
        "kubernetes" => "what is in the namespace is deleted first",
        "pintle.dev/uninstall" => "Pintle uninstalls it",
        "helm.sdk.operatorframework.io/uninstall-release" | "uninstall-helm-release" => {
            "its Helm operator must uninstall it"
        }
        _ => "whoever set it must remove it: does its controller run?",
    };
    format!("held by the finalizer {finalizer}: {why}")
}

#[cfg(test)]
mod tests {
    use super::why;

    #[test]
    fn finalizers_are_explained() {
        assert_eq!(why(""), None);
        let both = why("kubernetes.io/pvc-protection example.com/x").unwrap();
        insta::assert_snapshot!(both, @"held by the finalizer kubernetes.io/pvc-protection: a Pod still uses the claim; held by the finalizer example.com/x: whoever set it must remove it: does its controller run?");
    }
}
