/**
 * The records of the simulation in docs/reliability/. simulation.json: for each commit, how many seeds in a row were run and what they
 * found. A run goes on after the last seed of its commit, and another commit after the last seed of all, so that many hours can be
 * spent in parts and no story is told twice. planted-bugs.json: for each planted bug, the first seed that finds it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** What decides about the stories of seeds, and so must be as it was committed. */
const TOLD_BY = ['src', 'activities', 'workflows', 'test/simulation', 'scripts/simulation', 'package-lock.json'];

/** @param {string} root the checkout. Throws if its code is not that of its commit. */
export function openRecord(root) {
  const commit = commitOf(root);
  const { entries, write } = entriesIn(root, 'simulation.json');
  const nothing = { seeds: 0, violations: [], events: 0, simulatedHours: 0, cpuSeconds: 0 };
  const machine = { node: process.versions.node, processors: availableParallelism() };
  const from = Math.max(1, ...entries.map((each) => each.from + each.seeds));
  const entry = entries.find((each) => each.commit === commit) ?? { commit, date: '', ...machine, from, ...nothing };
  if (!entries.includes(entry)) entries.push(entry);
  /** Results of seeds that ended before one with a lower number. */
  const early = new Map();

  return {
    /** The seed that comes next. */
    next: entry.from + entry.seeds,
    /** Adds a result; seeds count once all before them have ended. */
    add(result) {
      early.set(result.seed, result);
      for (let next; (next = early.get(entry.from + entry.seeds)) !== undefined;) {
        early.delete(next.seed);
        entry.seeds++;
        entry.events += next.events;
        entry.simulatedHours = round(entry.simulatedHours + next.seconds / 3600);
        entry.cpuSeconds = round(entry.cpuSeconds + next.cpuMs / 1000);
        if (next.violations.length > 0) entry.violations.push(next.seed);
      }
      entry.date = today();
      write();
    },
  };
}

/** @param {string} root the checkout. Throws if its code is not that of its commit. */
export function openPlantedRecord(root) {
  const commit = commitOf(root);
  const { entries, write } = entriesIn(root, 'planted-bugs.json');
  return {
    /** Whether this commit's seeds were already tried for the bug. */
    has: (bug) => entries.some((each) => each.bug === bug && each.commit === commit),
    /** @param {number | null} seed the first that finds it; null if none of the first `seeds` does */
    add(bug, seed, seeds) {
      const others = entries.filter((each) => each.bug !== bug);
      const entry = { bug, seed, ...(seed === null ? { seeds } : {}), commit, date: today() };
      entries.splice(0, entries.length, ...others, entry);
      write();
    },
  };
}

/** The latest commit that has changed anything of which stories depend. */
function commitOf(root) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', ...TOLD_BY);
  if (changed !== '') throw new Error(`a record is of a commit, but these files are not committed:\n${changed}`);
  return git('log', '-1', '--format=%h', '--abbrev=12', '--', ...TOLD_BY);
}

/** The entries of a file in docs/reliability, and what writes them back. */
function entriesIn(root, name) {
  const folder = join(root, 'docs/reliability');
  const file = join(folder, name);
  const entries = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const write = () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${JSON.stringify(entries, null, 2)}\n`);
  };
  return { entries, write };
}

const today = () => new Date().toISOString().slice(0, 10);

const round = (number) => Math.round(number * 1000) / 1000;
