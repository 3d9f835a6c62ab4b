#!/usr/bin/env bash
# mujoco.sh FOLDER DUMP_PROGRAM SOURCE_DIR: fetches MuJoCo into the folder if need be, then compares. 77: it cannot be had.
set -euo pipefail
folder=$1 program=$2 source_dir=$3
mkdir -p "$folder"
cd "$folder"
if [[ ! -d node_modules/@mujoco/mujoco ]]; then
  echo '{"private": true}' >package.json
  timeout 120 npm install --no-audit --no-fund --silent @mujoco/mujoco@3.14.0 >npm.log 2>&1 || {
    echo "skipped: npm could not fetch @mujoco/mujoco (see $folder/npm.log)"
    exit 77
  }
fi
exec node "$source_dir/tests/import/mujoco_test.mjs" "$program" "$source_dir"/tests/import/trees/*.xml
