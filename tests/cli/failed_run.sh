#!/usr/bin/env bash
# A run that stops early exits with 1, says why, and keeps what it has.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

# The wrong method for the constraints: stops at the start.
expect 1 "formulation 'lagrange' needs independent constraint rows" "$LINKWORK" run bricard --formulation lagrange --end 1
grep -qF 'what was computed until then is in out/bricard' stderr || fail 'does not say where the results are'
grep -q '^t,' out/bricard/trajectory.csv || fail 'no header'

# Blows up on the way.
cat >runaway.toml <<'END'
linkwork = 1
[settings]
gravity = [0, 0, 0]
integrator = "euler"
[[body]]
name = "b"
mass = 1.0
[[joint]]
name = "x"
type = "prismatic"
parent = { body = "ground" }
child = { body = "b" }
position = 1.0
velocity = 1.0
[[force]]
type = "force"
joint = "x"
value = "exp(q.x)"
END
expect 1 'runaway: stopped at t = ' "$LINKWORK" run runaway.toml
grep -qF 'not finite' stderr || fail 'no reason in words'
python3 - <<'END'
import csv, json

with open("out/runaway/trajectory.csv", newline="") as file:
    rows = list(csv.reader(file))
with open("out/runaway/summary.json") as file:
    summary = json.load(file)
assert len(rows) > 10 and all(len(row) == len(rows[0]) for row in rows)
assert summary["status"].startswith("stopped at t = ") and "not finite" in summary["status"]
assert float(rows[-1][0]) <= summary["simulated_seconds"] < 10.0
END

# --quiet does not hide the reason.
run "$LINKWORK" run runaway.toml --quiet
((code == 1)) || fail "exit $code"
[[ ! -s stdout ]] || fail '--quiet prints'
grep -qF 'stopped at t = ' stderr || fail 'no reason'

# A disk that takes nothing.
mkdir full && ln -s /dev/full full/trajectory.csv
expect 1 'full/trajectory.csv: No space left on device' "$LINKWORK" run four_bar --end 0.1 --out full
