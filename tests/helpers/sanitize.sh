#!/usr/bin/env bash
# The tests marked `kernel`, with the extension built under AddressSanitizer and UBSan in a venv of its own.
# With arguments, Python is run on those instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=.venv-sanitize
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" uninstall --quiet --yes bvdt 2>/dev/null # pip does not look whether a source folder changed
.ci/install "$venv" test -C cmake.define.BVDT_SANITIZE=ON -C build-dir=build/sanitize .

# Python itself is not instrumented: the runtimes come first, and what CPython leaves at exit is no leak of ours.
sanitized() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONPATH=tests \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=2 HYPOTHESIS_PROFILE=fixed \
        "$venv/bin/python" "$@"
}
if [ $# -gt 0 ]; then
    sanitized "$@"
    exit
fi
sanitized -m pytest -m kernel -p no:cacheprovider tests

# The C++ tests of the same kernels, where doctest is there to build them.
if echo '#include <doctest/doctest.h>' | "${CXX:-c++}" -x c++ -fsyntax-only - 2>/dev/null; then
    cmake="$(command -v cmake || echo "$venv/bin/cmake")"
    [ -x "$cmake" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt cmake
    "$cmake" -S . -B build/cpp-sanitize -DBVDT_PYTHON=OFF -DBVDT_TESTS=ON -DBVDT_SANITIZE=ON
    "$cmake" --build build/cpp-sanitize --parallel 2
    OMP_NUM_THREADS=2 build/cpp-sanitize/cpp/tests/bvdt_tests
else
    echo "The C++ tests are left out: doctest is missing (Debian: apt-get install doctest-dev)."
fi
