#!/usr/bin/env bash
# Repeatability, silence, pipes and terminals.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

# Same input, same bits.
for model in four_bar bricard stewart; do
  for integrator in rk4 dopri45; do
    for out in first second; do "$LINKWORK" run "$model" --end 0.1 --integrator "$integrator" --quiet --out "$out"; done
    cmp first/trajectory.csv second/trajectory.csv || fail "$model with $integrator differs from run to run"
  done
done

# --quiet prints nothing.
run "$LINKWORK" run four_bar --end 0.1 --quiet
((code == 0)) || fail "exit $code"
[[ ! -s stdout && ! -s stderr ]] || fail '--quiet is not silent'

# In a pipe there is neither a carriage return nor an escape sequence, not even of a run with a warning.
cat >limited.toml <<'END'
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
END
run "$LINKWORK" run limited.toml --end 0.5
((code == 0)) || fail "exit $code"
has "joint 'j' left its limits"
if cat stdout stderr | grep -q $'[\r\x1b]'; then fail 'control characters in a pipe'; fi

# A terminal gets a colored warning, unless NO_COLOR is set.
python3 - <<'END'
import os, pty

def shown(no_color):
    os.environ.update(TERM="xterm", NO_COLOR=no_color)
    parts = []

    def read(terminal):
        parts.append(os.read(terminal, 4096))
        return parts[-1]

    status = pty.spawn([os.environ["LINKWORK"], "run", "limited.toml", "--end", "0.5"], read)
    assert os.waitstatus_to_exitcode(status) == 0
    return b"".join(parts)

assert b"\x1b[33m" in shown("")
assert b"\x1b[33m" not in shown("1")
END
