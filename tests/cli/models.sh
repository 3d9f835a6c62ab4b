#!/usr/bin/env bash
# Every ready model starts, runs, and writes the columns of the contract.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

for file in "$SOURCE_DIR"/models/*.toml; do
  name=$(basename "$file" .toml)
  "$LINKWORK" run "$file" --end 0.05 --quiet --out "$name" || fail "$name does not run"
  expect 0 'degree' "$LINKWORK" check "$file"
  python3 - "$name" <<'END'
import csv, json, math, sys

folder = sys.argv[1]
with open(f"{folder}/summary.json") as file:
    summary = json.load(file)
with open(f"{folder}/trajectory.csv", newline="") as file:
    rows = list(csv.reader(file))
columns = rows[0]
assert summary["status"] == "done" and summary["simulated_seconds"] == 0.05, summary["status"]
assert len(set(columns)) == len(columns) and columns[0] == "t"
for name in ("energy.kinetic", "energy.potential", "energy.total", "error.position", "error.velocity"):
    assert name in columns, name
velocities = [c[2:] for c in columns if c.startswith("v.")]
assert velocities and velocities == [c[2:] for c in columns if c.startswith("a.")]
forces = {c for c in columns if c.startswith("force.")}
assert {c.replace("force.", "torque.", 1) for c in forces} == {c for c in columns if c.startswith("torque.")}
assert len(forces) % 3 == 0
assert all(len(row) == len(columns) and all(math.isfinite(float(x)) for x in row) for row in rows[1:])
assert float(rows[1][0]) == 0.0 and float(rows[-1][0]) == 0.05
assert max(float(row[columns.index("error.position")]) for row in rows[1:]) < 1e-10
END
done
