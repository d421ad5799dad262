# dra-scheduler: every command a developer needs. `make help` explains itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UPSTREAM_OPTIONS = $(if $(RUN),--run '$(RUN)') $(if $(SKIP),--skip '$(SKIP)') $(if $(RESULTS),--results $(RESULTS))

.DEFAULT_GOAL := help
.PHONY: help venv demo test check format conformance fuzz simulate mutate oracle bench controlplane test-cluster upstream test-upstream test-upstream-reference bench-upstream bench-cluster full clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-23s %s\n", $$1, $$2}'

venv: $(STAMP) ## Create .venv with everything, at the pinned versions

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m compileall -q allocator cel scheduler
	@touch $(STAMP)

demo: venv ## Schedule the example pod on an embedded cluster; needs Python only
	$(BIN)/dra-scheduler demo

test: venv ## Run the fast tests; needs Python only
	$(BIN)/pytest -n auto

check: venv ## Style, types, architecture rules, module size
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/module_size.py

format: venv ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

conformance: venv ## Run the case files in $DRA_CONFORMANCE through the engine; fails without them
	@test -n "$(DRA_CONFORMANCE)" || { echo "set DRA_CONFORMANCE to the folder with the case files"; exit 1; }
	$(BIN)/dra-bench conformance $(DRA_CONFORMANCE)/*.json

fuzz: venv ## Try 2,000 inputs of each kind on the engine (SEEDS=A-B for others)
	$(BIN)/dra-bench fuzz --seeds $(or $(SEEDS),0-1999)

simulate: venv ## Live through 200 simulated clusters: faults, crashes, restarts (SEEDS=A-B for others)
	$(BIN)/dra-bench simulate --seeds $(or $(SEEDS),0-199)

mutate: venv ## Check that the tests catch each defect under tests/mutations
	$(BIN)/python tools/mutate.py

oracle: venv ## Compare the engine with Kubernetes' own on 2,000 clusters and expressions (needs Go; SEEDS=A-B)
	$(BIN)/python tests/oracle/build.py
	DRA_REQUIRE_ORACLE=1 $(BIN)/pytest tests/bench/test_oracle_conformance.py
	$(BIN)/dra-bench oracle clusters --seeds $(or $(SEEDS),0-1999)
	$(BIN)/dra-bench oracle expressions --seeds $(or $(SEEDS),0-1999)

bench: venv ## Measure how fast decisions are, in two minutes (dra-bench allocate for more; with Kubernetes' after make oracle)
	$(BIN)/dra-bench allocate --nodes 300 --seconds 0.3

controlplane: venv ## Build the real control plane for tests (needs Go; minutes at first, then nothing)
	$(BIN)/python tests/controlplane/build.py

test-cluster: venv ## Run the tests that need the real control plane; fails if it is not built
	DRA_REQUIRE_CONTROLPLANE=1 $(BIN)/pytest -m cluster tests

upstream: venv ## Build Kubernetes' own tests of DRA for other schedulers (needs Go; minutes at first)
	$(BIN)/python tests/upstream/build.py

test-upstream: venv ## Run Kubernetes' own tests with our scheduler (RUN=regex, SKIP=regex, SUITES=all)
	$(BIN)/python tests/upstream/build.py
	$(BIN)/dra-bench upstream $(or $(SUITES),all default ga api) $(UPSTREAM_OPTIONS)

test-upstream-reference: venv ## The same with kube-scheduler
	$(BIN)/python tests/upstream/build.py
	$(BIN)/dra-bench upstream --reference $(or $(SUITES),all default ga api) $(UPSTREAM_OPTIONS)

full: test test-cluster test-upstream simulate fuzz oracle mutate ## Everything, with all of Kubernetes' suites (an hour or more)

bench-cluster: venv ## Race against kube-scheduler and the ceiling, in short: 2 rounds of 300 pods (needs the control plane)
	$(BIN)/dra-bench cluster --nodes 100 --devices 10 --pods 300 --rounds 2

bench-upstream: venv ## Race kube-scheduler in Kubernetes' scheduler_perf (hours; needs Go; WORKLOADS=regex, ROUNDS=3, RESULTS=file to go on with)
	$(BIN)/python tests/upstream/build.py --performance
	$(BIN)/dra-bench upstream-perf '$(WORKLOADS)' --rounds $(or $(ROUNDS),3) $(if $(RESULTS),--results $(RESULTS))

clean: ## Remove the environment and caches, not the control plane
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist
