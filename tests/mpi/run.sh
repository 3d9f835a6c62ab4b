#!/usr/bin/env bash
# Runs the tests on several ranks: run.sh MPIRUN RANKS PROGRAM [--fail]. With --fail, all ranks must end, and not well.
set -euo pipefail
mpirun=$1 ranks=$2 program=$3 fail=${4:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LSAN_OPTIONS=suppressions=$here/lsan.supp:print_suppressions=0 ASAN_OPTIONS=fast_unwind_on_malloc=0
export LINKWORK_TEST_RANKS=$ranks
command=("$mpirun" -n "$ranks" --oversubscribe --tag-output "$program")
if [[ $fail != --fail ]]; then exec "${command[@]}"; fi

code=0
output=$(timeout 120 "${command[@]}" --fail 2>&1) || code=$?
printf '%s\n' "$output"
((code != 124)) || { echo "the other ranks went on waiting" >&2; exit 1; }
((code != 0)) || { echo "ended well, though a rank failed" >&2; exit 1; }
[[ $output == *"as it was asked to"* ]]
