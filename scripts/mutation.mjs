/**
 * `npm run mutation -- [--only TEXT] [--minutes M]`: changes the code in one place at a time and sees whether a test fails.
 * Writes docs/reliability/mutation.json and the page beside it; exits with 1 if a file stays below its aim, or could not be tried.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readRecord, withResult, writeRecord } from './mutation/record.mjs';
import { TARGETS } from './mutation/targets.mjs';
import { tryFiles } from './mutation/try-files.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const USAGE = `npm run mutation -- [--only TEXT] [--minutes M]

  --only TEXT  only files whose paths contain this (they are listed in scripts/mutation/targets.mjs)
  --minutes M  end after so many minutes; files that are not done by then keep their former results`;

const { only, minutes } = options();
const chosen = TARGETS.map((target) => ({
  ...target,
  files: target.files.filter((file) => file.includes(only)),
})).filter(({ files }) => files.length > 0);
if (chosen.length === 0) fail(`--only ${only}: no file of scripts/mutation/targets.mjs contains this`);
const time = minutes === undefined ? undefined : AbortSignal.timeout(minutes * 60_000);
for (const target of chosen) {
  if (time?.aborted) break;
  const results = await tryFiles(ROOT, target, time);
  if (time?.aborted) break;
  if (results === null) {
    console.log(`could not be tried: ${target.files.join(', ')}`);
    process.exitCode = 1;
  }
  for (const { file, ...result } of results ?? []) {
    const when = { date: new Date().toISOString().slice(0, 10), commit: git('log', '-1', '--format=%h') };
    writeRecord(ROOT, withResult(readRecord(ROOT), file, result, when));
    const killed = result.mutants - result.survivors.length;
    console.log(`${file}: ${killed} of ${result.mutants} mutants killed, ${target.aim} % is the aim`);
    if (killed * 100 < result.mutants * target.aim) process.exitCode = 1;
  }
}
if (time?.aborted) console.log('The time is over: what was not done keeps its former result.');

function options() {
  try {
    const text = { type: 'string' };
    const { values } = parseArgs({ options: { only: text, minutes: text, help: { type: 'boolean', default: false } } });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    const limit = values.minutes === undefined ? undefined : Number(values.minutes);
    if (limit !== undefined && !(limit > 0)) fail(`--minutes must be a number above 0, got ${values.minutes}`);
    return { only: values.only ?? '', minutes: limit };
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
