# Every target sets itself up: only python3 (with pip and venv), make and a C++ compiler are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS := plot,parquet,app,test,lint,docs
CXX_FILES := $(wildcard cpp/*/*.cpp cpp/*/*.hpp)
SOURCES := pyproject.toml constraints.txt requirements.lock CMakeLists.txt $(filter-out cpp/tests/%,$(CXX_FILES))

CMAKE = $(or $(shell command -v cmake),$(BIN)/cmake)

.PHONY: install demo test test-cpp test-fast test-random lint format sanitize fuzz fuzz-sanitize bench bench-embedding bench-maps docs clean
install: $(VENV)/.installed

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	.ci/install $(VENV) $(EXTRAS) -e .
	touch $@

demo: install
	$(BIN)/bvdt demo

test: install
	HYPOTHESIS_PROFILE=fixed $(BIN)/python -m pytest -n auto

# What finishes within a minute on two cores, while one works.
test-fast: install
	$(BIN)/python -m pytest -n auto -m "not slow"

# Other examples than the gate's, 10 000 per property: hours.
test-random: install
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -n auto -m "not slow"

# The kernels without Python, against slow twins; needs doctest (Debian: doctest-dev), and says so without it.
test-cpp: install
	command -v $(CMAKE) >/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt cmake
	$(CMAKE) -S . -B build/cpp-tests -DCMAKE_BUILD_TYPE=Release -DBVDT_PYTHON=OFF -DBVDT_TESTS=ON
	$(CMAKE) --build build/cpp-tests --parallel 2
	build/cpp-tests/cpp/tests/bvdt_tests

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# The kernels once more, compiled with AddressSanitizer and UBSan, under the tests that reach them.
sanitize:
	PYTHON=$(PYTHON) bash tests/helpers/sanitize.sh

# Damaged files, broken matrices, odd arguments, with fresh seeds: DURATION in seconds, TARGETS by name or all.
DURATION ?= 3600
TARGETS ?=
fuzz: install
	PYTHONPATH=tests $(BIN)/python -m fuzz run --seconds $(DURATION) $(TARGETS)

# The same with the kernels under AddressSanitizer and UBSan: what reaches them.
fuzz-sanitize: TARGETS := models csr arguments kernels
fuzz-sanitize:
	PYTHON=$(PYTHON) bash tests/helpers/sanitize.sh -m fuzz run --seconds $(DURATION) $(TARGETS)

# Each rival in an environment of its own, .venv-bench/NAME, made by run.py from the extra "bench".
bench: install
	$(BIN)/python benchmarks/run.py

# Embeddings and clusters beside scikit-learn's, and maps beside umap-learn's: a page of docs/benchmarks each.
bench-embedding: install
	rm -f build/bench/embedding.json
	$(BIN)/python benchmarks/embedding.py

bench-maps: install
	rm -f build/bench/maps/found.json
	$(BIN)/python benchmarks/maps.py

# Pages, reference and the gallery, whose examples run; a broken link or an example that fails stops it.
docs: install
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs site

clean:
	rm -rf build site .venv .venv-sanitize .venv-bench
