# `make run` starts the wizard; `make check`, `make test` and `make test-all` test it, each more than the one before. All create what they need.
.DEFAULT_GOAL := help
.PHONY: help run check test test-all test-rest tests lint docs links wheel release bench lock clean
.DELETE_ON_ERROR:

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
PORT    ?= 8501
OPEN    ?= yes
WORKERS ?= 2
TESTS   ?= tests
TIER    ?= test
SEED    ?= $(shell date +%s)
BENCH   ?=

VENV := .venv
PY   := $(VENV)/bin/python
PEER := .venv-dpmm

# Hashes of every file are checked, locks are complete, and nothing is ever compiled on this machine.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps --only-binary :all:
# `make lock UPGRADE=--upgrade` moves to the newest versions that requirements*.in allow; without it, pins stay.
UV_COMPILE  := $(PY) -m uv pip compile --quiet --python-version 3.11 --generate-hashes --annotation-style line \
               --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(UPGRADE)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run-ready ## Start the wizard on this machine and open it (PORT=8501, OPEN=no: only print the address)
	@echo "DPSynth Studio is starting (Ctrl-C stops it)"
	@exec $(PY) -m dpsynth_core studio --port=$(PORT) $(if $(filter yes,$(OPEN)),,--no-browser)

check: ## After an edit: style, import rules, types, and the tests without browser, process and server (TESTS=tests/privacy)
	@$(MAKE) --no-print-directory -j2 lint tests TIER=check

test: ## Before a commit: style, import rules, types, and tests of everything but the slowest, Chromium included
	@$(MAKE) --no-print-directory -j2 lint tests TIER=test

test-rest: ## What `make test` leaves out
	@$(MAKE) --no-print-directory tests TIER=rest

test-all: ## Everything, with examples drawn anew (SEED=... repeats them)
	@echo "The seed of the examples is $(SEED)"
	@$(MAKE) --no-print-directory -j2 lint tests TIER=all SEED=$(SEED)

tests: $(if $(filter check,$(TIER)),$(VENV)/.test-ready,$(VENV)/.chromium $(VENV)/.postgresql $(VENV)/.r)
	@CHROMIUM="$$(cat $(VENV)/.chromium 2>/dev/null)" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
	$(PY) -m pytest -n $(WORKERS) --dist worksteal --tier $(TIER) $(if $(filter all,$(TIER)),--hypothesis-seed=$(SEED)) \
	  --durations=30 --durations-min=5 --junit-xml=test-artifacts/$(TIER).xml $(TESTS) || { echo "The tests FAILED, see those named above" >&2; exit 1; }
	@echo "Everything passed: tests of the tier '$(TIER)'"

lint: $(VENV)/.test-ready ## Check style, import rules and types only
	$(PY) -m ruff check --quiet .
	$(VENV)/bin/lint-imports --no-logo
	$(PY) -m mypy --no-error-summary

docs: $(VENV)/.test-ready ## Make the site of the documentation: build/docs/index.html, and build/docs.zip to pass on
	@rm -rf build/docs build/docs.zip
	@$(PY) -m sphinx --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees --conf-dir docs . build/docs
	@$(PY) -m zipfile --create build/docs.zip build/docs
	@echo "The documentation is in build/docs/index.html and, to pass on, in build/docs.zip"

links: $(VENV)/.test-ready ## Ask every address that the documentation names whether it is there (needs a network)
	@$(PY) -m sphinx --quiet --builder linkcheck --doctree-dir build/doctrees --conf-dir docs . build/links
	@echo "Every address answers"

wheel: $(VENV)/.created ## Build dist/dpsynth_studio-*.whl, which pip installs anywhere
	@rm -rf build/lib build/bdist.* dist
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-input --no-deps --wheel-dir dist .
	@ls dist/*.whl

release: $(VENV)/.test-ready ## Make what is published of a version in build/release: wheel, bill of materials, checksums
	@$(PY) -m docs.release

bench: $(VENV)/.run-ready $(PEER)/.ready ## Measure ours and dpmm on Adult, hours by default (BENCH="--epsilon 1 --runs 1 --programs aim dpmm-mst")
	$(PY) -m benchmarks compare $(BENCH)

lock: $(VENV)/.test-ready ## Write the lock files anew from requirements.in, requirements-dev.in and benchmarks/dpmm.in
	$(UV_COMPILE) --universal --no-emit-package jsonpath-rw requirements-dev.in --output-file requirements-dev.txt
	$(UV_COMPILE) --universal --constraints requirements-dev.txt requirements.in --output-file requirements.txt
	$(UV_COMPILE) benchmarks/dpmm.in --output-file benchmarks/dpmm.txt

clean: ## Remove the environment and everything generated; projects and results in DPSYNTH_HOME stay
	rm -rf $(VENV) $(PEER) build dist *.egg-info test-artifacts .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: a step is repeated only when the lock file it came from is newer.
$(VENV)/.created:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "Python 3.11 or newer is needed: install it (Debian: apt-get install python3.11), then run make again" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	.ci/debian-install "$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
	@echo "Creating $(VENV)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run-ready: requirements.txt | $(VENV)/.created
	@echo "Installing the packages of requirements.txt"
	@$(PY) $(PIP_INSTALL) -r requirements.txt
	@touch $@

$(VENV)/.test-ready: requirements-dev.txt | $(VENV)/.created
	@echo "Installing the packages of requirements-dev.txt"
	@$(PY) $(PIP_INSTALL) -r requirements-dev.txt
	@touch $@ $(VENV)/.run-ready

# dpmm pins other versions of what we use, and needs Python 3.10 or 3.11; elsewhere ours is measured without it.
$(PEER)/.ready: benchmarks/dpmm.txt | $(VENV)/.created
	@rm -rf $(PEER)
	@if $(PY) -c 'import sys; sys.exit(sys.version_info >= (3, 12))'; then \
	  echo "Installing dpmm in $(PEER)"; \
	  $(PY) -m venv $(PEER) && $(PEER)/bin/python $(PIP_INSTALL) -r benchmarks/dpmm.txt; \
	else mkdir $(PEER); fi
	@touch $@

$(VENV)/.chromium: | $(VENV)/.test-ready
	@.ci/chromium $(PY) > $@

$(VENV)/.postgresql: | $(VENV)/.test-ready
	@.ci/postgresql > $@

$(VENV)/.r: | $(VENV)/.test-ready
	@.ci/r > $@
