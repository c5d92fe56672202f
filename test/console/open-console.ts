/** A console for a test's shop, and a browser that tolerates nothing wrong on its pages. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { composeView } from '../../src/composition/compose.js';
import { openJobs } from '../../src/console/actions/jobs.js';
import type { ConsoleSettings } from '../../src/console/console-settings.js';
import { serveConsole, type Console } from '../../src/console/server.js';
import { CLI } from '../pipeline/worker-process.js';
import type { Shop } from '../pipeline/shop.js';
import { SETTINGS } from './settings.js';

/** Actions run the built command line. */
export async function openConsole(
  { parts, env }: Pick<Shop, 'parts' | 'env'>,
  settings: Partial<ConsoleSettings> = {},
): Promise<Console> {
  const views = composeView(env);
  const console = await serveConsole(
    { ...SETTINGS, ...settings },
    {
      views,
      actions: {
        jobs: openJobs([process.execPath, CLI], { PATH: process.env['PATH'], ...env }),
        audit: async (entry) => (await parts.ledger()).audit.add(entry),
        operator: 'ana@ops',
      },
    },
  );
  return {
    url: console.url,
    close: async () => {
      await console.close();
      await views.close();
    },
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How somebody looks at the console. */
export interface Look {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
}

/** A page that notes each error of a script, each violation of the content security policy, and each request elsewhere. */
export async function strictPage(
  browser: Browser,
  url: string,
  { colorScheme = 'light', width = 1280 }: Look = {},
): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, timezoneId: 'UTC' });
  page.setDefaultTimeout(60_000);
  const wrong: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) wrong.push(`a request to ${request.url()}`);
  });
  return { page, wrong };
}

/** Lets axe-core look at the page as it is; the test fails with what keeps people from using it. */
export async function expectAccessible(page: Page): Promise<void> {
  // Runs in the browser's own console, which the page's policy does not restrict.
  const violations = await page.evaluate(
    `${AXE}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((n) => n.html).join(' ')))`,
  );
  expect(violations, page.url()).toEqual([]);
}

/** Whether the page fits its window, so that nobody has to scroll sideways. */
export const fits = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
