#!/usr/bin/env bash
# Builds the shipped binary for one target and packs it for every way to install it without Rust: an archive with its
# checksum, a Python wheel, and two npm packages.
#
#   bash infra/release/build.sh [TARGET] [FOLDER]     # this machine's target and target/packages, if not named
#
# Static binaries for Linux come from the targets *-unknown-linux-musl, with `musl-tools` of Debian; for macOS the script
# runs on a Mac.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
folder=${2:-target/packages}

cargo build --profile dist --locked --package dormouse --features aws --target "$target"
built=${CARGO_TARGET_DIR:-target}/$target/dist/dormouse

python3 infra/release/package.py --binary "$built" --target "$target" --folder "$folder"
