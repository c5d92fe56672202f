/** A real browser for tests of pages that people look at. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless Chromium that asks no server on its own. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`no ${executablePath}: run "npm test", which gets one, or set CHROMIUM_PATH`);
  return chromium.launch({ executablePath, args: QUIET });
}
