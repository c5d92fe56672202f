/** Demonstrates that a setting changes what a caller sees: a sandbox with the setting, and its answers. */
import type { GivenSettings } from '../../../src/sandbox/settings.js';
import type { Sandbox } from '../../../src/sandbox/server.js';
import type { Caller, TestDatabase } from '../running-sandbox.js';

/** Starts a sandbox with these settings, which ends with the test. Those before it in the same test are closed. */
export type Open = (settings: GivenSettings) => Promise<Sandbox & Caller>;

export type Demonstrations = Readonly<Record<string, (open: Open, database: TestDatabase) => Promise<void>>>;

/** The tenant whose segments and automations the fixture of the test has; `north` has nothing. */
export const SHOP = { tenant: 'shop' };
