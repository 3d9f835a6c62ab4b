#!/usr/bin/env bash
# What a run writes and prints.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"
model=$SOURCE_DIR/models/four_bar.toml

expect 0 'four-bar: 3 bodies, 3 joints, 1 degree of freedom' "$LINKWORK" run "$model" --end 0.5
has 'TA coordinates, schur (auto), projection, rk4 (steps of 0.001 s)'
has '0.5 s in 500 steps'
has '2 rows, rank 2'
has 'out/four-bar/trajectory.csv (51 rows, 46 columns)'
has 'out/four-bar/summary.json'

# The files keep the contract.
python3 - <<'END'
import csv, json, math

with open("out/four-bar/trajectory.csv", newline="") as file:
    text = file.read()
assert "\r" not in text and text.endswith("\n")
rows = list(csv.reader(text.splitlines()))
joints = ["theta", "alpha", "phi"]
expected = ["t"] + [f"{kind}.{joint}" for kind in "qva" for joint in joints]
expected += ["lambda.cut.x", "lambda.cut.y"]
expected += [f"{kind}.{of}.{axis}" for kind in ("force", "torque") for of in joints + ["cut"] for axis in "xyz"]
expected += ["effort.force1", "power.force1"]
expected += ["energy.kinetic", "energy.potential", "energy.total", "error.position", "error.velocity"]
expected += ["p.C.x", "p.C.y", "p.C.z"]
assert rows[0] == expected, rows[0]
assert len(rows) == 52
for i, row in enumerate(rows[1:]):
    assert len(row) == len(expected)
    assert all(math.isfinite(float(value)) for value in row)
    assert abs(float(row[0]) - 0.01 * i) < 1e-12

last = dict(zip(rows[0], map(float, rows[-1])))
with open("out/four-bar/summary.json") as file:
    summary = json.load(file)
assert list(summary) == ["model", "coordinates", "formulation", "stabilization", "integrator", "glue", "ranks", "threads", "status",
                         "steps", "rejected_steps", "evaluations", "wall_seconds", "simulated_seconds", "constraint_error",
                         "energy_drift", "dof", "rank", "redundant", "not_unique", "events", "final", "warnings", "notes"], list(summary)
assert set(summary["constraint_error"]) == {"position_max", "velocity_max"}
assert summary["model"] == "four-bar" and summary["status"] == "done"
assert (summary["coordinates"], summary["formulation"], summary["stabilization"], summary["integrator"]) == (
    "TA", "schur", "projection", "rk4")
assert (summary["glue"], summary["ranks"], summary["threads"]) == ("none", 1, 1)
assert (summary["dof"], summary["rank"], summary["redundant"], summary["warnings"]) == (1, 2, [], [])
assert summary["steps"] == 500 and summary["simulated_seconds"] == 0.5
# 17 digits: the same doubles in both files.
assert summary["final"] == {name: last[name] for name in expected if name[:2] in ("q.", "v.")}
END

# A model by its bare name; options reach the run.
run "$LINKWORK" run four_bar --end 0.2 --step 0.002 --every 0.1 --set torque=0 --formulation lagrange \
  --stabilization baumgarte:alpha=5,beta=5 --integrator rk2 --coordinates TA --glue none --threads 1 --out elsewhere/deep
((code == 0)) || fail "exit $code: $(cat stderr)"
has 'TA coordinates, lagrange, baumgarte:alpha=5,beta=5, rk2 (steps of 0.002 s)'
has '0.2 s in 100 steps'
has 'elsewhere/deep/trajectory.csv (3 rows'

# Adaptive steps, and a word on tolerances that nothing uses.
expect 0 'dopri45 (rtol 1e-10, atol 1e-09)' "$LINKWORK" run four_bar --end 0.1 --integrator dopri45 --rtol 1e-10 --out adaptive
expect 0 '--rtol and --atol have no effect' "$LINKWORK" run four_bar --end 0.1 --rtol 1e-10 --out fixed

# A local file hides a ready model of the same name.
sed 's/name = "four-bar"/name = "my own"/' "$model" >four_bar
expect 0 'my own: 3 bodies' "$LINKWORK" run four_bar --end 0.05
[[ -f 'out/my own/trajectory.csv' ]] || fail 'the folder is not named after the model'
rm four_bar

# Redundant rows and cut joints are told, in one line each.
expect 0 "joint 'slot' is cut" "$LINKWORK" run quick_return --end 0.05
(($(grep -c 'add nothing to the others' stdout) == 1)) || fail 'redundant rows are not told in one line'

# What assembly moved is told.
"$LINKWORK" new rough >/dev/null
expect 0 'assembly moved q.D by' "$LINKWORK" run rough.toml --end 0.05
