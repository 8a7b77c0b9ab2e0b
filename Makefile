# Every target sets itself up: only python3 (with pip and venv), make and a C++ compiler are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXTRAS := plot,parquet,app,dask,test,lint,docs
CXX_FILES := $(wildcard cpp/*/*.cpp cpp/*/*.hpp)
SOURCES := pyproject.toml constraints.txt requirements.lock CMakeLists.txt $(filter-out cpp/tests/%,$(CXX_FILES))

CMAKE = PATH="$(CURDIR)/$(BIN):$$PATH" cmake
TOGETHER = -n auto --dist worksteal

.PHONY: install demo check test test-fast test-simd test-random test-cpp test-oldest wheel-test coverage lint stubs format \
	sanitize fuzz fuzz-sanitize reproduce bench bench-quick bench-embedding bench-maps bench-neighbors docs clean
install: $(VENV)/.installed

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	.ci/install $(VENV) requirements.lock $(EXTRAS)
	touch $@ $(VENV)/.for-the-demo

$(VENV)/.for-the-demo: $(VENV)/bin/python $(SOURCES)
	.ci/install $(VENV) .ci/demo.lock app
	touch $@

# In .venv, with what it needs and no more; where everything is installed, with that.
demo: $(if $(wildcard $(VENV)/.installed),install,$(VENV)/.for-the-demo)
	$(BIN)/bvdt demo

# Before a commit: lint and the quick tests.
check: lint test-fast

test: install
	HYPOTHESIS_PROFILE=fixed $(BIN)/python -m pytest $(TOGETHER)

test-fast: install
	$(BIN)/python -m pytest $(TOGETHER) -m "not slow"

# The tests of the kernels under every SIMD level that this machine has, but for the one that it takes of itself.
test-simd: install
	VENV=$(VENV) .ci/test-simd

# Other examples than the gate's, 10 000 per property: hours.
test-random: install
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -n auto -m "not slow" -o faulthandler_timeout=0

# The kernels without Python, against slow twins; needs doctest (Debian: doctest-dev), and says so without it.
test-cpp: install
	$(CMAKE) -S . -B build/core -DBVDT_TESTS=ON
	$(CMAKE) --build build/core --parallel 2 --target bvdt_tests
	build/core/cpp/tests/bvdt_tests

# sdist, wheel, and every command and public name of it in an empty environment: .venv-wheel, dist/.
wheel-test: install
	VENV=$(VENV) .ci/wheel-test

# The quick tests on the lower bounds of all dependencies: .venv-oldest.
test-oldest:
	PYTHON=$(PYTHON) .ci/test-oldest

# Lines that no test reaches: of Python, and of the kernels (by the C++ tests and by those of Python), in build/coverage.
coverage: install
	PYTHON=$(PYTHON) .ci/coverage

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/python .ci/stubs.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	if command -v actionlint >/dev/null; then actionlint; fi

# The kernels' signatures, src/bvdt/_core.pyi, from the compiled core.
stubs: install
	$(BIN)/python .ci/stubs.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# The kernels once more, in both languages, compiled with AddressSanitizer and UBSan, under the tests that reach them.
sanitize: install
	VENV=$(VENV) bash tests/helpers/sanitize.sh

# Damaged files, broken matrices, odd arguments, with fresh seeds: DURATION in seconds, TARGETS by name or all.
DURATION ?= 3600
TARGETS ?=
fuzz: install
	PYTHONPATH=tests $(BIN)/python -m fuzz run --seconds $(DURATION) $(TARGETS)

# The same with the kernels under AddressSanitizer and UBSan: what reaches them.
fuzz-sanitize: TARGETS := models csr arguments kernels
fuzz-sanitize: install
	VENV=$(VENV) bash tests/helpers/sanitize.sh -m fuzz run --seconds $(DURATION) $(TARGETS)

# The paper's section 4, from the data sets in DATA to the page and tables in results/; ONLY="table2 figure2a" for parts.
DATA ?= data
reproduce: install
	$(BIN)/python -m reproduction --data "$(DATA)" --out results $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

# Each rival in an environment of its own, .venv-bench/NAME, made by run.py from the extra "bench".
bench: install
	$(BIN)/python benchmarks/run.py

# What is committed beside the last release (or BASE=COMMIT), each built and measured in turn, in a few minutes.
BASE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
bench-quick:
	@test -n "$(BASE)" || { echo "There is no release to compare with yet: make bench-quick BASE=COMMIT"; exit 2; }
	test -x .venv-bench/asv/bin/asv || { $(PYTHON) -m venv .venv-bench/asv && \
	    .venv-bench/asv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt asv virtualenv; }
	cd benchmarks && ../.venv-bench/asv/bin/asv machine --yes >/dev/null && \
	    ../.venv-bench/asv/bin/asv continuous --interleave-rounds -a rounds=2 --factor 1.1 $(BASE) HEAD

# Embeddings and clusters beside scikit-learn's, and maps beside umap-learn's: a page of docs/benchmarks each.
bench-embedding: install
	rm -f build/bench/embedding.json
	$(BIN)/python benchmarks/embedding.py

bench-maps: install
	rm -f build/bench/maps/found.json
	$(BIN)/python benchmarks/maps.py

# Lists of neighbors beside those of faiss, hnswlib, pynndescent and nmslib, time against recall: an hour on two cores.
bench-neighbors: install
	rm -f build/bench/neighbors/*.jsonl
	$(BIN)/python benchmarks/neighbors.py

# Pages, reference and the gallery, whose examples run; a broken link or an example that fails stops it.
docs: install
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs site

clean:
	rm -rf build dist site .venv .venv-sanitize .venv-bench .venv-wheel .venv-oldest .venv-coverage
