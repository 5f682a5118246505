# The commands of this repository; `make` alone lists them.
#
# They need Rust, Go, a C compiler, bash and util-linux; no container engine.

CARGO ?= cargo
CARGO_DENY_VERSION := 0.20.2
# `make test` generates the same cases at each run, so that what passed passes again; `make fuzz-diff` looks for new ones.
SEED ?= 2
CASES ?= 20000
# How long `make fuzz` tries each target.
SECONDS ?= 120

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: cluster
cluster: ## Build the programs of the test cluster (once; some minutes)
	@tests/cluster/build >/dev/null

.PHONY: cluster-up
cluster-up: cluster ## Start a control plane for work by hand, until Ctrl-C
	@$(CARGO) run --quiet --locked --example cluster

.PHONY: demo
demo: cluster ## Watch the operator at work on a real control plane
	@$(CARGO) build --locked --bin pintle --example demo
	@target/debug/examples/demo

.PHONY: test
test: cluster ## Run all tests, on a real control plane
	PROPTEST_RNG_SEED=$(SEED) $(CARGO) test --locked

.PHONY: fuzz-diff
fuzz-diff: cluster ## Hold everything against Go and Helm with CASES generated cases a property, new ones at each run
	PROPTEST_CASES=$(CASES) $(CARGO) test --locked --test charts --test functions --test gotemplate_parse --test render_diff --test value --test values --test yaml -- --include-ignored --skip corpus

.PHONY: fuzz
fuzz: ## Try random inputs for SECONDS on each of what reads templates, YAML, archives and --set
	$(CARGO) run --quiet --locked --example fuzz -- --seconds $(SECONDS) --seed $$(date +%s)

.PHONY: fuzz-guided
fuzz-guided: ## The same guided by coverage; needs a nightly toolchain and cargo-fuzz
	for target in templates yaml archives set; do \
		$(CARGO) +nightly fuzz run --fuzz-dir tests/fuzz/guided --sanitizer none $$target -- -max_total_time=$(SECONDS) -timeout=60 -rss_limit_mb=3072 || exit 1; \
	done

.PHONY: bench
bench: cluster ## Measure renders against helm, and the operator on a real control plane: time, CPU, requests, memory
	$(CARGO) bench --locked --bench render
	$(CARGO) bench --locked --bench operator -- fifty many

.PHONY: layout
layout: ## Find out anew which functions run, for the linker to put them side by side; needs valgrind
	PINTLE_LAYOUT=off $(CARGO) bench --locked --bench layout -- write

.PHONY: lint
lint: ## Check format, clippy's lints, licences, banned crates and sources
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing; \`make tools\` installs it" >&2; exit 1; }
	$(CARGO) deny --locked check bans licenses sources

.PHONY: advisories
advisories: ## Check known vulnerabilities; needs a network that reaches the advisory database
	$(CARGO) deny --locked check advisories

.PHONY: tools
tools: ## Install what `make lint` needs beside Rust
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny@$(CARGO_DENY_VERSION)
