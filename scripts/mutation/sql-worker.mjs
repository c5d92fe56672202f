/**
 * Tries mutants of SQL, one after the other: reads each as a line of JSON, `{ file, start, end, replacement }`, and answers with
 * `{ killedBy }`, the test file that fails, or null. `{}` tries the code as it is. Everything is loaded, and the servers are started, once.
 */
import { relative } from 'node:path';
import { createInterface } from 'node:readline';
import { createVitest } from 'vitest/node';

const ROOT = process.cwd();
let mutant = {};

const vitest = await createVitest(
  'test',
  { config: 'scripts/mutation/ledger.vitest.config.ts', root: ROOT, watch: false, reporters: [{}] },
  { plugins: [{ name: 'mutant', enforce: 'pre', transform: mutated }] },
);
await vitest.standalone();
// The servers are ended with it, even if the tests of a mutant come to no end.
process.once('SIGTERM', () => {
  setTimeout(() => process.exit(1), 15_000);
  void vitest.close().finally(() => process.exit(1));
});
const specifications = await vitest.globTestSpecifications();
/** How many mutants each test file has killed: of all files, and of each. */
const kills = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  mutant = JSON.parse(line);
  if (mutant.file !== undefined) vitest.invalidateFile(mutant.file);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(inOrder(mutant.file));
  const failed = testModules.find((module) => !module.ok());
  const killedBy = failed?.moduleId ?? (unhandledErrors.length > 0 ? 'an error in no test' : null);
  if (killedBy !== null) for (const of of ['', mutant.file ?? '']) count(of, killedBy);
  if (mutant.file !== undefined) vitest.invalidateFile(mutant.file);
  process.stdout.write(`${JSON.stringify({ killedBy: killedBy === null ? null : relative(ROOT, killedBy) })}\n`);
}
await vitest.close();
process.exit(0);

function mutated(code, id) {
  if (id.split('?')[0] !== mutant.file) return null;
  return { code: code.slice(0, mutant.start) + mutant.replacement + code.slice(mutant.end), map: null };
}

/** The test files, first those that have killed mutants of this file. */
function inOrder(file) {
  const killsOf = ({ moduleId }) => 1000 * (kills.get(file)?.get(moduleId) ?? 0) + (kills.get('')?.get(moduleId) ?? 0);
  return specifications.toSorted((a, b) => killsOf(b) - killsOf(a));
}

function count(of, test) {
  if (!kills.has(of)) kills.set(of, new Map());
  kills.get(of).set(test, (kills.get(of).get(test) ?? 0) + 1);
}
