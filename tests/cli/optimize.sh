#!/usr/bin/env bash
# The best parameters, and those that fit data.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'converged' "$LINKWORK" optimize four_bar --minimize 'final(v.theta)' --over torque=2:10 --end 0.3 --out least
has 'SLSQP with sensitivities'
has 'least/optimize.json'
has 'least/optimize.html'
python3 - <<'END_OF_PYTHON'
import json
best = json.load(open("least/optimize.json"))
assert best["goal"] == "minimize" and best["of"] == "final(v.theta)" and best["status"] == "converged"
torque, = best["parameters"]
assert torque["name"] == "torque" and torque["start"] == 6 and torque["value"] == 2 and torque["at_bound"], torque
assert best["value"] < best["start_value"] and best["evaluations"] == len(best["history"])
END_OF_PYTHON

# A fit: data of a run with other parameters are explained by these.
"$LINKWORK" run pendulum --set l=0.83 --end 1 --every 0.02 --columns q,v --out made --quiet --no-report
cut -d, -f1,2 made/trajectory.csv >data.csv
head -1 data.csv | grep -qx 't,q.theta' || fail "$(head -1 data.csv)"
expect 0 'fitted to data.csv, converged' "$LINKWORK" optimize pendulum --fit data.csv --over l=0.5:2 --out fit
python3 - <<'END_OF_PYTHON'
import json
fit = json.load(open("fit/optimize.json"))
l, = fit["parameters"]
assert abs(l["value"] - 0.83) < 1e-6, l
assert l["confidence"][0] < l["value"] < l["confidence"][1] and l["standard_error"] < 1e-4
assert fit["fit"]["rows"] == 51 and fit["fit"]["columns"][0]["column"] == "q.theta"
END_OF_PYTHON
sed '1s/.*/time;angle/; s/,/;/' data.csv | sed '1s/time/t/' >other.csv
expect 0 'converged' "$LINKWORK" optimize pendulum --fit other.csv --fit-columns angle=q.theta --over l=0.5:2 --out fit2
expect 0 'do not determine m' "$LINKWORK" optimize pendulum --fit data.csv --over l=0.5:2 --over m=0.5:2 --out fit3

expect 1 'stopped after' "$LINKWORK" optimize four_bar --minimize 'rms(v.theta)' --over torque=2:10 --over l1=0.9:1.1 --end 0.1 --evaluations 4
expect 1 'the model does not run as it is' "$LINKWORK" optimize four_bar --minimize 'max(q.theta)' --over l1=8:9 --end 0.1

bad() { expect 2 "$1" "$LINKWORK" optimize four_bar "${@:2}"; }
bad 'there is nothing to optimize' --over torque=0:1
bad 'there is nothing to change' --minimize 'max(q.theta)'
bad 'NAME=LOW:HIGH' --minimize 'max(q.theta)' --over torque
bad "did you mean 'torque'?" --minimize 'max(q.theta)' --over torqe=0:1
bad "LOW is 'nan'" --minimize 'max(q.theta)' --over torque=nan:1
bad '1 is not below 1' --minimize 'max(q.theta)' --over torque=1:1
bad "did you mean 'q.theta'?" --minimize 'max(q.thta)' --over torque=0:1
bad 'unknown method' --minimize 'max(q.theta)' --over torque=0:1 --method newton
bad 'there is no gradient' --minimize 'rms(q.theta)' --over torque=0:1 --method gradient --end 0.1
bad 'missing.csv' --fit missing.csv --over torque=0:1
bad 'expected a number from 1' --minimize 'max(q.theta)' --over torque=0:1 --evaluations 0
printf 't,q.theta\n0,1\n0,2\n' >twice.csv
bad 'values that increase' --fit twice.csv --over torque=0:1
printf 't,q.theta\n0,x\n' >word.csv
bad 'a number' --fit word.csv --over torque=0:1
