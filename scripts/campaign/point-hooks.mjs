/** Node's hooks for loading modules, in a thread of their own: put the points into the text of the product's files. */
import { fileURLToPath } from 'node:url';
import { builtFileOf, POINTS, withPoints } from './points.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const files = new Map(Object.values(POINTS).map(({ file }) => [`${ROOT}${builtFileOf(file)}`, file]));

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const file = url.startsWith('file:') ? files.get(fileURLToPath(url)) : undefined;
  if (file === undefined) return loaded;
  return { ...loaded, source: withPoints(file, Buffer.from(loaded.source).toString()) };
}
