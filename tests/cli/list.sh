#!/usr/bin/env bash
# Everything that can be chosen is listed, and everything listed can be chosen.
set -euo pipefail
source "$SOURCE_DIR/tests/cli/expect.bash"

expect 0 'Schur complement' "$LINKWORK" list formulations
has '[Khan2006]'
expect 0 'baumgarte:alpha=10' "$LINKWORK" list stabilizations
expect 0 '[Dormand1980]' "$LINKWORK" list integrators
expect 0 'TA' "$LINKWORK" list coordinates
expect 0 'none' "$LINKWORK" list glues
has '[Khan2006]'
expect 0 'coordinates angle z; 4 rows as a closure' "$LINKWORK" list joints
expect 0 'point-on-plane' "$LINKWORK" list closures
for kind in closure force sensor; do
  mapfile -t types < <("$LINKWORK" schema | python3 -c '
import json, sys
for variant in json.load(sys.stdin)["$defs"][sys.argv[1]]["properties"]["type"]["enum"]: print(variant)' "$kind")
  ((${#types[@]} > 3)) || fail "$kind types in the schema: ${types[*]}"
  expect 0 "${types[0]} " "$LINKWORK" list "${kind}s"
  for type in "${types[@]}"; do has "$type "; done
done
expect 0 'generalized-inverse' "$LINKWORK" list studies

expect 0 'Planar four-bar linkage driven by a constant torque on the crank.' "$LINKWORK" list models
for model in "$SOURCE_DIR"/models/*.toml; do has "$(basename "$model" .toml) "; done

for axis in formulation stabilization integrator coordinates glue; do
  plural=${axis%s}s
  mapfile -t names < <("$LINKWORK" list "$plural" | grep -v '^ ' | cut -d' ' -f1)
  ((${#names[@]} > 0)) || fail "no $plural"
  for name in "${names[@]}"; do
    # Formulations of differential-algebraic equations want an integrator of them.
    case $name in
      index1) with=(--integrator ida) ;;
      index3 | ggl) with=(--integrator generalized-alpha) ;;
      *) with=() ;;
    esac
    # Glues want modules.
    model=$([[ $axis == glue ]] && echo gear_train_modules || echo four_bar)
    "$LINKWORK" run "$model" --end 0.01 --quiet "--$axis" "$name" "${with[@]}" || fail "--$axis $name is listed but does not run"
  done
done

# References are in the bibliography.
for what in formulations stabilizations integrators coordinates glues studies; do
  for key in $("$LINKWORK" list "$what" | grep -oE '\[[A-Z][A-Za-z]+[0-9]{4}\]' | tr -d '[]' | sort -u); do
    grep -qF "{$key," "$SOURCE_DIR/docs/references.bib" || fail "no $key in docs/references.bib"
  done
done
