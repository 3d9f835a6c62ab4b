#!/usr/bin/env bash
# Help, version and schema.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'linkwork 0.' "$LINKWORK" --version
expect 0 'Commands:' "$LINKWORK"
expect 0 'Commands:' "$LINKWORK" --help
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' stdout)
((${#commands[@]} >= 5)) || fail "commands: ${commands[*]}"
for command in "${commands[@]}"; do
  expect 0 "Usage: linkwork $command" "$LINKWORK" "$command" --help
  has 'Example'
done

run "$LINKWORK" run --help
for option in --end --step --max-step --rtol --atol --coordinates --formulation --stabilization --integrator --glue --threads --set --out --every --quiet --checkpoint --checkpoint-every --realtime --rank-timeout; do
  has "  $option "
done
for method in schur lagrange projection baumgarte rk4 dopri45; do has "$method"; done

"$LINKWORK" schema | python3 -c '
import json, sys
schema = json.load(sys.stdin)
assert schema["title"] == "Linkwork model" and "joint" in schema["properties"]'
