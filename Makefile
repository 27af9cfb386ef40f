# Everything happens in an environment of its own; Python and a C compiler are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test wheel checked docs bench clean

demo: $(BIN)/pip
	@echo "Building noregret: a few minutes"
	$(BIN)/pip install --quiet ".[echo]"
	$(BIN)/noregret demo

# Compiling takes a while: meanwhile the tools are installed, and look at the sources.
test: $(BIN)/pip
	$(MAKE) --jobs 2 wheel checked
	$(BIN)/pip install --quiet --no-deps --force-reinstall $(VENV)/wheel/*.whl
	$(BIN)/pytest --numprocesses auto --doctest-modules --pyargs noregret tests

wheel: $(BIN)/pip
	rm -rf $(VENV)/wheel
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .

checked: $(BIN)/pip
	$(BIN)/python tools/requirements.py test > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet --requirement $(VENV)/requirements.txt
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

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
