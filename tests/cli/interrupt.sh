#!/usr/bin/env bash
# Runs that are interrupted: see interrupt.py.
set -euo pipefail
exec python3 "$SOURCE_DIR/tests/cli/interrupt.py"
