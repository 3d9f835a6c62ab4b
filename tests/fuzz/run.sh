#!/usr/bin/env bash
# Runs one fuzz target on its seeds: run.sh SOURCE_DIR TREE NAME [SECONDS [INPUTS]]. 0 seconds: until it has had the inputs.
# Inputs worth keeping are added to TREE/corpus/NAME; an input that fails is left in TREE/failures/NAME.
set -euo pipefail
source_dir=$1 tree=$2 name=$3 seconds=${4:-60} inputs=${5:--1}

corpus=("$tree/corpus/$name")
failures=$tree/failures/$name
mkdir -p "${corpus[0]}" "$failures"
seeds=$source_dir/tests/fuzz/corpus/$name
if [[ -d $seeds ]]; then corpus+=("$seeds"); fi
if [[ $name == model_reader ]]; then corpus+=("$source_dir/models"); fi

"$tree/fuzz_$name" -max_total_time="$seconds" -runs="$inputs" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
  -artifact_prefix="$failures/" "${corpus[@]}"
