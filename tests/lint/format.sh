#!/usr/bin/env bash
# Checks that every C++ file is formatted by .clang-format; with --fix, formats them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h')
else
  mapfile -t files < <(find linkwork studies apps tests bench -name '*.cpp' -o -name '*.h')
fi
existing=()
for file in "${files[@]}"; do
  if [[ -f $file ]]; then existing+=("$file"); fi
done
if ((${#existing[@]} == 0)); then exit 0; fi

if [[ ${1:-} == --fix ]]; then
  clang-format -i "${existing[@]}"
else
  clang-format --dry-run -Werror "${existing[@]}"
fi
