#!/usr/bin/env node
// Starts the binary of this machine, which one of the optional dependencies carries, as if it had been started itself.
"use strict";

const { spawn } = require("node:child_process");

const carrier = `dormouse-cli-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${carrier}/dormouse`);
} catch {
  console.error(`error: there is no dormouse for ${process.platform} on ${process.arch}, or ${carrier} was not installed`);
  console.error("  help: install without --omit=optional, or build it from source with Cargo");
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// What asks this process to stop asks the binary, which finishes what is under way.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`error: ${binary} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal) {
    for (const one of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(one);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
