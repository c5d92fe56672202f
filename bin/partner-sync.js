#!/usr/bin/env -S node --max-semi-space-size=16
/** The command `partner-sync`: hands over to the built program. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/src/cli/main.js', import.meta.url);

if (existsSync(main)) {
  await import(main.href);
} else {
  console.error('partner-sync is not built yet: run `npm run build` first.');
  process.exitCode = 1;
}
