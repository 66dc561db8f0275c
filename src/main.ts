#!/usr/bin/env node
import { runCli } from './cli/run.js';
import { buildApp } from './wiring.js';
import { version } from './version.js';

// docs/compatibility.md says which Node is supported until when; the SDK would say it at each command.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

// Whoever reads the result may stop in the middle, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

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
