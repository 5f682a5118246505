//! Where charts come from: a directory, an archive, a repository index, an OCI registry; and the cache.
