# Every target makes .venv and installs what it needs by itself: with uv where it is found, with pip where not.
# The lock files pin versions and hashes; `make lock` renews them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
# uv leaves byte code to the first import, which may not be allowed to keep it: every command would compile anew.
INSTALL = $(if $(UV),VIRTUAL_ENV=$(VENV) $(UV) pip install -q --compile-bytecode,$(BIN)/python -m pip install -q --disable-pip-version-check)

.PHONY: help demo test test-slow torture check docs frontend lint bench quality lock clean

help:
	@echo "make demo       228 photographs, from files to named groups, proposed tags and the gallery"
	@echo "make test       the tests (under five minutes)"
	@echo "make test-slow  the tests that take longer"
	@echo "make torture    every promise at the counts of a release (hours; PART=\"kills faults\" chooses, CORPUS=folder adds yours)"
	@echo "make check      formatting, lint, types and tests"
	@echo "make docs       the documentation as a site that needs no server and no network: site/index.html"
	@echo "make frontend   build the gallery's pages anew (needs Node 20 or newer)"
	@echo "make bench      timings next to the peers (BENCH=\"rmkmc --large\" chooses)"
	@echo "make quality    quality on real collections next to honest baselines (BENCH=rmkmc chooses)"
	@echo "make lock       renew the lock files"

$(VENV)/.run: requirements/run.txt pyproject.toml
	@test -x $(BIN)/python || $(if $(UV),$(UV) venv -q -p $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))
	$(INSTALL) --require-hashes -r requirements/run.txt
	$(INSTALL) --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.dev
	$(INSTALL) --require-hashes -r requirements/docs.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	$(INSTALL) --require-hashes -r requirements/bench.txt
	@touch $@

demo: $(VENV)/.run
	$(BIN)/manyview demo manyview-demo

# One process a core, each with one thread of BLAS and OpenMP: threads that wait for each other cost more than they do.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

# The tests of the description share names, and processes side by side would run one of each alone. All of them are
# slow, and so is gathering them; nothing else uses schemathesis.
DESCRIPTION := tests/web/test_description.py
SIDE_BY_SIDE := -n auto --dist loadfile -p no:schemathesis --ignore $(DESCRIPTION)

test: $(VENV)/.dev
	$(PYTEST) -q -m "not slow" $(SIDE_BY_SIDE)

test-slow: $(VENV)/.dev
	$(PYTEST) -q -m slow $(DESCRIPTION)
	$(PYTEST) -q -m slow $(SIDE_BY_SIDE)

torture: $(VENV)/.dev
	$(BIN)/python -m tests.torture --table docs/reliability.md $(PART) $(if $(CORPUS),$(if $(PART),,corpus) --corpus "$(CORPUS)")

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test

# Examples and notebooks are run for it; a warning, a lost link or something loaded from elsewhere is an error.
docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.site

# Node is needed for this alone; the built pages are committed. The description of the routes comes from the server.
frontend: $(VENV)/.dev
	$(BIN)/python -m manyview.web.openapi frontend/openapi.json
	cd frontend && npm ci --no-progress && npm run --silent types && npm run --silent check && npm run --silent build

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(BENCH)

quality: $(VENV)/.bench
	$(BIN)/python -m benchmarks.quality $(BENCH)

lock: $(VENV)/.dev
	$(BIN)/python -m pip install -q --disable-pip-version-check uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
	    --python-version 3.11 pyproject.toml requirements/build.in -o requirements/run.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
	    --python-version 3.11 pyproject.toml requirements/build.in --group dev -c requirements/run.txt \
	    -o requirements/dev.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
	    --python-version 3.11 pyproject.toml --group docs -c requirements/dev.txt -o requirements/docs.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-emit-index-url --no-annotate \
	    --python-version 3.11 pyproject.toml --group bench -c requirements/dev.txt -o requirements/bench.txt

clean:
	rm -rf $(VENV) .bench site build demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
