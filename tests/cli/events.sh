#!/usr/bin/env bash
# Runs in which something happens.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'stick_slip_disc: 1 body, 1 joint, 2 degrees of freedom' "$LINKWORK" run stick_slip_disc
has "0.849473327 s 'floor': sticks, then 1 degree of freedom"

expect 0 'latch: 3 bodies' "$LINKWORK" run latch --end 1
has "'close': on latch, velocities jump by up to 1.66, then 1 degree of freedom"
python3 - <<'END'
import json
with open("out/latch/summary.json") as file:
    summary = json.load(file)
(event,) = summary["events"]
assert list(event) == ["t", "name", "what", "velocity_jump", "impulses", "energy", "dof"], event
assert abs(event["t"] - 0.7853981633974483) < 1e-12
assert set(event["impulses"]) == {"latch.x", "latch.y"}
assert event["energy"] < 0 and event["dof"] == 1 and summary["dof"] == 3
assert summary["energy_drift"] < 1e-8
END

# A latch that does not fit says so, and the run has failed.
expect 1 "event 'close' switches on 'latch', but its row" "$LINKWORK" run latch --set alpha=0.36

# An event may end the run, which is then complete.
cat > ends.toml <<'END'
linkwork = 1
[[body]]
name = "b"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
velocity = 2
parent = { body = "ground" }
child = { body = "b" }
[[event]]
name = "there"
when = "q.x - 1"
do = ["stop"]
END
expect 0 'ends: 1 body' "$LINKWORK" run ends.toml
has "0.5 s 'there': stop"
python3 - <<'END'
import json
with open("out/ends/summary.json") as file:
    summary = json.load(file)
assert summary["status"] == "ended at t = 0.5 s by event 'there'", summary["status"]
assert abs(summary["simulated_seconds"] - 0.5) < 1e-12
END

# Methods that cannot take such rows name them.
expect 2 "coordinates 'CE' cannot be used with 'latch', which comes and goes" "$LINKWORK" run latch --coordinates CE
expect 2 "constrains velocities only" "$LINKWORK" run chaplygin_sleigh --formulation index3 --integrator generalized-alpha
