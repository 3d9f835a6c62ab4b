#!/usr/bin/env bash
# Streams that are closed or full, files of hostile kinds, texts that command terminals: a message, an exit code, never an abort.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

# code CODE COMMAND...: the exit code, whatever happens to the streams.
code() {
  local expected=$1 code=0
  shift
  timeout 60 "$@" || code=$?
  ((code == expected)) || fail "exit $code instead of $expected: $*"
}

# stderr closed, full, or a pipe that nobody reads.
code 2 bash -c '"$LINKWORK" run nosuch 2>&-'
code 2 bash -c '"$LINKWORK" run nosuch 2>/dev/full'
code 0 bash -c '"$LINKWORK" run four_bar --end 1 --no-report --out closed >&- 2>&- || exit $(($? == 1 ? 0 : 9))'
[[ -s closed/summary.json ]] || fail 'no summary without a stderr'
if grep -q 'four-bar' closed/trajectory.csv; then fail 'messages in a result file'; fi
mkfifo unread
code 0 bash -c 'exec 3<>unread; exec 2>unread; exec 3>&-; "$LINKWORK" run four_bar --end 150 --no-report --quiet --out pipe'
"$LINKWORK" run four_bar --end 150 --no-report --out full >/dev/null 2>/dev/full || fail 'a full stderr stops a run'
grep -q '"status": "done"' full/summary.json || fail 'a full stderr stops a run early'

# stdout that does not take what is printed.
for command in 'check four_bar' 'list models' 'schema' '--help' 'run --help' '--version'; do
  code 1 bash -c "\"\$LINKWORK\" $command >/dev/full 2>stderr"
  grep -q 'not all could be printed: No space left on device' stderr || fail "no reason: $(cat stderr)"
  code 1 bash -c "\"\$LINKWORK\" $command >&- 2>/dev/null"
done
"$LINKWORK" list models 2>stderr | head -n 1 >/dev/null || true
[[ ! -s stderr ]] || fail "complains of a reader that has enough: $(cat stderr)"

# A limit on the size of files: SIGXFSZ is an error like a full disk.
code 1 bash -c 'ulimit -f 8; "$LINKWORK" run four_bar --end 5 --no-report --quiet --out limited 2>stderr'
grep -q 'trajectory.csv: File too large' stderr || fail "no reason: $(cat stderr)"

# Files that never come or never end.
mkfifo pipe.toml
expect 2 'pipe.toml: is a pipe' timeout 20 "$LINKWORK" run pipe.toml
expect 2 'pipe.toml: is a pipe' timeout 20 "$LINKWORK" check pipe.toml
expect 2 '/dev/zero: is a device' timeout 20 "$LINKWORK" run /dev/zero
expect 2 'pipe.toml: is a pipe' timeout 20 "$LINKWORK" resume pipe.toml
expect 2 '/dev/zero: is a device' timeout 20 "$LINKWORK" resume /dev/zero
mkdir folder
expect 2 'folder: is a directory' "$LINKWORK" resume folder
mkdir run && mkfifo run/scene.json
if ! "$LINKWORK" report run 2>&1 | grep -qF 'built without the report page'; then
  expect 2 'run/scene.json: is a pipe' timeout 20 "$LINKWORK" report run
  rm run/scene.json && python3 -c 'print("[" * 200000 + "]" * 200000)' >run/scene.json
  expect 2 'scene.json: cannot be used: it is nested too deeply' timeout 20 "$LINKWORK" report run
fi

# Names that command the terminal, in messages and in what is printed.
printf 'linkwork = 1\n[[body]]\nname = "b\\u001b[2J\\u0000\\n"\nmass = -1\n' >bad.toml
expect 2 "bad.toml:3:8: 'b\x1b[2J\x00\n' cannot be a name" "$LINKWORK" run bad.toml
expect 2 "'\\x1b]0;title\\x07'" "$LINKWORK" run $'\x1b]0;title\x07'
cp "$SOURCE_DIR/models/four_bar.toml" $'escape\x1b[2J.toml'
expect 0 'four-bar (escape\x1b[2J.toml)' "$LINKWORK" check $'escape\x1b[2J.toml'
expect 0 'out\x1b[2J/trajectory.csv' "$LINKWORK" run four_bar --end 0.1 --no-report --out $'out\x1b[2J'
if grep -q $'\x1b' stdout stderr; then fail 'an escape sequence is printed'; fi

# Options that would take forever.
expect 2 'are more than 1e+09 checkpoints' "$LINKWORK" run four_bar --checkpoint a.ckpt --checkpoint-every 1e-300
expect 2 'are more than 1e+09 checkpoints' "$LINKWORK" run four_bar --checkpoint a.ckpt --checkpoint-every 1e-12
expect 2 '--realtime: 10 s would take 1e+301 s' "$LINKWORK" run four_bar --realtime 1e-300
touch occupied
expect 2 'occupied: cannot be made: ' "$LINKWORK" study gluing --quick --out occupied

# More threads than modules are no use, and no harm.
expect 0 'on 2 threads' timeout 60 "$LINKWORK" run four_bar_modules --end 0.1 --threads 64 --no-report
