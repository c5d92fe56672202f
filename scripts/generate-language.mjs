/**
 * Generates what derives from the declarations of the mapping language (`npm run generate`): the JSON Schema of mapping
 * files and the table of transforms in docs/mapping.md. Tests fail if they differ from the code.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const SCHEMA = 'mappings/mapping.schema.json';
const PAGE = 'docs/mapping.md';
const TABLE = /^\| Transform +\|.*\n(?:\|.*\n)+/m;

process.chdir(new URL('..', import.meta.url).pathname);
const built = spawnSync(process.execPath, ['scripts/build.mjs', '--prepare'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { mappingSchema } = await import('../dist/src/mapping/language/mapping-schema.js');
const { transformTable } = await import('../dist/src/mapping/transforms/describe-transforms.js');

await write(SCHEMA, JSON.stringify(mappingSchema(), null, 2));
await write(
  PAGE,
  readFileSync(PAGE, 'utf8').replace(TABLE, () => `${transformTable()}\n`),
);

/** Writes a file as prettier formats it. */
async function write(path, text) {
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
