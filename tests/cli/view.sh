#!/usr/bin/env bash
# The server of 'linkwork view': see view.py.
set -euo pipefail
exec python3 "$SOURCE_DIR/tests/cli/view.py"
