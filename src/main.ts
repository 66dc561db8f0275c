#!/usr/bin/env node
import { runCli } from './cli/run.js';
import { buildApp } from './wiring.js';
import { version } from './version.js';

process.exitCode = await runCli(process.argv.slice(2), {
  io: { env: process.env, stdout: process.stdout, stderr: process.stderr },
  buildApp,
  version,
  onStopSignal: (callback) => {
    process.on('SIGTERM', callback);
    process.on('SIGINT', callback);
    return () => {
      process.off('SIGTERM', callback);
      process.off('SIGINT', callback);
    };
  },
});

// The loop ends by itself when all is closed. What keeps it open is a socket to a store that doesn't answer.
setTimeout(() => process.exit(), 2_000).unref();
