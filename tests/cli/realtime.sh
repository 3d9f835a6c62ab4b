#!/usr/bin/env bash
# --realtime: a run takes as long as it says, and tells when it could not.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

# paced FACTOR SECONDS FOLDER: the wall time fits the factor, never shorter; how much longer is a matter of the machine.
check() {
  python3 -c '
import json, sys
factor, seconds, folder = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
summary = json.load(open(f"{folder}/summary.json"))
pace = summary["realtime"]
assert pace["factor"] == factor, pace
assert seconds / factor <= summary["wall_seconds"] + 1e-3, summary["wall_seconds"]
assert summary["wall_seconds"] <= seconds / factor + pace["lateness_max"] + 0.5, (summary["wall_seconds"], pace)
assert sum(bin["steps"] for bin in pace["jitter"]) == pace["steps"] == summary["steps"], pace
bounds = [bin["below"] for bin in pace["jitter"]]
assert bounds[-1] is None and bounds[:-1] == sorted(bounds[:-1]), bounds
assert 0 <= pace["lateness_mean"] <= pace["lateness_max"] and 0 < pace["busy"] <= 1, pace' "$@"
}

expect 0 'real time' "$LINKWORK" run four_bar --end 0.5 --step 0.01 --no-report --realtime --out one
check 1 0.5 one
expect 0 'factor 4' "$LINKWORK" run four_bar_modules --end 1 --step 0.01 --no-report --realtime 4 --threads 2 --out four
check 4 1 four
grep -q realtime one/summary.json
"$LINKWORK" run four_bar --end 0.1 --no-report --quiet --out free
! grep -q realtime free/summary.json || fail 'a run that was not paced says how it kept pace'
"$LINKWORK" run four_bar --end 0.5 --step 0.01 --no-report --quiet --out unpaced
cmp one/trajectory.csv unpaced/trajectory.csv || fail 'pacing changes the results'

# Nobody is that fast: every step is late, and nothing waits.
"$LINKWORK" run four_bar --end 1 --no-report --quiet --realtime 1e9 --out impossible
python3 -c '
import json
pace = json.load(open("impossible/summary.json"))["realtime"]
assert pace["overruns"] == pace["steps"] == 1000 and pace["lateness_max"] > 0 and pace["busy"] > 0.9, pace'

expect 2 "integrator 'dopri45' chooses its own steps" "$LINKWORK" run four_bar --integrator dopri45 --realtime
has_hint=$(cat stderr)
[[ $has_hint == *rk4* ]] || fail "no hint what to choose: $has_hint"
expect 2 "integrator 'dopri45' chooses its own steps" "$LINKWORK" run four_bar_modules --integrator dopri45 --realtime 2
expect 2 "--realtime: the value is '-1'" "$LINKWORK" run four_bar --realtime=-1
expect 2 "--realtime: the value is 'fast'" "$LINKWORK" run four_bar --realtime fast
