#!/usr/bin/env bash
# symbols.sh OBJECT...: what is compiled for other processors than the rest keeps its inline functions and templates to itself. Else
# the linker could take them for the whole program, which would stop on processors without those instructions.
set -euo pipefail

seen=0
for object in "$@"; do
  [[ $object == */four_lanes.cpp.o || $object == */eight_lanes.cpp.o ]] || continue
  seen=$((seen + 1))
  # Shared are functions of lanes, the two entries, and data without code: the reference to the personality of exceptions, and empty
  # objects of the standard library (C).
  shared=$(nm -C --defined-only "$object" | cut -c18- | grep -E '^[A-Zu] ' |
    grep -vE '^(C std::|V DW\.ref\.|[RDT] linkwork::k(Four|Eight)Lanes$|T linkwork::LaneEquations<[48]>::)' || true)
  if [[ $shared ]]; then
    printf '%s shares with the rest of the program:\n%s\n' "$object" "$shared" >&2
    exit 1
  fi
  nm "$object" | grep 'k\(Four\|Eight\)Lanes' >/dev/null || { echo "$object has no entry" >&2; exit 1; }
done
((seen == 2)) || { echo "expected two objects of lanes, found $seen" >&2; exit 1; }
