/** The project in which `dev` and `demo` run: a clone of partner-sync, or one that has it as a dependency. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';

/** Whether the current folder is partner-sync itself: there, `dev` and `demo` share the demo's shop and its sync. */
export const inClone = (): boolean => realpathSync(process.cwd()) === realpathSync(packageRoot());

/** Everything that `dev` stores in a project. */
export const devFolder = (): string => join(process.cwd(), '.partner-sync');

/** The same for `demo --live`: its PostgreSQL writes another log, and its sync has more in its files. */
export const liveDemoFolder = (): string => join(devFolder(), 'live');

/** The same for `demo`: outside a clone a stack of its own, so that the ledger of `dev` has nothing but the user's syncs. */
export const demoFolder = (): string => (inClone() ? devFolder() : join(devFolder(), 'demo'));
