#!/usr/bin/env bash
# The names of columns: every joint type, sensors, modules, and names that CSV must quote.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

{
  printf 'linkwork = 1\n'
  for type in revolute prismatic screw cylindrical universal spherical planar translational free; do
    printf '[[body]]\nname = "body_%s"\nmass = 1.0\ninertia = [1, 1, 1]\ncom = [0.1, 0.2, 0.3]\n' "$type"
    printf '[[joint]]\nname = "%s"\ntype = "%s"\nparent = { body = "ground" }\nchild = { body = "body_%s" }\n' "$type" "$type" "$type"
    if [[ $type == screw ]]; then echo 'pitch = 0.1'; fi
  done
  cat <<'END'
[[body]]
name = "fixed"
mass = 1.0
[[joint]]
name = "weld"
type = "weld"
parent = { body = "body_revolute" }
child = { body = "fixed" }
[[sensor]]
name = "tip"
type = "point"
body = "fixed"
[[sensor]]
name = "seen"
type = "body"
body = "body_free"
[[sensor]]
name = "sum"
type = "expression"
expression = "q.revolute + v.prismatic"
END
} >all.toml
"$LINKWORK" run all.toml --end 0.02 --quiet --out all
python3 - <<'END'
import csv

with open("all/trajectory.csv", newline="") as file:
    columns = next(csv.reader(file))
quaternion, spin = ["w", "x", "y", "z"], ["wx", "wy", "wz"]
q = {"revolute": [""], "prismatic": [""], "screw": [""], "cylindrical": ["angle", "z"], "universal": ["0", "1"],
     "spherical": quaternion, "planar": ["x", "y", "angle"], "translational": ["x", "y", "z"],
     "free": ["x", "y", "z"] + ["q" + c for c in quaternion]}
v = dict(q, spherical=spin, free=["x", "y", "z"] + spin)
names = lambda kind, joints: [f"{kind}.{j}.{c}" if c else f"{kind}.{j}" for j, parts in joints.items() for c in parts]
expected = ["t"] + names("q", q) + names("v", v) + names("a", v)
assert columns[:len(expected)] == expected, columns
sensors = ["p.tip.x", "p.tip.y", "p.tip.z"] + [f"x.seen.{c}" for c in ("x", "y", "z", "qw", "qx", "qy", "qz")] + ["s.sum"]
assert columns[-len(sensors):] == sensors, columns
END

# Modules prefix names.
cat >arm.toml <<'END'
linkwork = 1
[[body]]
name = "arm"
mass = 1.0
com = [0.5, 0, 0]
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
END
cat >pair.toml <<'END'
linkwork = 1
[[module]]
name = "left"
file = "arm.toml"
[[module]]
name = "right"
file = "arm.toml"
END
"$LINKWORK" run pair.toml --end 0.02 --quiet
[[ $(head -n 1 out/pair/trajectory.csv) == t,q.left.theta,q.right.theta,v.left.theta,* ]] || fail 'modules do not prefix names'

# Commas and quotes in names.
sed 's/"theta"/"a,\\"b\\""/' arm.toml >quoted.toml
"$LINKWORK" run quoted.toml --end 0.02 --quiet
[[ $(head -n 1 out/quoted/trajectory.csv) == 't,"q.a,""b""","v.a,""b""",'* ]] || fail "$(head -n 1 out/quoted/trajectory.csv)"
