/**
 * Bundles the simulation with the code that ships, from its sources: modules that touch the outside are replaced, and constants
 * that would take a million rows to be reached are drawn by each seed. With a planted bug, the text of one module is changed.
 */

import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ALIASES = {
  '@temporalio/workflow': 'workflow',
  '@temporalio/activity': 'activity',
  'node:timers/promises': 'timers-promises',
  'node:fs/promises': 'fs-promises',
  'node:crypto': 'crypto',
  undici: 'undici',
};

/** Constants of the product, by their files; in a simulation each is what the seed has drawn. */
const SIZES = {
  'src/reading/read-chunks.ts': { FIRST_PAGE_ROWS: 'firstPageRows', FIRST_CHUNK_ROWS: 'firstChunkRows' },
  'src/reading/page-size.ts': { PAGE_ROWS: 'pageRows' },
  'src/reading/chunk-builder.ts': { CHUNK_ROWS: 'chunkRows' },
  'src/delivery/chunk-slots.ts': { CHUNKS_AT_ONCE: 'chunksAtOnce' },
  'src/delivery/run/partitions-of.ts': { ROWS_PER_PARTITION: 'partitionRows' },
  'src/delivery/small-tenants/small-tenants.ts': { ROWS_OF_SMALL_TENANT: 'smallTenantRows' },
};

/**
 * @param file where the bundle is written
 * @param plant texts to replace, `[file, from, to]`; each must be in its file exactly once
 */
export async function bundleSimulation(file, plant = []) {
  const bundle = await rolldown({
    input: join(ROOT, 'test/simulation/main.ts'),
    platform: 'node',
    logLevel: 'silent',
    plugins: [{ name: 'simulation', resolveId, transform: (code, id) => transformed(code, id, plant) }],
  });
  await bundle.write({ file, format: 'esm', codeSplitting: false, sourcemap: true });
  await bundle.close();
}

function resolveId(source, importer) {
  const isAlias = importer?.includes('/test/simulation/alias/') === true;
  if (source in ALIASES && !isAlias) return join(ROOT, 'test/simulation/alias', `${ALIASES[source]}.ts`);
  if (!source.startsWith('.')) return importer === undefined ? null : { id: source, external: true };
  return resolve(dirname(importer), source.replace(/\.js$/, '.ts'));
}

function transformed(code, id, plant) {
  const name = id.slice(ROOT.length);
  let text = code;
  for (const [constant, size] of Object.entries(SIZES[name] ?? {})) {
    const used = text.replace(
      new RegExp(`(?<!const |import \\{[^}]*)\\b${constant}\\b`, 'g'),
      `globalThis.partnerSyncSizes.${size}`,
    );
    if (used === text) throw new Error(`${name} does not use ${constant}`);
    text = used;
  }
  for (const [file, from, to] of plant) {
    if (file !== name) continue;
    if (text.split(from).length !== 2) throw new Error(`${name} does not contain exactly once: ${from}`);
    text = text.replace(from, () => to);
  }
  // Files beside the code are found where the build has put them.
  return text.replaceAll(
    'import.meta.url',
    JSON.stringify(pathToFileURL(join(ROOT, 'dist', name.replace(/\.ts$/, '.js'))).href),
  );
}
