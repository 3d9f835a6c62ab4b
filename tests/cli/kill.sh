#!/usr/bin/env bash
# Runs that are killed at random moments, a rank or the only process, and resumed: see kill.py.
set -euo pipefail
exec python3 "$SOURCE_DIR/tests/cli/kill.py"
