#!/usr/bin/env bash
# Installs ministack, an emulator of AWS, into .venv at the root of the repository; the tests start it from there
# on a free port of this machine. Does nothing when the pinned versions are there already.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
pins="$root/.ci/ministack.txt"
venv="$root/.venv"

if cmp --silent "$pins" "$venv/installed.txt"; then
  exit 0
fi
if ! python3 -m venv "$venv"; then
  echo "ministack needs Python 3 with its venv module (Debian: apt-get install python3-venv)" >&2
  exit 1
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$pins"
cp "$pins" "$venv/installed.txt"
