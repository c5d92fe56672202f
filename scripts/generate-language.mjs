/**
 * Generates what derives from declarations in the code (`npm run generate`): the JSON Schema of mapping files, the table
 * of transforms in docs/mapping.md and the tables of timeouts in docs/reference.md. Tests fail if they differ from the code.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';

const SCHEMA = 'mappings/mapping.schema.json';
const LANGUAGE_PAGE = 'docs/mapping.md';
const TRANSFORM_TABLE = /^\| Transform +\|.*\n(?:\|.*\n)+/m;
const REFERENCE_PAGE = 'docs/reference.md';
const TIMEOUT_TABLES = /(?<=^<!-- timeouts: .* -->\n).*(?=^<!-- end of timeouts -->$)/ms;

process.chdir(new URL('..', import.meta.url).pathname);
const built = spawnSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { mappingSchema } = await import('../dist/src/mapping/language/mapping-schema.js');
const { transformTable } = await import('../dist/src/mapping/transforms/describe-transforms.js');
const { timeoutTables } = await import('../dist/src/domain/timeouts/describe-timeouts.js');

await write(SCHEMA, JSON.stringify(mappingSchema(), null, 2));
await writePart(LANGUAGE_PAGE, TRANSFORM_TABLE, `${transformTable()}\n`);
await writePart(REFERENCE_PAGE, TIMEOUT_TABLES, `\n${timeoutTables()}\n\n`);

/** Replaces the part of a page that derives from the code. */
async function writePart(page, part, text) {
  const before = readFileSync(page, 'utf8');
  if (!part.test(before)) throw new Error(`${page} lacks the part that is written here: ${part}`);
  await write(
    page,
    before.replace(part, () => text),
  );
}

/** Writes a file as `npm run format` formats it. */
async function write(path, text) {
  writeFileSync(path, (await format(path, text, { printWidth: 120 })).code);
}
