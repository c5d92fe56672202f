/**
 * `npm run mutation -- [--only TEXT] [--survivors] [--minutes M] [--jobs J]`: changes the code in one place at a time and sees whether a test fails.
 * Writes docs/reliability/mutation.json and the page beside it; exits with 1 if a file stays below its aim, or could not be tried.
 */
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nameOf, readRecord, withResult, writeRecord } from './mutation/record.mjs';
import { TARGETS } from './mutation/targets.mjs';
import { tryFiles } from './mutation/try-files.mjs';
import { trySql } from './mutation/try-sql.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const USAGE = `npm run mutation -- [--only TEXT] [--survivors] [--minutes M] [--jobs J]

  --only TEXT  only results whose names contain this, such as a path, or "SQL of" (scripts/mutation/targets.mjs lists them)
  --survivors  of SQL, only the mutants that have survived before: after tests have come, and none has gone
  --minutes M  end after so many minutes; files that are not done by then keep their former results
  --jobs J     processes side by side that try SQL (default: as many as there are processors)`;

const { only, survivors, minutes, jobs } = options();
const chosen = TARGETS.map((target) => ({
  ...target,
  files: target.files.filter((file) => nameOf(file, target).includes(only) && isChosen(file, target)),
})).filter(({ files }) => files.length > 0);
if (chosen.length === 0)
  fail(
    `${survivors ? 'no SQL has survivors, or ' : ''}--only ${only}: no file of scripts/mutation/targets.mjs contains this`,
  );
const time = minutes === undefined ? undefined : AbortSignal.timeout(minutes * 60_000);
const how = { signal: time, jobs, log: console.log, survivorsOf: survivors ? survivorsOf : undefined };
for (const target of chosen) {
  if (time?.aborted) break;
  try {
    for await (const { file, ...result } of target.sql ? trySql(ROOT, target, how) : tryFiles(ROOT, target, time))
      keep(target, nameOf(file, target), result);
  } catch (error) {
    console.log(`could not be tried: ${target.files.join(', ')}: ${error.message}`);
    process.exitCode = 1;
  }
}
if (time?.aborted) console.log('The time is over: what was not done keeps its former result.');

function isChosen(file, target) {
  return !survivors || (target.sql === true && (readRecord(ROOT)[nameOf(file, target)]?.survivors ?? []).length > 0);
}

/** The mutants of a file's SQL that have survived. Throws if the file is another one by now: then it may have other mutants. */
function survivorsOf(file) {
  const { commit, survivors: before } = readRecord(ROOT)[nameOf(file, { sql: true })];
  try {
    git('diff', '--quiet', commit, '--', file);
  } catch {
    throw new Error(`${file} is not what it was at ${commit}: try all of its mutants, without --survivors`);
  }
  return before;
}

function keep({ aim }, name, result) {
  const when = { date: new Date().toISOString().slice(0, 10), commit: git('log', '-1', '--format=%h') };
  writeRecord(ROOT, withResult(readRecord(ROOT), name, result, when));
  const killed = result.mutants - result.survivors.length;
  console.log(`${name}: ${killed} of ${result.mutants} mutants killed, ${aim} % is the aim`);
  if (killed * 100 < result.mutants * aim) process.exitCode = 1;
}

function options() {
  try {
    const text = { type: 'string' };
    const flag = { type: 'boolean', default: false };
    const { values } = parseArgs({
      options: { only: text, survivors: flag, minutes: text, jobs: text, help: flag },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const limit = values.minutes === undefined ? undefined : Number(values.minutes);
    if (limit !== undefined && !(limit > 0)) fail(`--minutes must be a number above 0, got ${values.minutes}`);
    const jobs = Number(values.jobs ?? availableParallelism());
    if (!(Number.isInteger(jobs) && jobs > 0)) fail(`--jobs must be a whole number from 1 on, got ${values.jobs}`);
    return { only: values.only ?? '', survivors: values.survivors, minutes: limit, jobs };
  } catch (error) {
    return fail(error.message);
  }
}

function fail(message) {
  console.error(`${message}\n\n${USAGE}`);
  process.exit(2);
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}
