# The two commands of the README are `make demo` and `make test`; the rest serves those who change lastro.
PYTHON ?= python3
PY := .venv/bin/python
READY := .venv/.ready
READY_ADAPTERS := .venv-adapters/.ready
READY_EXPORT := .venv-export/.ready
READY_PEERS := .venv-peers/.ready
# Tests wait more than they work, so there are more of them at once than a small machine has cores.
WORKERS ?= 4
# They start thousands of processes, and without bytecode each of these would compile all of lastro again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-adapters test-export test-long bench bench-peers system lock wheel

help:
	@echo "make demo       run the digits example, with its faults, to its report"
	@echo "make test       style, types, import contracts and all tests"
	@echo "make test-adapters  other people's trainers: killed, resumed, compared bit by bit"
	@echo "make test-export  what is exported, read by SkyPilot, hadolint and ShellCheck"
	@echo "make test-long  the tests that take minutes"
	@echo "make bench      measure; prints ratios and CPU time"
	@echo "make bench-peers  the same work by MLflow and trackio, in an environment of their own"
	@echo "make system     install what the tests need of Debian (as root)"
	@echo "make lock       write requirements.lock again, from pyproject.toml"
	@echo "make wheel      build the wheel into dist/"

demo: $(READY)
	$(PY) tools/demo.py

# Without root, `system` only prints the line to type. pytest comes last: its closing line is the last one printed.
test: $(READY) system
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	$(PY) -m pytest -n $(WORKERS) --dist worksteal

# Each worker has to import the frameworks, so there are no more of them than a small machine has cores.
test-adapters: $(READY_ADAPTERS)
	.venv-adapters/bin/python -m pytest tests/adapters tests/examples/test_embed.py -n 2 --dist worksteal

test-export: $(READY_EXPORT)
	$(PY) -m pytest tests/export/readers

test-long: $(READY)
	$(PY) -m pytest -m long -n $(WORKERS) --dist worksteal

bench: $(READY)
	$(PY) -m benchmarks

bench-peers: $(READY_PEERS)
	$(PY) -m benchmarks trackers

system:
	tools/system-packages

lock: $(READY)
	$(PY) tools/lock.py

wheel: $(READY)
	$(PY) -m build --wheel --no-isolation

# An installation that was interrupted leaves .venv/.unfinished behind, and the next one begins afresh.
$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	    echo "error: lastro needs Python 3.10 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1)"; \
	    echo "  next: name a newer one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	    exit 2; }
	@if [ -e .venv/.unfinished ] \
	    || ! $(PY) -c 'import pip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
	    $(PYTHON) -m venv --clear .venv; fi
	@touch .venv/.unfinished
	$(PY) -m pip --disable-pip-version-check install --quiet --requirement requirements.lock
	@rm .venv/.unfinished
	$(PY) -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# $(1): what of the environment needs it.
define NEEDS_311
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "error: $(1) needs Python 3.11 or newer, but .venv has: $$($(PY) --version 2>&1)"; \
	    echo "  next: rm -r .venv, then name a newer one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
	    exit 2; }
endef

$(READY_ADAPTERS): requirements-adapters.lock tools/adapters_env.py tools/own_env.py $(READY)
	$(call NEEDS_311,Transformers)
	$(PY) -m tools.adapters_env
	@touch $@

$(READY_EXPORT): requirements-export.lock tools/export_env.py tools/own_env.py $(READY)
	$(call NEEDS_311,pandas of SkyPilot)
	$(PY) -m tools.export_env
	@touch $@

$(READY_PEERS): requirements-peers.lock tools/peers_env.py tools/own_env.py $(READY)
	$(PY) -m tools.peers_env
	@touch $@
