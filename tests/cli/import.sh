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
"$LINKWORK" run "$lamp" --end 0.5 --out direct --quiet
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
