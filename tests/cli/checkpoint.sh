#!/usr/bin/env bash
# Checkpoints and 'linkwork resume': what is written, and what is refused. Interruptions are tested by kill.sh.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

cp "$SOURCE_DIR/models/four_bar.toml" model.toml
"$LINKWORK" run model.toml --end 1 --set torque=3 --quiet --no-report --out plain
expect 0 'simulated' "$LINKWORK" run model.toml --end 1 --set torque=3 --checkpoint run.ckpt --checkpoint-every 0.3 --out results
cmp plain/trajectory.csv results/trajectory.csv || fail 'checkpoints disturb a run'
[[ ! -e run.ckpt.part ]] || fail 'a part of a checkpoint is left'
head -n 1 run.ckpt | grep -qE '^linkwork checkpoint 2 [0-9]+ [0-9a-f]{16}$' || fail 'the first line is not as documented'
tail -n +2 run.ckpt | python3 -c '
import json, sys
saved = json.load(sys.stdin)
assert saved["request"]["set"] == ["torque=3"] and saved["request"]["settings"] == [["--end", "1"]], saved["request"]
assert saved["files"][0]["text"] == open("model.toml").read() and abs(saved["run"]["t"] - 0.9) < 1e-9'

# The last part again, from elsewhere, with its model gone: the same bytes, and all files.
cp -r results kept
cp run.ckpt safe.ckpt
mkdir elsewhere
mv model.toml gone.toml
(cd elsewhere && "$LINKWORK" resume ../run.ckpt >../stdout)
has 'resumed at t = 0.9 s'
has 'simulated    1 s in 1000 steps'
cmp plain/trajectory.csv results/trajectory.csv || fail 'the resumed run has other bytes'
cmp kept/scene.json results/scene.json || fail 'the resumed run has another scene'
if [[ -e kept/report.html ]]; then # not if LINKWORK_WEB=OFF
  [[ -s results/report.html ]] || fail 'the resumed run has no report'
fi
python3 -c '
import json
whole, resumed = (json.load(open(f"{folder}/summary.json")) for folder in ("kept", "results"))
whole.pop("wall_seconds"), resumed.pop("wall_seconds")
assert whole == resumed, (whole, resumed)'

# What is refused, and how.
mv gone.toml model.toml
echo '# a remark' >>model.toml
expect 2 'model.toml: has changed since the run began' "$LINKWORK" resume run.ckpt
mv model.toml gone.toml
expect 2 'nothing.ckpt: there is no such file' "$LINKWORK" resume nothing.ckpt
expect 2 'is not a checkpoint' "$LINKWORK" resume results/trajectory.csv
head -c -100 run.ckpt >short.ckpt
expect 2 'short.ckpt: is cut short' "$LINKWORK" resume short.ckpt
python3 -c '
data = bytearray(open("run.ckpt", "rb").read())
data[-50] ^= 1
open("damaged.ckpt", "wb").write(data)'
expect 2 'damaged.ckpt: is damaged: its checksum does not fit' "$LINKWORK" resume damaged.ckpt
sed -i '5s/[0-9]$/x/' results/trajectory.csv
expect 2 'results/trajectory.csv: is not what was written before the checkpoint' "$LINKWORK" resume run.ckpt
head -n 5 plain/trajectory.csv >results/trajectory.csv
expect 2 'results/trajectory.csv: is shorter than it was' "$LINKWORK" resume run.ckpt
expect 2 '--checkpoint-every: there is no file to write to' "$LINKWORK" run four_bar --checkpoint-every 1
expect 2 '--checkpoint-every: the value is' "$LINKWORK" run four_bar --checkpoint a.ckpt --checkpoint-every 0
expect 2 'nowhere/a.ckpt.part: cannot be written' "$LINKWORK" run four_bar --end 0.1 --checkpoint nowhere/a.ckpt


# Modules, on threads.
"$LINKWORK" run chain_modules --end 0.1 --quiet --no-report --out whole
"$LINKWORK" run chain_modules --end 0.1 --quiet --no-report --checkpoint chain.ckpt --checkpoint-every 0.03 --threads 2 --out chain
cmp whole/trajectory.csv chain/trajectory.csv || fail 'checkpoints disturb a run of modules'
"$LINKWORK" resume chain.ckpt --quiet --threads 3
cmp whole/trajectory.csv chain/trajectory.csv || fail 'the resumed run of modules has other bytes'
expect 2 "--threads: the model is solved in one piece" "$LINKWORK" resume safe.ckpt --threads 2
