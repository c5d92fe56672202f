/**
 * Tries mutants of SQL, one after the other: reads each as a line of JSON, `{ file, start, end, replacement, sent }`, and answers with
 * `{ killedBy }`, the test file that fails, or null. Only test files that send a statement with the changed SQL are run. `{}` tries the
 * code as it is: some worker has to do it first, since it tells which they are. Everything is loaded, and the servers are started, once.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { createVitest } from 'vitest/node';

const ROOT = process.cwd();
const NOTES = process.env.MUTATION_NOTES;
let mutant = {};
/** Test files, each with the statements that it sends and the milliseconds that it takes; null before they are needed. */
let notes = null;

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
  const reached = mutant.file === undefined ? specifications : specifications.filter(reaches);
  if (reached.length === 0) {
    answer(null);
    continue;
  }
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(inOrder(reached, mutant.file));
  const failed = testModules.find((module) => !module.ok());
  const killedBy = failed?.moduleId ?? (unhandledErrors.length > 0 ? 'an error in no test' : null);
  if (killedBy !== null) for (const of of ['', mutant.file ?? '']) count(of, killedBy);
  if (mutant.file !== undefined) vitest.invalidateFile(mutant.file);
  answer(killedBy);
}
await vitest.close();
process.exit(0);

function answer(killedBy) {
  process.stdout.write(`${JSON.stringify({ killedBy: killedBy === null ? null : relative(ROOT, killedBy) })}\n`);
}

/** Whether a test file sends a statement with the SQL of the mutant. */
function reaches({ moduleId }) {
  notes ??= new Map(
    readdirSync(NOTES)
      .map((name) => JSON.parse(readFileSync(join(NOTES, name), 'utf8')))
      .map(({ file, ...note }) => [file, note]),
  );
  const sent = new RegExp(mutant.sent);
  return notes.get(moduleId)?.statements.some((statement) => sent.test(statement)) === true;
}

function mutated(code, id) {
  if (id.split('?')[0] !== mutant.file) return null;
  return { code: code.slice(0, mutant.start) + mutant.replacement + code.slice(mutant.end), map: null };
}

/** First the test files that are likely to kill, for the time that they take: those that have killed others, of this file above all. */
function inOrder(files, file) {
  const killsOf = (of, id) => kills.get(of)?.get(id) ?? 0;
  const worth = ({ moduleId }) =>
    (0.2 + killsOf('', moduleId) + 10 * killsOf(file, moduleId)) / (notes?.get(moduleId)?.took ?? 1);
  return files.toSorted((a, b) => worth(b) - worth(a));
}

function count(of, test) {
  if (!kills.has(of)) kills.set(of, new Map());
  kills.get(of).set(test, (kills.get(of).get(test) ?? 0) + 1);
}
