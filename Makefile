# `make demo` and `make test` each do all their own set-up; a second run skips it.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV ?= .venv
BIN := $(VENV)/bin
LOCKS := $(wildcard requirements/*.lock)
DEMO := $(VENV)/.ready-demo
DEV := $(VENV)/.ready-dev

.PHONY: help demo test check lint format golden bench-compile lock wheel clean

help:
	@echo "make demo    embed sentences, compile transformers, print what was fused and why"
	@echo "make test    every check, then every test"
	@echo "make lint    the checks alone: format, ruff, pyright, import contracts"
	@echo "make format  let ruff format and fix what it can"
	@echo "make golden  rewrite the golden files"
	@echo "make bench-compile  compile times beside other compilers (JAX_PYTHON=...: has JAX)"
	@echo "make lock    resolve requirements/*.lock again (UPGRADE=1: to newer releases)"
	@echo "make clean   remove what the above made"

$(DEMO) $(DEV): $(LOCKS) pyproject.toml scripts/setup.sh
	@VENV=$(VENV) scripts/setup.sh $(subst .ready-,,$(notdir $@))

demo: $(DEMO)
	@$(BIN)/python examples/demo.py

test: lint
	@$(BIN)/python -m pytest

lint: $(DEV)
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports --no-logo

format: $(DEV)
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

golden: $(DEV)
	@$(BIN)/python -m pytest -m golden --rewrite-golden

bench-compile: $(DEV)
	@$(BIN)/python -m benchmarks.compile_time $(if $(JAX_PYTHON),--jax-python $(JAX_PYTHON))

lock: $(DEV)
	@UV=$(BIN)/uv scripts/lock.sh $(if $(UPGRADE),--upgrade)

clean:
	@rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests examples scripts -name __pycache__ -type d -prune -exec rm -rf {} +
