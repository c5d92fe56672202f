/** A real browser for tests of pages that people look at. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page, type PageScreenshotOptions } from 'playwright-core';
import { ROOT } from './docs/pages.js';

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

/** Whether the tests retake the pictures of the documentation. */
export const RECORDS = process.env['RECORD_SCREENSHOTS'] === '1';

/** If they do, takes the picture `docs/images/<name>.png` of what the page shows. */
export async function takePicture(
  page: Page,
  name: string,
  options: Pick<PageScreenshotOptions, 'clip' | 'fullPage'> = { fullPage: true },
): Promise<void> {
  if (!RECORDS) return;
  await page.screenshot({ path: join(ROOT, 'docs/images', `${name}.png`), animations: 'disabled', ...options });
}
