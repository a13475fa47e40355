# Needs python3 (3.11 or later) and make, nothing else. `make help` lists the targets.

PYTHON  ?= python3
VENV    ?= .venv
EXTRAS  ?= dev,docs,experiments,bench,cluster,tensorboard
WORKERS ?= 2
ARGS    ?=
FLOOR   ?= 95
DEMO    ?= results/demo

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

# Every install keeps to the tested versions, those of isolated build environments too.
# The path is relative because pip splits these variables at spaces.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifdef COVERAGE
COVER := --cov --cov-report=term --cov-fail-under=$(FLOOR)
endif

.DEFAULT_GOAL := help
.PHONY: help install demo test coverage bench docs lint style types imports format clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("liebn needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[$(EXTRAS)]'
	touch $@

install: $(STAMP)  ## make .venv with the tested versions, if it is missing or out of date

demo: $(STAMP)  ## train every method on simulated radar in minutes, and write a report to open
	@status=0; $(BIN)/liebn reproduce radar --quick --jobs $(WORKERS) --results $(DEMO) || status=$$?; \
	$(BIN)/liebn report radar --results $(DEMO) && exit $$status

test: $(STAMP)  ## run the tests; ARGS='-k name' goes to pytest, COVERAGE=1 measures coverage
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -ra -n $(WORKERS) $(COVER) $(ARGS)

coverage:  ## run the tests and ask for 95 % line coverage
	@$(MAKE) --no-print-directory test COVERAGE=1

bench: $(STAMP)  ## measure speed, accuracy and memory against other libraries; ARGS=--quick
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMP)  ## build docs/_build/html, tutorials included; warnings are errors
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

lint: style types imports  ## style, types and the import rule

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

format: $(STAMP)  ## let ruff put imports and layout right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the environment and every cache
	rm -rf $(VENV) docs/_build docs/_generated .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
