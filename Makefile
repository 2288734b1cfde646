# make verify: the sound protocol holds, PyTorch's breaks, TLC agrees, and the proof is checked. Needs Python, make and the package index only.

PYTHON ?= python3
RUNS ?= 5
TESTS ?=
VENV ?= .venv
BIN := $(VENV)/bin
FARREF := $(BIN)/farref check rref
AUTOGRAD := $(BIN)/farref check autograd
# The tests start hundreds of Python processes: without compiled files each one compiles the whole package first.
unexport PYTHONDONTWRITEBYTECODE
# Half of what a test takes is waiting, so there are more processes than a small machine has cores (tests/order.py).
JOBS ?= 6

.PHONY: help verify conform test check generated docs findings clean

help:
	@echo "make verify     the sound protocol holds, PyTorch's breaks, TLC agrees, and the proof is checked: a few minutes"
	@echo "make test       every test; TESTS=tests/impl runs some, VENV=.venv-newest PYTHON=python3.13 another Python"
	@echo "make conform    our own backends keep every clause that the kit checks: about 5 minutes"
	@echo "make check      ruff, mypy --strict, import-linter"
	@echo "make generated  write the tables, the listing of folders, the diagram and the TLA+ configurations anew"
	@echo "make docs       the documents as a site in build/site, with runs to walk through: open build/site/index.html"
	@echo "make findings   run every program that shows a defect of PyTorch, RUNS times each (5): about 15 minutes"
	@echo "make clean      remove $(VENV) and every cache"

verify: $(VENV)/.base
	@echo "== 1. The sound protocol holds every property =="
	@$(FARREF)
	@echo
	@echo "== 2. PyTorch's rules break, with no fault at all (a violation is expected) =="
	@$(FARREF) --profile torch --drops 0 --duplicates 0; test $$? -eq 1
	@echo
	@echo "== 3. TLC, a checker nobody here wrote, counts the same states =="
	@$(FARREF) --compare-engines --quiet --workers 2 --forks 2 --drops 1 --duplicates 1
	@$(FARREF) --compare-engines --quiet --workers 3 --forks 2
	@$(FARREF) --compare-engines --quiet --workers 2 --forks 2 --failures 1 --profile torch
	@echo
	@echo "== 4. The same for distributed autograd =="
	@$(AUTOGRAD)
	@$(AUTOGRAD) --profile torch --claim D5 --quiet; test $$? -eq 1
	@$(AUTOGRAD) --compare-engines --quiet --graph half-used --smart --timeouts 1
	@echo
	@echo "== 5. Proved, for any number of everything, by two solvers =="
	@$(BIN)/farref prove rref --solver both
	@$(BIN)/farref prove window --solver both
	@$(BIN)/farref prove autograd --solver both
	@$(BIN)/farref prove views --solver both

conform: $(VENV)/.base
	$(BIN)/farref conform --backend simulated
	$(BIN)/farref conform --backend processes

test: $(VENV)/.dev
	$(BIN)/pytest -n $(JOBS) --dist worksteal $(TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

generated: $(VENV)/.dev
	$(BIN)/python -m tests.generated

docs: $(VENV)/.dev
	$(BIN)/python -m tests.pages.site build/site
	@echo "the site is in build/site; python3 -m http.server --directory build/site serves it"

findings: $(VENV)/.torch
	$(BIN)/python -m farref.properties.conformance.findings.run --runs $(RUNS)
	$(BIN)/python -m farref.properties.conformance.findings.run --runs $(RUNS) --others

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis states
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "farref needs Python 3.11 or later: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[tla,proof]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.base

$(VENV)/.torch: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[torch]'
	@touch $@
