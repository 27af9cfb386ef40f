# Everything happens in an environment of its own; Python and a C compiler are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test docs bench clean

demo: $(BIN)/pip
	@echo "Building noregret: a few minutes"
	$(BIN)/pip install --quiet .
	$(BIN)/noregret demo

test: $(BIN)/pip
	$(BIN)/pip install --quiet '.[test]'
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses auto --doctest-modules --pyargs noregret tests

docs: $(BIN)/pip
	$(BIN)/pip install --quiet '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

bench: $(BIN)/pip
	$(BIN)/pip install --quiet '.[bench]'
	$(BIN)/python -m benchmarks

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) build docs/_build docs/learners docs/theorems
