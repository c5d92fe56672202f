/**
 * What doctor says of workers that have not answered. Temporal lists a worker for minutes after it has ended, as it does a
 * frozen one. So what this machine knows of its process decides, or else whether a poll of it was open.
 */
import { hostname } from 'node:os';
import { milliseconds } from '../../domain/timeouts.js';
import { isAlive } from '../../embedded/is-alive.js';
import { fail, warn, type Examined } from './examination.js';

/**
 * A line for each worker that may be frozen, and for each that no longer polls; none for one whose process has ended on this
 * machine.
 *
 * @param polledAt when each last polled, in milliseconds since 1970, by its identity
 * @param takenBy the workers that took a task of the question
 */
export function silentWorkers(
  silent: readonly string[],
  polledAt: ReadonlyMap<string, number>,
  takenBy: ReadonlySet<string>,
): Examined[] {
  const mayBeFrozen = (identity: string): boolean => {
    // A frozen worker takes a task while its last poll is open. Of one that has ended, no poll is open.
    if (takenBy.has(identity)) return true;
    // That poll is over after a minute. From then on, only the process tells.
    return isOfThisMachine(identity) && Date.now() - polledAt.get(identity)! < milliseconds('doctorWorkerGone');
  };
  const listed = silent.filter((identity) => !isOfThisMachine(identity) || isAlive(pidOf(identity)));
  return [
    ...listed
      .filter(mayBeFrozen)
      .map((identity) =>
        fail('worker', `${identity} does not respond: it is frozen, or ended a moment ago`, LOOK_AGAIN),
      ),
    ...listed
      .filter((identity) => !mayBeFrozen(identity))
      .map((identity) =>
        warn(
          'worker',
          `${identity} has not asked for work since ${new Date(polledAt.get(identity)!).toISOString()}`,
          GONE,
        ),
      ),
  ];
}

const LOOK_AGAIN =
  'run doctor again in two minutes; if the worker is still listed, end it: runs are only delayed, as another worker takes over';
const GONE =
  'nothing, if it was stopped: Temporal forgets it within minutes; if its process still runs, it is frozen: end it';

/** An identity is `<pid>@<host name>`, as the SDK writes it. */
const isOfThisMachine = (identity: string): boolean => identity.endsWith(`@${hostname()}`);
const pidOf = (identity: string): number => Number.parseInt(identity, 10);
