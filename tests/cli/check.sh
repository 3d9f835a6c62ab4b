#!/usr/bin/env bash
# What check finds out.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 '1 degree of freedom: 3 coordinates less rank 2' "$LINKWORK" check four_bar
has "closed by 'cut' (pin, 2 rows)"
has '2 rows, rank 2, none redundant'
has 'consistent as given'
has 'schur (auto: '

# Cut joints and redundant rows by name: three of each planar loop.
expect 0 '10 rows, rank 4, 6 redundant:' "$LINKWORK" check "$SOURCE_DIR/models/quick_return.toml"
has "joint 'slot' is cut (chosen) to open a loop of 4 joints"
has 'slot.'
has 'wrist.z, wrist.rx, wrist.ry'

# Parameters count.
expect 0 '80 rows, rank 80' "$LINKWORK" check n_four_bar --set n=40
has 'and 30 more'

# No loops; relations of coordinates.
expect 0 '10 degrees of freedom' "$LINKWORK" check chain
has 'constraints  none'
expect 0 'relations of joint coordinates: first_stage, second_stage, drive' "$LINKWORK" check gear_train

# What assembly moves.
"$LINKWORK" new rough >/dev/null
expect 0 'assembly moved 2 coordinates:' "$LINKWORK" check rough.toml
has 'q.D from 1.6, as given, to '

# A start that cannot be: the closures are named.
expect 2 "no position satisfies 'cut'" "$LINKWORK" check four_bar --set l0=30

# Massless: the reason for the formulation, and why it cannot run.
cat >massless.toml <<'END'
linkwork = 1
[[body]]
name = "ghost"
mass = 0.0
[[joint]]
name = "hinge"
type = "revolute"
parent = { body = "ground" }
child = { body = "ghost" }
END
expect 1 "massless cannot run: joint 'hinge' moves no inertia, and the constraints do not tell" "$LINKWORK" check massless.toml
has "schur (auto: 'hinge' moves no inertia"

# Two drives of one joint that part after the start.
cat >contradiction.toml <<'END'
linkwork = 1
[[body]]
name = "b"
mass = 1.0
com = [0.5, 0, 0]
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "b" }
[[closure]]
name = "slow"
type = "drive"
joint = "j"
value = "t^2"
[[closure]]
name = "fast"
type = "drive"
joint = "j"
value = "2*t^2"
END
expect 1 "closures 'slow', 'fast' contradict one another (fast.r is off by 2 in acceleration" "$LINKWORK" check contradiction.toml
has 'fast.r follows from slow.r, but contradicts that by 2 in acceleration'
expect 1 "closures 'slow', 'fast' contradict one another" "$LINKWORK" run contradiction.toml --formulation gigsp

# Rows that share a load: which ones, whose reactions are open, and what can be done; the same words in a run.
expect 0 'middle.x follows from top.x' "$LINKWORK" check five_bar_redundant
has 'not unique are lambda.top.x, lambda.middle.x, force.top.x, force.middle.x'
has 'unique are lambda.top.y, lambda.middle.y'
has "leave out one of 'top', 'middle'"
expect 0 'middle.x follows from top.x' "$LINKWORK" run five_bar_redundant --end 0.05 --formulation gigsp
has 'not unique are lambda.top.x, lambda.middle.x, force.top.x, force.middle.x'
expect 1 "formulation 'lagrange' needs independent constraint rows" "$LINKWORK" run five_bar_redundant --formulation lagrange
expect 2 "no position satisfies 'middle' (off by 0.1) together with 'top'" "$LINKWORK" check five_bar_redundant --set r5=2.1

# How far a singular position is.
expect 0 'from a singular position' "$LINKWORK" check four_bar
has 'all unique'

# A cut joint that assembly brings outside its limits.
cat >limits.toml <<'END'
linkwork = 1
[[body]]
name = "b"
mass = 1.0
com = [0.5, 0, 0]
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "b" }
limits = [-0.1, 0.1]
[[closure]]
name = "drive"
type = "drive"
joint = "j"
value = "0.5 + t"
END
expect 0 "joint 'j' starts at 0.5, outside [-0.1, 0.1]" "$LINKWORK" check limits.toml
