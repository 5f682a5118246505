//! A chart as files: Chart.yaml, file set, .helmignore, archives, dependencies.
