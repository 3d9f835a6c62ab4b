#!/usr/bin/env bash
# Robot files: every command takes them, and what is imported runs to the same bytes.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"
lamp=$SOURCE_DIR/models/desk_lamp.urdf

expect 0 '2 degrees of freedom: 4 coordinates less rank 2' "$LINKWORK" check "$lamp"
has "the root 'base' is fixed to the ground: it has no mass"
has "closed by 'rod_head' (revolute, 5 rows)"

expect 0 'wrote lamp.toml; now: linkwork check lamp.toml' "$LINKWORK" import "$lamp" -o lamp.toml
expect 0 '2 degrees of freedom: 4 coordinates less rank 2' "$LINKWORK" check lamp.toml
grep -q '^\[\[visual\]\]' lamp.toml
"$LINKWORK" run "$lamp" --end 0.5 --out direct --quiet
grep -q '"visuals":' direct/scene.json
"$LINKWORK" run lamp.toml --end 0.5 --out written --quiet
cmp direct/trajectory.csv written/trajectory.csv
grep -q '"the root' direct/summary.json

# The same after an interruption, with the options of the first run.
cat >loop.yaml <<'END'
closed_loop: [["bracket", "rod"]]
type: ["3d"]
END
echo 'closed_loop: [["bracket", "rodd"]]' > bad.yaml
expect 2 "unknown frame" "$LINKWORK" check "$lamp" --loops bad.yaml
expect 2 "are for robot files" "$LINKWORK" check lamp.toml --loops loop.yaml
"$LINKWORK" run "$lamp" --end 0.2 --out one --quiet --checkpoint saved.json --checkpoint-every 0.1
"$LINKWORK" resume saved.json --quiet

# Mistakes: file, line, exit 2.
expect 2 "is no robot file by its name" "$LINKWORK" import lamp.toml -o x.toml
expect 2 "a robot file has no parameters" "$LINKWORK" check "$lamp" --set g=1
head -c 1500 "$lamp" >cut.urdf
expect 2 'cut.urdf:' "$LINKWORK" check cut.urdf
expect 2 'none.urdf' "$LINKWORK" run none.urdf

# Meshes are drawn when they are there, and missed with a word when not.
mkdir -p bot/meshes
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n' >bot/meshes/arm.obj
cat >bot/arm.urdf <<'END'
<robot name="arm"><link name="base"/><link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><geometry><mesh filename="package://bot/meshes/arm.obj" scale="0.1 0.1 0.1"/></geometry></visual>
<visual><geometry><mesh filename="package://bot/meshes/none.stl"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>
END
expect 0 'meshes that are not there, such as none.stl (line 3)' "$LINKWORK" run bot/arm.urdf --end 0.1 --out drawn
grep -q '"meshes":\[{"file":"arm.obj","triangles":4' drawn/scene.json
expect 0 'wrote arm.toml' "$LINKWORK" import bot/arm.urdf -o arm.toml
grep -q 'file = "bot/meshes/arm.obj"' arm.toml
"$LINKWORK" run arm.toml --end 0.1 --out again --quiet
cmp drawn/trajectory.csv again/trajectory.csv
echo broken >bot/meshes/arm.obj
expect 0 "the mesh 'bot/meshes/arm.obj' is not drawn" "$LINKWORK" run bot/arm.urdf --end 0.1 --out broken

# A parallelogram from rounded data: named, and closed.
cat >rounded.urdf <<'END'
<robot name="rounded"><link name="base"/>
<link name="left"><inertial><origin xyz="0 0 -0.25"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial></link>
<link name="right"><inertial><origin xyz="0 0 -0.25"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial></link>
<link name="coupler"><inertial><origin xyz="0.4 0 0"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="a" type="continuous"><parent link="base"/><child link="left"/><origin rpy="0 0.4 0"/><axis xyz="0 1 0.00002"/></joint>
<joint name="b" type="continuous"><parent link="left"/><child link="coupler"/><origin xyz="0 0.00001 -0.5" rpy="0 -0.4 0"/><axis xyz="0.00001 1 0"/></joint>
<joint name="d" type="continuous"><parent link="base"/><child link="right"/><origin xyz="0.8 -0.00002 0" rpy="0 0.4 0"/><axis xyz="0 1 0"/></joint>
<loop name="c" type="revolute"><predecessor link="coupler"><origin xyz="0.8 0 0"/></predecessor>
<successor link="right"><origin xyz="0 0 -0.5" rpy="0 -0.4 0.00001"/></successor><axis xyz="0 1 0"/></loop></robot>
END
expect 0 "redundant constraints of 'c' contradict each other by up to" "$LINKWORK" check rounded.urdf
has '1 degree of freedom: 3 coordinates less rank 2'
expect 0 'rounded data' "$LINKWORK" run rounded.urdf --end 1 --out rounded
python3 - <<'END'
import json
summary = json.load(open("rounded/summary.json"))
assert summary["status"] == "done" and summary["constraint_error"]["position_max"] < 1e-10, summary
END
