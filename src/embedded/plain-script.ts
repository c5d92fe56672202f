/**
 * Loads scripts/stack, plain Node scripts that run both before anything is built (scripts/bootstrap.mjs) and as part of
 * the package.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../config/package-root.js';

/** The path of a script of that folder. */
export const plainScript = (name: string): string => join(packageRoot(), 'scripts', 'stack', name);

/** The script's exports; the caller declares their types. */
export const loadPlainScript = async <Exports>(name: string): Promise<Exports> =>
  (await import(/* @vite-ignore */ pathToFileURL(plainScript(name)).href)) as Exports;
