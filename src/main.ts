#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { runCli } from './cli/run.js';
import { buildApp } from './wiring.js';

const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

process.exitCode = await runCli(process.argv.slice(2), {
  io: { env: process.env, stdout: process.stdout, stderr: process.stderr },
  buildApp,
  version: packageJson.version,
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
