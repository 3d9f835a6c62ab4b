#!/usr/bin/env bash
# Modules on other hosts: 'linkwork serve', certificates, lost hosts, examples, network namespaces.
set -euo pipefail
if [[ ! -e $(dirname "$LINKWORK")/liblinkwork_network.so ]]; then
  echo "skipped: built without liblinkwork_network.so"
  exit 0
fi
python=python3
if /usr/bin/python3 -c 'import grpc' 2>/dev/null; then python=/usr/bin/python3; fi  # where Debian's packages are
exec "$python" "$SOURCE_DIR/tests/cli/network.py"
