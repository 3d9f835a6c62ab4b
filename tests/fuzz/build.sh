#!/usr/bin/env bash
# Builds the fuzz targets in a tree of their own: build.sh SOURCE_DIR TREE (CXX names the clang to use).
set -euo pipefail
source_dir=$1 tree=$2

cmake -S "$source_dir" -B "$tree" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER="${CXX:-clang++}" -DLINKWORK_FUZZ=ON \
  -DLINKWORK_TESTS=OFF -DLINKWORK_UNITY=ON
cmake --build "$tree" --parallel "$(nproc)"
