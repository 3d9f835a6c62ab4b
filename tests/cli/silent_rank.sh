#!/usr/bin/env bash
# A rank that is stopped is named within the time that the user gives, with its modules, and the job ends.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"
command -v mpirun >/dev/null || exit 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

mpirun --oversubscribe -n 3 "$LINKWORK" run train_modules --end 1e6 --every 0.1 --no-report --rank-timeout 2 >stdout 2>stderr &
job=$!
# It is under way when rows are written.
for ((i = 0; i < 600; ++i)); do
  if [[ -s out/train-modules/trajectory.csv ]] && (($(wc -l <out/train-modules/trajectory.csv) > 3)); then break; fi
  sleep 0.1
done
mapfile -t ranks < <(pgrep -P "$job")
((${#ranks[@]} == 3)) || { kill "$job"; fail "${#ranks[@]} ranks"; }
kill -STOP "${ranks[2]}"
code=0
(sleep 60 && kill -KILL "$job" "${ranks[@]}") >/dev/null 2>&1 &
guard=$!
wait "$job" || code=$?
kill "$guard" 2>/dev/null || true
kill -KILL "${ranks[2]}" 2>/dev/null || true
((code != 0 && code != 137)) || { cat stderr >&2; fail "exit $code"; }
grep -q '^linkwork: rank [0-9] has not answered for 2 s; it has the module' stderr || { cat stderr >&2; fail 'does not say who it was'; }
(($(grep -c 'has not answered' stderr) == 1)) || { cat stderr >&2; fail 'says it more than once'; }

expect 2 '--rank-timeout' "$LINKWORK" run train_modules --rank-timeout 0
