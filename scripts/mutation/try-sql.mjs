/** Tries the mutants of SQL in some files with tests on a real PostgreSQL, in processes side by side. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sqlMutantsOf } from './sql-mutants.mjs';

/**
 * So many times as long as the tests take without a mutant they may take with one; a mutant that takes longer counts as killed, and
 * its process is ended.
 */
const LONGEST = 3;

/**
 * Yields the result of each file once all of its mutants were tried: their number, and those that survived.
 *
 * @param {string} root the checkout
 * @param {{ files: readonly string[], tests: readonly string[] }} target
 * @param {{ jobs: number, signal?: AbortSignal, log: (line: string) => void, survivorsOf?: (file: string) => readonly object[] }} how
 * `survivorsOf`: the mutants of a file that are tried, all others having been killed
 * @throws if the tests fail without a mutant
 */
export async function* trySql(root, { files, tests }, { jobs, signal, log, survivorsOf }) {
  const notes = mkdtempSync(join(tmpdir(), 'partner-sync-mutation-'));
  const testers = [];
  const open = () => {
    const tester = openTester(root, { tests, notes });
    testers.push(tester);
    return tester;
  };
  try {
    const began = performance.now();
    const failed = await open().try({}, Infinity);
    if (failed !== null) throw new Error(`the tests fail without a mutant: ${failed}`);
    const longest = Math.max(60_000, LONGEST * (performance.now() - began));
    while (testers.length < jobs) open();
    for (const file of files) {
      const mutants = sqlMutantsOf(file, readFileSync(join(root, file), 'utf8'));
      const before = survivorsOf?.(file);
      const isSame = (mutant) => (other) => mutant.code === other.code && mutant.mutant === other.mutant;
      const queue = mutants.filter((mutant) => before === undefined || before.some(isSame(mutant)));
      const survivors = [];
      await Promise.all(
        testers.map(async (tester) => {
          for (let next; (next = queue.shift()) !== undefined && !signal?.aborted;) {
            const killedBy = await tester.try({ ...next, file: join(root, file) }, longest);
            if (killedBy === null) survivors.push(next);
            log(`${file}:${next.line}: ${killedBy === null ? 'SURVIVED' : `killed by ${killedBy}`}: ${next.mutant}`);
          }
        }),
      );
      if (signal?.aborted) return;
      const told = survivors
        .toSorted((a, b) => a.start - b.start)
        .map(({ line, code, mutant }) => ({ line, code, mutant }));
      yield { file, mutants: mutants.length, survivors: told };
    }
  } finally {
    await Promise.all(testers.map((tester) => tester.close()));
    rmSync(notes, { recursive: true, force: true });
  }
}

/** A process that tries mutants. It is started again if one has ended it, or kept it for too long. */
function openTester(root, { tests, notes }) {
  let child;
  let answers;
  const start = () => {
    child = spawn(process.execPath, ['scripts/mutation/sql-worker.mjs'], {
      cwd: root,
      env: { ...process.env, MUTATION_TESTS: JSON.stringify(tests), MUTATION_NOTES: notes },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // A process that has died answers nothing more, which is noticed below.
    child.stdin.on('error', () => undefined);
    answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(timer);
  };
  start();
  return {
    /** Resolves to what has killed the mutant, be it that it takes longer than so many milliseconds; null if it has survived. */
    async try(mutant, longest) {
      const timer = longest === Infinity ? undefined : setTimeout(() => child.kill('SIGTERM'), longest);
      child.stdin.write(`${JSON.stringify(mutant)}\n`);
      for (;;) {
        const { value: line, done } = await answers.next();
        if (done) {
          clearTimeout(timer);
          start();
          return 'its own end, or the time';
        }
        if (!line.startsWith('{"killedBy"')) continue;
        clearTimeout(timer);
        return JSON.parse(line).killedBy;
      }
    },
    close: stop,
  };
}
