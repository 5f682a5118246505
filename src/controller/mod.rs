//! Definitions to running controllers: the reconcile of one instance, status, finalizer, events, metrics.
