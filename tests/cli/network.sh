#!/usr/bin/env bash
# Modules on other hosts: 'linkwork serve', certificates, lost hosts, examples, network namespaces.
set -euo pipefail
if [[ ! -e $(dirname "$LINKWORK")/liblinkwork_network.so ]]; then
  echo "skipped: built without liblinkwork_network.so"
  exit 0
fi
exec python3 "$SOURCE_DIR/tests/cli/network.py"
