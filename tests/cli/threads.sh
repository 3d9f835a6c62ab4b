#!/usr/bin/env bash
# Modules on threads from the command line, with every glue: short, so that it can run under the thread sanitizer.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

for glue in hierarchical compliance projection gluing waveform; do
  for threads in 1 2; do
    "$LINKWORK" run gear_train_modules --end 0.02 --glue "$glue" --threads "$threads" --quiet --no-report --out "$glue$threads" \
      --checkpoint "$glue$threads.ckpt" --checkpoint-every 0.005
  done
  cmp "${glue}1/trajectory.csv" "${glue}2/trajectory.csv" || fail "$glue differs on two threads"
done
