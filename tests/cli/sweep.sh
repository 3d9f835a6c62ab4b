#!/usr/bin/env bash
# Many runs: what is written, that a run alone gives the same, threads, a kill, bad input.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

sweep=("$LINKWORK" sweep four_bar --end 0.2 --grid torque=0:6:3 --sample 'l1=normal(1,0.02)' --runs 3
       --measure 'swing=max(q.phi)-min(q.phi)' --measure 'late=first(q.theta > 100)' --keep q.theta,energy.total)
expect 0 'four-bar: 9 runs' "${sweep[@]}" --threads 1
has 'swing'
has 'out/four-bar-sweep/sweep.csv'
has 'out/four-bar-sweep/sweep.html'
[[ ! -s stderr ]] || fail "on stderr: $(cat stderr)"
run "${sweep[@]}" --threads 3 --out three --quiet
((code == 0)) || fail "$(cat stderr)"
[[ ! -s stdout ]] || fail 'not quiet'
for file in sweep.csv sweep.json kept.csv sweep.html; do
  cmp "out/four-bar-sweep/$file" "three/$file" || fail "$file differs on three threads"
done

# A row is what 'linkwork run --set' gives with its numbers: to the last bit without lanes, to rounding with them.
expect 0 '9 runs' "${sweep[@]}" --no-lanes --out each
grep -q '"lanes": "one by one: it was asked for so"' each/sweep.json || fail 'nothing is said of lanes'
python3 - "$LINKWORK" <<'END_OF_PYTHON'
import csv, json, subprocess, sys

rows = list(csv.DictReader(open("each/sweep.csv", newline="")))
assert list(rows[0]) == ["run", "torque", "l1", "status", "swing", "late", "constraint_error", "energy_drift"], list(rows[0])
assert [row["run"] for row in rows] == [str(i) for i in range(1, 10)] and all(row["status"] == "done" for row in rows)
assert all(row["late"] == "" for row in rows)
row = rows[4]
subprocess.run([sys.argv[1], "run", "four_bar", "--end", "0.2", "--set", f"torque={row['torque']}", "--set", f"l1={row['l1']}",
                "--out", "alone", "--quiet", "--no-report"], check=True)
alone = list(csv.DictReader(open("alone/trajectory.csv", newline="")))
phi = [float(line["q.phi"]) for line in alone]
assert float(row["swing"]) == max(phi) - min(phi)
kept = [line for line in csv.DictReader(open("each/kept.csv", newline="")) if line["run"] == row["run"]]
assert [(line["t"], line["q.theta"], line["energy.total"]) for line in kept] == \
       [(line["t"], line["q.theta"], line["energy.total"]) for line in alone]
summary, whole = json.load(open("alone/summary.json")), json.load(open("each/sweep.json"))
assert float(row["energy_drift"]) == summary["energy_drift"]
assert float(row["constraint_error"]) == summary["constraint_error"]["position_max"]
assert whole["status"] == "done" and whole["runs"] == 9 and whole["failed"] == 0 and whole["seed"] == 1
assert [each["name"] for each in whole["parameters"]] == ["torque", "l1"]
for file, off in [("sweep.csv", 1e-12), ("kept.csv", 1e-12)]:
    for one, other in zip(csv.DictReader(open(f"each/{file}", newline="")), csv.DictReader(open(f"three/{file}", newline=""))):
        for name in one:
            if name not in ("status", "late", "constraint_error", "energy_drift"):
                assert abs(float(one[name]) - float(other[name])) <= off * (1 + abs(float(one[name]))), (file, name, one, other)
END_OF_PYTHON

# Whole runs, which 'linkwork report' takes.
expect 0 '2 runs' "$LINKWORK" sweep four_bar --end 0.1 --grid torque=0:6:2 --trajectories --no-lanes --out whole
expect 0 '' "$LINKWORK" run four_bar --end 0.1 --set torque=6 --out single --quiet --no-report
cmp whole/runs/000002/trajectory.csv single/trajectory.csv || fail 'the trajectory is another'
expect 0 '' "$LINKWORK" report whole/runs/000001

# What fails is a row with its reason; all of them failing is a failure.
expect 0 '3 runs, 1 failed' "$LINKWORK" sweep four_bar --end 0.05 --grid l1=0.5:9:3 --out some
grep -q '^3,9,.*cut' some/sweep.csv || fail "no reason: $(cat some/sweep.csv)"
expect 1 'all runs failed' "$LINKWORK" sweep four_bar --end 0.05 --grid l1=8:9:2 --out none

# A kill at any moment: the same command goes on, and leaves the same bytes.
long=("$LINKWORK" sweep four_bar --end 1 --sample 'torque=uniform(0,6)' --runs 60 --sampling latin --seed 7 --measure 'final(q.theta)'
      --keep v.theta --threads 2 --quiet)
"${long[@]}" --out undisturbed
for rows in 3 20; do
  "${long[@]}" --out killed &
  process=$!
  for ((i = 0; i < 600; ++i)); do
    (($(wc -l 2>/dev/null <killed/sweep.csv || echo 0) <= rows)) || break
    kill -0 "$process" 2>/dev/null || break
    sleep 0.05
  done
  kill -9 "$process" 2>/dev/null || true
  wait "$process" 2>/dev/null || true
done
run "${long[@]}" --out killed
((code == 0)) || fail "$(cat stderr)"
for file in sweep.csv sweep.json kept.csv sweep.html; do
  cmp "undisturbed/$file" "killed/$file" || fail "$file differs after a kill"
done

# Bad input.
bad() { expect 2 "$1" "$LINKWORK" sweep four_bar --out bad "${@:2}"; }
bad 'there is nothing to vary'
bad "unknown parameter 'torqe'; did you mean 'torque'?" --grid torqe=0:1:2
bad "the count is '0'" --grid torque=0:1:0
bad "FROM is 'nan'" --grid torque=nan:1:2
bad "TO is 'inf'" --grid torque=0:inf:2
bad 'these are 1e+09 runs; expected at most 10000000' --grid torque=0:1:1000000000
bad 'at most 10000000' --sample 'torque=normal(0,1)' --runs 1000000000
bad "the value is '0'; expected 1 or more" --sample 'torque=normal(0,1)' --runs 0
bad "the value is '-1'" --sample 'torque=normal(0,1)' --runs -1
bad "the value is '1.5'" --sample 'torque=normal(0,1)' --runs 2 --seed 1.5
bad 'it is not said how many samples' --sample 'torque=normal(0,1)'
bad "unknown distribution 'gauss'" --sample 'torque=gauss(0,1)' --runs 2
bad "did you mean 'sobol'?" --sample 'torque=normal(0,1)' --runs 2 --sampling sobel
bad "unknown column 'q.thet'; did you mean 'q.theta'?" --grid torque=0:1:2 --measure 'max(q.thet)'
bad 'is not closed' --grid torque=0:1:2 --measure 'max(q.theta'
bad 'does not say which of all rows counts' --grid torque=0:1:2 --measure q.theta
bad "no column fits 'q.thet'; did you mean 'q.theta'?" --grid torque=0:1:2 --keep q.thet
bad 'given by --set, too' --grid torque=0:1:2 --set torque=3
bad "the value is '0'" --grid torque=0:1:2 --threads 0
[[ ! -e bad ]] || fail 'refused, and left something'
