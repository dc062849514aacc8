# Berth: `make help` lists what can be done. A fresh machine needs Python 3.11 or newer; the end-to-end and conformance
# tests need Go as well (they build the real Kubernetes control plane once, from its modules).
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
N ?= 2000
PROFILE ?=
SEED ?= 1
NODES ?= 5
PARALLEL ?= 2
COMPILED := hatch_build.py scheduler/kernels/_compiled.c
PIP_FLAGS := --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help run venv dev test check lint format types contracts unit conformance e2e tools cluster cluster-down kind \
	bench bench-micro bench-previous sessions coverage lock manifests krew image clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "; print "usage: make TARGET [NAME=VALUE ...]\n"} \
	  /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run ## schedule deploy/examples in process; with KUBECONFIG=FILE schedule that cluster
ifdef KUBECONFIG
	$(BIN)/berth run --kubeconfig "$(KUBECONFIG)" --leader-elect=false --secure-port 0 -v 2
else
	@$(BIN)/berth demo deploy/examples
endif

venv: $(VENV)/.run ## make .venv with the `berth` command
dev: $(VENV)/.dev ## the same with everything that tests and lint need

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Berth needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock requirements-build.lock pyproject.toml $(COMPILED) | $(VENV)/bin/python
	$(BIN)/pip install $(PIP_FLAGS) --require-hashes -r requirements.lock -r requirements-build.lock
	$(BIN)/pip install $(PIP_FLAGS) --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(BIN)/pip install $(PIP_FLAGS) --require-hashes -r requirements-dev.lock
	@touch $@

test: check unit conformance-few e2e bench-previous ## everything: lint, types, contracts, unit, property, conformance, end to end

check: lint types contracts ## lint, types and import contracts

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## let ruff fix and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## mypy, strictly
	$(BIN)/mypy

contracts: $(VENV)/.dev ## imports go one way
	$(BIN)/lint-imports

unit: $(VENV)/.dev ## unit and property tests
	$(BIN)/pytest tests -n auto --dist worksteal

.PHONY: conformance-few
conformance-few: $(VENV)/.dev
	$(BIN)/python -m e2e.oracle.conformance -n 200 --seed $(SEED) $(if $(PROFILE),--profile $(PROFILE))

conformance: $(VENV)/.dev ## N=2000 generated cases of each profile (or PROFILE=spread), against the real scheduler's code
	$(BIN)/python -m e2e.oracle.conformance -n $(N) --seed $(SEED) $(if $(PROFILE),--profile $(PROFILE))

coverage: $(VENV)/.dev ## Go coverage of kube-scheduler's plugins by the generated cases
	$(BIN)/python -m e2e.oracle.coverage -n 1000

sessions: $(VENV)/.dev ## Berth through all sessions recorded with kube-scheduler (a minute each; PARALLEL=2)
	$(BIN)/python -m e2e.sessions check --parallel $(PARALLEL)

e2e: $(VENV)/.dev tools ## end to end, on the real etcd and kube-apiserver
	@# Two schedulers on one machine: a test that was disturbed is run once more, alone; what fails twice has failed.
	$(BIN)/pytest e2e || { echo "once more, what failed:"; $(BIN)/pytest e2e --last-failed --last-failed-no-failures none; }

tools: $(VENV)/.dev ## build etcd, kube-apiserver, kube-scheduler, ... (once, some 10 to 20 minutes)
	$(BIN)/python -m e2e.tools build

cluster: $(VENV)/.dev ## leave a real control plane running, with NODES=5 hollow nodes and a kubeconfig
	$(BIN)/python -m e2e.controlplane up --nodes $(NODES) --dir .cluster

cluster-down: $(VENV)/.dev ## end it
	$(BIN)/python -m e2e.controlplane down --dir .cluster

kind: $(VENV)/.dev ## the same in kind, where Docker is: image, chart and all
	$(BIN)/python -m e2e.kind up

bench: $(VENV)/.dev ## Berth and kube-scheduler side by side on the real API server
	$(BIN)/python -m e2e.perf.bench

bench-micro: $(VENV)/.dev ## the scheduling cycle alone
	$(BIN)/python -m e2e.perf.micro

bench-previous: $(VENV)/.dev ## the scheduling cycle alone against the previous commit: a report
	$(BIN)/python -m e2e.perf.previous

lock: ## pin the newest versions that pyproject.toml allows (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --upgrade pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --upgrade --group build -o requirements-build.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --no-annotate --upgrade pyproject.toml --group dev -o requirements-dev.lock

manifests: $(VENV)/.dev ## render charts/berth into deploy/berth.yaml
	"$$($(BIN)/python -m e2e.tools path helm)" template berth charts/berth --namespace kube-system \
	  --skip-tests --include-crds > deploy/berth.yaml

krew: ## make the krew plugin's archive and manifest (SITE=https://... where the project is published)
	$(PYTHON) deploy/krew/release.py $(SITE)

image: ## build the container image (needs Docker)
	docker build --tag berth:dev .

clean: ## remove what can be made again
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist build
