//! One release on the cluster: plan, apply, prune, drift, hooks, health, inventory.
