#!/usr/bin/env bash
# Installs what judges and deploys template.yaml into .venv, beside the emulator: SAM, cfn-lint, a validator of
# Kubernetes manifests; and the CDK into infra/node_modules. Does nothing when the pinned versions are there already.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
bash "$root/.ci/ministack.sh"

pins="$root/.ci/deploy.txt"
if ! cmp --silent "$pins" "$root/.venv/deploy.txt"; then
  "$root/.venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$pins"
  cp "$pins" "$root/.venv/deploy.txt"
fi

if ! command -v npm >/dev/null; then
  echo "infra/ needs Node.js and npm (Debian: apt-get install nodejs npm)" >&2
  exit 1
fi
cd "$root/infra"
if ! cmp --silent package-lock.json node_modules/installed.json; then
  npm ci --silent --no-audit --no-fund
  cp package-lock.json node_modules/installed.json
fi
