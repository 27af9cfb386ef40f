#!/usr/bin/env bash
# asan.sh COMMAND…: run a command whose extension modules were built with the sanitizers (make asan).
# Python itself was not, so their libraries have to be there first; libstdc++ with them, or the first
# exception of a C++ library ends the process. Python's own allocator would hide what it hands out.
set -euo pipefail
libraries=()
for name in libasan.so libubsan.so libstdc++.so; do
    libraries+=("$(realpath "$("${CC:-gcc}" -print-file-name="$name")")")
done
export LD_PRELOAD="${libraries[*]}"
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
export PYTHONMALLOC=malloc
exec "$@"
