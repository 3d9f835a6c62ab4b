#!/usr/bin/env bash
# Runs one fuzz target on its seeds and the ready models: run.sh SOURCE_DIR TREE NAME [SECONDS].
# Inputs worth keeping are added to TREE/corpus/NAME; an input that fails is left in TREE/failures/NAME.
set -euo pipefail
source_dir=$1 tree=$2 name=$3 seconds=${4:-60}

corpus=("$tree/corpus/$name")
failures=$tree/failures/$name
mkdir -p "${corpus[0]}" "$failures"
for seeds in "$source_dir/tests/fuzz/corpus/$name" "$source_dir/models"; do
  if [[ -d $seeds ]]; then corpus+=("$seeds"); fi
done

"$tree/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
  -artifact_prefix="$failures/" "${corpus[@]}"
