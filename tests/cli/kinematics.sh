#!/usr/bin/env bash
# Motion from drives alone.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'four-bar-driven: 3 bodies, 3 joints, all driven' "$LINKWORK" kinematics four_bar_driven --end 0.1 --every 0.01
has '3 rows, rank 3'
has 'out/four-bar-driven-kinematics/trajectory.csv (11 rows'
python3 - <<'END_OF_PYTHON'
import csv, json

with open("out/four-bar-driven-kinematics/trajectory.csv", newline="") as file:
    rows = list(csv.DictReader(file))
columns = list(rows[0])
joints = ["theta2", "beta", "theta4"]
assert columns == ["t"] + [f"{kind}.{joint}" for kind in "qva" for joint in joints] + [
    "energy.kinetic", "energy.potential", "energy.total", "error.position", "error.velocity", "p.C.x", "p.C.y", "p.C.z"], columns
assert len(rows) == 11 and float(rows[-1]["t"]) == 0.1
first = {name: float(value) for name, value in rows[0].items()}
assert abs(first["a.theta2"] + first["a.beta"] - 8.6390012) < 1e-7 and abs(first["a.theta4"] - 46.4808031) < 1e-7
with open("out/four-bar-driven-kinematics/summary.json") as file:
    summary = json.load(file)
assert (summary["formulation"], summary["status"], summary["dof"], summary["rank"]) == ("kinematics", "done", 0, 3)
assert summary["energy_drift"] is None and summary["constraint_error"]["position_max"] < 1e-10
END_OF_PYTHON

# The printed accelerations belong to r1 = 6 and r4 = 9.
"$LINKWORK" kinematics four_bar_driven --set r1=6 --set r4=9 --end 0.01 --quiet --no-report --out swapped
python3 -c '
import csv
row = {name: float(value) for name, value in next(csv.DictReader(open("swapped/trajectory.csv"))).items()}
assert abs(row["a.theta2"] + row["a.beta"] - 26.080) < 1e-3 and abs(row["a.theta4"] - 53.331) < 1e-3, row'
[[ ! -e swapped/report.html ]] || fail 'a report in spite of --no-report'

# What is not driven is named, and what to do about it.
expect 2 "leave a motion free: 'theta', 'alpha', 'phi' can still move" "$LINKWORK" kinematics four_bar
grep -q 'type = "drive"' stderr || fail 'no advice'
[[ ! -e out/four-bar-kinematics ]] || fail 'a folder for a motion that is refused'

# The end of reach: exit 1, and what was computed until then.
expect 1 "no position satisfies 'cut' and 'motor'" "$LINKWORK" kinematics four_bar_driven --set r2=5 --out reach
(($(wc -l <reach/trajectory.csv) > 10)) || fail 'the rows before the end of reach are missing'

# Drives that contradict one another are named.
cat "$SOURCE_DIR/models/four_bar_driven.toml" - >twice.toml <<'TOML'
[[closure]]
name = "other"
type = "drive"
joint = "theta2"
value = "theta0 + 2*speed*t"
TOML
expect 1 "closures 'motor' and 'other' contradict one another: their velocities" "$LINKWORK" kinematics twice.toml

expect 2 "--every: the value is '0'" "$LINKWORK" kinematics four_bar_driven --every 0
