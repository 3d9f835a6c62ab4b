#!/usr/bin/env bash
# What a run may write over, and what not: files of the user, results of others that are at work, results of a refused resume.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

model=$SOURCE_DIR/models/four_bar.toml
cp "$model" m.toml
save=("$LINKWORK" run m.toml --end 0.2 --no-report --quiet --out results)

# --checkpoint FILE replaces checkpoints only.
expect 2 'm.toml: exists, is not a checkpoint, and would be lost' "${save[@]}" --checkpoint m.toml
cmp "$model" m.toml || fail 'the model is gone'
mkdir folder
expect 2 'folder: is a directory' "${save[@]}" --checkpoint folder
[[ -d folder ]] || fail 'the folder is gone'
ln -s m.toml link
expect 2 'link: is a link' "${save[@]}" --checkpoint link
mkfifo pipe
expect 2 'pipe: is no regular file' timeout 20 "${save[@]}" --checkpoint pipe
expect 2 '/dev/null: is no regular file' "${save[@]}" --checkpoint /dev/null
touch empty
expect 2 'empty: exists, is not a checkpoint' "${save[@]}" --checkpoint empty
rm -rf results
for own in trajectory.csv scene.json summary.json report.html ../results/trajectory.csv; do
  expect 2 'is a file of the results' "${save[@]}" --checkpoint "results/$own"
done
echo mine >run.ckpt.part
expect 2 'run.ckpt.part: exists, is not a checkpoint' "${save[@]}" --checkpoint run.ckpt
[[ $(<run.ckpt.part) == mine ]] || fail 'a file of the user is gone'
rm run.ckpt.part
expect 2 'nowhere/a.ckpt.part: cannot be written' "${save[@]}" --checkpoint nowhere/a.ckpt
"${save[@]}" --checkpoint run.ckpt
"${save[@]}" --checkpoint run.ckpt || fail 'an older checkpoint is not replaced'

# A resume that is refused leaves everything as it is.
"$LINKWORK" run m.toml --end 0.2 --quiet --out results --checkpoint run.ckpt
sum() { (cd results && md5sum -- * && ls -l --time-style=full-iso); }
unchanged() {
  local before
  before=$(sum)
  expect "$@"
  [[ $(sum) == "$before" ]] || fail "a refused resume has changed results: ${*:3}"
}
unchanged 2 '--threads: the model is solved in one piece' "$LINKWORK" resume run.ckpt --threads 2
cp results/trajectory.csv safe.csv
sed -i '3s/^0/1/' results/trajectory.csv
unchanged 2 'is not what was written before the checkpoint' "$LINKWORK" resume run.ckpt
printf 'a,b\n1,2\n' >results/trajectory.csv
unchanged 2 'has other columns than the run that was saved' "$LINKWORK" resume run.ckpt
cp safe.csv results/trajectory.csv

# A checkpoint is not to be trusted: it leads nowhere but to the folder of its run.
forge() { # forge FILE STATEMENT: changes run.ckpt, and makes its checksum fit
  python3 - "$1" "$2" <<'END'
import json, sys
saved = json.loads(open("run.ckpt").read().split("\n", 1)[1])
exec(sys.argv[2])
body = (json.dumps(saved) + "\n").encode()
sum = 0xCBF29CE484222325
for byte in body:
    sum = (sum ^ byte) * 0x100000001B3 % 2**64
open(sys.argv[1], "wb").write(b"linkwork checkpoint 2 %d %016x\n" % (len(body), sum) + body)
END
}
forge same.ckpt 'pass'
expect 0 "resumed at t = 0.18 s, in $PWD/results" "$LINKWORK" resume same.ckpt
forge away.ckpt 'saved["request"]["out"] = saved["request"]["out"] + "/elsewhere"'
expect 2 'elsewhere: is no folder' "$LINKWORK" resume away.ckpt
[[ ! -e results/elsewhere ]] || fail 'a forged checkpoint makes folders'
mkdir victim && echo precious >victim/summary.json && echo 'name,phone' >victim/trajectory.csv
forge other.ckpt "saved['request']['out'] = '$PWD/victim'; saved['bytes'] = 0; saved['checksum'] = 0xcbf29ce484222325"
expect 2 'victim/trajectory.csv: has other columns' "$LINKWORK" resume other.ckpt
[[ $(<victim/summary.json) == precious ]] || fail 'a forged checkpoint removes files'
for change in '["request"]["every"] = 0' '["request"]["every"] = -1' '["request"]["every"] = 1e-300' \
  '["run"]["next_checkpoint"] = -2**62' '["run"]["grid"] = -2**62' '["run"]["grid"] = 5' \
  '["run"]["parts"][0]["x"].append(1.0)' '["run"]["parts"] = []' '["run"]["outputs"] = -2**62' \
  '["run"]["h"] = "nan"' '["run"]["row"] = []' '["request"]["settings"] = [["--end", "1e300"]]' \
  '["files"] = []' "[\"files\"][0][\"file\"] = '$PWD/pipe'"; do
  forge forged.ckpt "saved$change"
  unchanged 2 'linkwork: ' timeout 30 "$LINKWORK" resume forged.ckpt
done

# Two runs in one folder at a time: the second is refused.
"$LINKWORK" run m.toml --realtime --end 30 --quiet --no-report --out shared 2>/dev/null &
first=$!
for _ in $(seq 200); do
  if [[ -s shared/scene.json ]]; then break; fi
  sleep 0.05
done
expect 2 'shared: another run is writing its results there' "$LINKWORK" run m.toml --end 0.1 --out shared
expect 2 'shared: another run is writing its results there' "$LINKWORK" kinematics four_bar_driven --end 0.1 --out shared
kill -9 "$first" && wait "$first" || true
"$LINKWORK" run m.toml --end 0.1 --quiet --no-report --out shared || fail 'a lock is left behind'
