#!/usr/bin/env bash
# The starter model runs at once and is never overwritten.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'wrote first_try.toml; now: linkwork run first_try.toml' "$LINKWORK" new first_try
expect 0 '1 degree of freedom' "$LINKWORK" check first_try.toml
expect 0 'out/first_try/trajectory.csv' "$LINKWORK" run first_try.toml
grep -qF '"status": "done"' out/first_try/summary.json || fail 'the starter model does not run to its end'
# Every parameter it offers can be set.
"$LINKWORK" run first_try.toml --quiet --end 0.1 --set crank=0.2 --set ground=1.1 --set coupler=1 --set rocker=0.8 --set torque=1

echo changed >first_try.toml
expect 2 'first_try.toml: exists already' "$LINKWORK" new first_try
[[ $(cat first_try.toml) == changed ]] || fail 'overwritten'

for name in '' a/b .. a.toml 'a b' '-x'; do
  run "$LINKWORK" new -- "$name"
  ((code == 2)) || fail "exit $code for the name '$name'"
done
expect 2 "'a/b' cannot be the name of a new model; expected letters" "$LINKWORK" new a/b
[[ $(ls ./*.toml) == ./first_try.toml ]] || fail "left behind: $(ls)"
