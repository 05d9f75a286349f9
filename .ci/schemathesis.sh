#!/usr/bin/env bash
# Installs schemathesis, which asks a server whatever its OpenAPI document allows, into .venv/schemathesis: what it needs
# does not go with what deploys. Does nothing when the pinned versions are there already.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
pins="$root/.ci/schemathesis.txt"
venv="$root/.venv/schemathesis"

if cmp --silent "$pins" "$venv/installed.txt"; then
  exit 0
fi
if ! python3 -m venv "$venv"; then
  echo "schemathesis needs Python 3 with its venv module (Debian: apt-get install python3-venv)" >&2
  exit 1
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$pins"
cp "$pins" "$venv/installed.txt"
