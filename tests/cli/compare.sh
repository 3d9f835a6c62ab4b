#!/usr/bin/env bash
# Methods side by side: what is run, printed and written.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'four-bar: 10 runs of 0.2 s, compared every' "$LINKWORK" compare four_bar --end 0.2 --formulations schur,lagrange \
  --integrators rk4,dopri45 --steps 4e-3,2e-3,1e-3 --tolerances 1e-5,1e-8:1e-12
has 'good to'
has 'all with     TA, projection'
has 'error in q'
has 'out/four-bar-compare/compare.csv'
has 'out/four-bar-compare/compare.json'
grep -q '\*' stdout || fail 'nothing is marked as the best'
grep -q $'\x1b' stdout && fail 'colours in a file'
[[ ! -s stderr ]] || fail "on stderr: $(cat stderr)"

python3 - <<'END_OF_PYTHON'
import csv, json, math

with open("out/four-bar-compare/compare.csv", newline="") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == 10
assert list(rows[0]) == ["problem", "coordinates", "formulation", "stabilization", "integrator", "step", "rtol", "atol", "status",
                         "reason", "error", "error_coordinate", "error_time", "position_error", "velocity_error", "energy_drift",
                         "steps", "rejected_steps", "evaluations", "us_per_evaluation", "wall_seconds", "repeats",
                         "simulated_seconds"], list(rows[0])
with open("out/four-bar-compare/compare.json") as file:
    whole = json.load(file)
assert list(whole) == ["model", "end", "every", "references", "rows"] and whole["model"] == "four-bar" and whole["end"] == 0.2
assert len(whole["references"]) == 1
reference = whole["references"][0]
assert reference["trouble"] == "" and 0 < reference["estimated_error"] < 1e-8 and "dopri45" in reference["method"]
for line, row in zip(rows, whole["rows"]):
    assert line["status"] == row["status"] == "ran"
    assert float(line["error"]) == row["error"] and row["error"] < 1e-3
    assert math.isclose(row["us_per_evaluation"], 1e6 * row["wall_seconds"] / row["evaluations"])
    assert (row["step"] is None) == (row["integrator"] == "dopri45") == (line["rtol"] != "")
fixed = [row for row in whole["rows"] if row["integrator"] == "rk4" and row["formulation"] == "schur"]
assert [row["steps"] for row in fixed] == [50, 100, 200]
assert fixed[0]["error"] > 8 * fixed[1]["error"]  # fourth order
tolerances = [(row["rtol"], row["atol"]) for row in whole["rows"] if row["formulation"] == "lagrange" and row["rtol"]]
assert tolerances == [(1e-5, 1e-8), (1e-8, 1e-12)], tolerances
END_OF_PYTHON

# Options of methods, and several values of them.
expect 0 'baumgarte:alpha=50,beta=5' "$LINKWORK" compare four_bar --end 0.1 --steps 2e-3 --out gains \
  --stabilizations none,baumgarte:alpha=5/50,beta=5,projection
has ': 4 runs'

# 'all' is the catalog; without any list of methods all formulations are compared, each at three steps.
formulations=$("$LINKWORK" list formulations | grep -v '^ ' | grep -vc '^auto')
expect 0 ": $((3 * formulations)) runs" "$LINKWORK" compare four_bar --end 0.05 --out default --budget 2
expect 0 ": $formulations runs" "$LINKWORK" compare four_bar --end 0.05 --out all --formulations all --steps 1e-3 --budget 2

# Values of a parameter, each with a reference of its own.
expect 0 'n=2: ' "$LINKWORK" compare n_four_bar --vary n=2,3 --end 0.1 --steps 2e-3 --formulations schur,lagrange --out sizes
has 'n=3: '
has ': 4 runs'

# A combination that cannot run is a line with the reason; the others run.
expect 0 'needs independent constraint rows' "$LINKWORK" compare five_bar_redundant --end 0.1 --steps 2e-3 \
  --formulations schur,lagrange --out partly
has 'failed       TA; lagrange; projection; rk4; step 0.002'
grep -q '^,TA,lagrange,projection,rk4,0.002.*,stopped,' partly/compare.csv || fail 'no row for what did not run'

# Nothing runs, or there is no reference: exit 1, and the files all the same.
expect 1 'no combination ran' "$LINKWORK" compare five_bar_redundant --end 0.1 --steps 2e-3 --formulations lagrange --out none
[[ -s none/compare.csv ]] || fail 'no table of what failed'
expect 1 'no reference' "$LINKWORK" compare four_bar --end 0.5 --budget 1e-9 --steps 1e-3 --formulations schur --out hurried
has 'took longer than'

# Bad input.
expect 2 "unknown formulation 'schurr'" "$LINKWORK" compare four_bar --formulations schurr
expect 2 "unknown option of baumgarte 'gamma9'" "$LINKWORK" compare four_bar --stabilizations baumgarte:gamma9=1
expect 2 "has an empty place" "$LINKWORK" compare four_bar --integrators rk4,,rk2
expect 2 "--steps: the value is '-1'" "$LINKWORK" compare four_bar --steps 1e-3,-1
expect 2 "'n' varies nothing" "$LINKWORK" compare n_four_bar --vary n
expect 2 "unknown integrator 'rk44'" "$LINKWORK" compare four_bar --reference rk44
expect 2 'neither a file nor a ready model' "$LINKWORK" compare no_such_model

# --quiet prints nothing.
run "$LINKWORK" compare four_bar --end 0.05 --steps 1e-3 --formulations schur --quiet --out quiet
((code == 0)) && [[ ! -s stdout && ! -s stderr ]] || fail 'not quiet'
