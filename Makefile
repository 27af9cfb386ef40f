# Everything happens in an environment of its own; Python and a C compiler are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What baseline, asan and bounds run; a part of it with TESTS='tests/laws -k hedge'.
TESTS ?= --doctest-modules --pyargs noregret tests
PYTEST = -m pytest --numprocesses auto

.PHONY: demo test baseline asan bounds wheel tools checked docs bench clean

demo: $(BIN)/pip
	@echo "Building noregret: a few minutes"
	$(BIN)/pip install --quiet ".[echo]"
	$(BIN)/noregret demo

# Compiling takes a while: meanwhile the tools are installed, and look at the sources. A warning is an
# error here, and not where users install: their compiler may have others.
test: $(BIN)/pip
	$(MAKE) --jobs 2 wheel checked
	$(BIN)/pip install --quiet --no-deps --force-reinstall $(VENV)/wheel/*.whl
	$(BIN)/python $(PYTEST) --doctest-modules --pyargs noregret tests

# What `make test` installed, on a processor without wide vectors as far as it can tell.
baseline:
	$(BIN)/python -m tests.baseline $(BIN)/python $(PYTEST) $(TESTS)

# Builds that check themselves, each in an environment beside the other: memory and arithmetic by the
# compiler's sanitizers, indices by Cython.
asan: SETUP := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Ddebug=true
asan: UNDER := tools/asan.sh
bounds: SETUP := -Dbounds=true
asan bounds: tools
	$(BIN)/python -m venv --without-pip $(VENV)/$@
	cd $(VENV)/$@/lib/python3*/site-packages && echo $(abspath $(VENV))/lib/python3*/site-packages > tools.pth
	$(BIN)/pip --python $(VENV)/$@/bin/python install --quiet --no-deps --ignore-installed \
	    -Cbuild-dir=$(VENV)/$@/build $(addprefix -Csetup-args=,$(SETUP)) .
	$(UNDER) $(VENV)/$@/bin/python $(PYTEST) $(TESTS)

wheel: $(BIN)/pip
	rm -rf $(VENV)/wheel
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel -Csetup-args=-Dwerror=true .

tools: $(BIN)/pip
	$(BIN)/python tools/requirements.py test > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet --requirement $(VENV)/requirements.txt

checked: tools
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
