#!/usr/bin/env bash
# The tests marked `kernel`, and the C++ tests, with everything compiled once under AddressSanitizer and UBSan. Their
# packages are those of .venv. With arguments, Python is run on those instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=.venv-sanitize usual=${VENV:-.venv} build=build/sanitize
rm -rf "$venv"
"$usual/bin/python" -m venv --without-pip "$venv"
packages() { "$1/bin/python" -c 'import os, sysconfig; print(os.path.abspath(sysconfig.get_path("purelib")))'; }
packages "$usual" >"$(packages "$venv")/usual.pth" # .pth files over there, bvdt's among them, are not read

doctest=OFF
if echo '#include <doctest/doctest.h>' | "${CXX:-c++}" -x c++ -fsyntax-only - 2>/dev/null; then doctest=ON; fi
PATH="$PWD/$usual/bin:$PATH" "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --ignore-installed -C build-dir=$build -C install.strip=false -C cmake.define.BVDT_SANITIZE=ON -C cmake.define.BVDT_TESTS=$doctest .

# Python itself is not instrumented: the runtimes come first, and what CPython leaves at exit is no leak of ours.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 OMP_NUM_THREADS=2
sanitized() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONPATH=tests HYPOTHESIS_PROFILE=few \
        "$venv/bin/python" "$@"
}
if [ $# -gt 0 ]; then
    sanitized "$@"
    exit
fi
if [ $doctest = ON ]; then
    ASAN_OPTIONS=detect_leaks=1 $build/cpp/tests/bvdt_tests
else
    echo "The C++ tests are left out: doctest is missing (Debian: apt-get install doctest-dev)."
fi
# A worker that crashes shows no more than that: its report is in a file.
rm -f $build/report.*
export ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$PWD/$build/report UBSAN_OPTIONS=$UBSAN_OPTIONS:log_path=$PWD/$build/report
sanitized -m pytest -n auto --dist worksteal -m kernel -p no:cacheprovider tests || {
    cat $build/report.* 2>/dev/null
    exit 1
}
