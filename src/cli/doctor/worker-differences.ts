/** How workers differ from each other and from this machine: in the version of the program, of the files, and in variables. */
import type { WorkerState, WorkerStates } from '../../domain/run/work.js';
import { fail, warn, type Examined } from './examination.js';

/** What is compared with the workers. */
export interface ExpectedWorker {
  /** The version of the sync's files; null if there are none, or they have errors. */
  readonly files: string | null;
  readonly program: string;
  /** Hashes of variables, with the salt that the workers were given. */
  readonly variables: WorkerState['variables'];
}

/** A line for each difference; none if there is no difference. No value of a variable is known here. */
export const workerDifferences = (answered: WorkerStates, expected: ExpectedWorker): Examined[] => [
  ...ofVersions('of partner-sync', byVersion(answered, 'program'), expected.program, {
    all: 'install the same version for all workers',
    workers: 'use the same version here and on the workers',
  }),
  // With different files it is left to chance by which of them the next run goes.
  ...ofVersions('of the files', byVersion(answered, 'version'), expected.files, {
    all: 'give all workers the same files',
    workers: 'give the workers these files',
  }),
  ...answered.flatMap(({ identity, state }) => ofVariables(identity, state!.variables, expected.variables)),
];

function ofVersions(
  what: string,
  workers: ReadonlyMap<string, readonly string[]>,
  here: string | null,
  remedy: { readonly all: string; readonly workers: string },
): Examined[] {
  const told = [...workers].map(([version, identities]) => `${version} on ${identities.join(', ')}`).join('; ');
  if (workers.size > 1) return [fail('worker', `the workers have different versions ${what}: ${told}`, remedy.all)];
  if (here === null || workers.size === 0 || workers.has(here)) return [];
  return [warn('worker', `the workers have another version ${what}: ${told}; here it is ${here}`, remedy.workers)];
}

/** Identities by their version; those that have none, as they could not load their files, are left out. */
function byVersion(answered: WorkerStates, kind: 'program' | 'version'): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { identity, state } of answered) {
    const version = state?.[kind];
    if (version != null) found.set(version, [...(found.get(version) ?? []), identity]);
  }
  return found;
}

/** Only variables that are set here: what only a worker has is no problem of its runs. */
function ofVariables(
  identity: string,
  there: ExpectedWorker['variables'],
  here: ExpectedWorker['variables'],
): Examined[] {
  const set = Object.keys(there).filter((name) => here[name] != null);
  const missing = set.filter((name) => there[name] === null);
  const different = set.filter((name) => there[name] !== null && there[name] !== here[name]);
  return [
    ...(missing.length === 0
      ? []
      : [
          warn(
            'worker',
            `${identity} lacks variables that are set here: ${missing.join(', ')}`,
            'set them for this worker and start it again, or unset them here',
          ),
        ]),
    ...(different.length === 0
      ? []
      : [
          warn(
            'worker',
            `${identity} has other values than this machine: ${different.join(', ')}`,
            'compare them; an address may differ if this machine reaches the same server by another one',
          ),
        ]),
  ];
}
