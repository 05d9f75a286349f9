#!/usr/bin/env bash
# The engine is a pure function: nothing it is built of may read a clock, draw random numbers, wait, or talk to anybody.
# jiff reads time zones only, from a database that is compiled in. QuickJS and Liquid (with `time`, for its date filter)
# come with the expressions, which put the instance's own time and numbers in place of their clock and randomness.
set -euo pipefail
cd "$(dirname "$0")/.."

forbidden='tokio|async-std|smol|mio|hyper|h2|reqwest|ureq|aws-.*|getrandom|rand|rand_core|fastrand|uuid|chrono|socket2|rusqlite|libsqlite3-sys'
tree=$(cargo tree --package dormouse-engine --edges normal --prefix none --locked | awk '{print $1}' | sort -u)
found=$(grep -Ex "$forbidden" <<<"$tree" || true)
if [ -n "$found" ]; then
  echo "the engine must not depend on:" $found
  for crate in $found; do
    cargo tree --package dormouse-engine --edges normal --locked --invert "$crate" --depth 3
  done
  exit 1
fi
echo "the engine depends on $(wc -l <<<"$tree") crates, none of them forbidden"
