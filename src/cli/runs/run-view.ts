/** What ways to show a run in a terminal share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Parts } from '../../composition/parts.js';
import { readVariable } from '../../config/environment.js';
import type { MappingProgress } from '../../domain/run/progress.js';
import { milliseconds } from '../../domain/timeouts.js';
import type { Ledger } from '../../ledger/ledger.js';
import { queryProgress, type QueriedProgress } from '../../runs/run-progress.js';

/** How a run is shown. */
export interface RunView {
  /** Prints a line that stays. */
  readonly note: (line: string) => void;
  /** Shows how the run gets on until it has ended; `runId` is the ledger's id of it. */
  follow(runId: string): Promise<void>;
  /** Shows what it has done, once it has ended. */
  end(mappings: readonly MappingProgress[]): void;
}

/** What the steps of watching one run share. */
export interface Watching {
  readonly parts: Parts;
  readonly client: Client;
  readonly taskQueue: string;
  readonly handle: WorkflowHandle;
  /** Aborted once the run has ended. */
  readonly ended: AbortSignal;
}

/**
 * Ends what is asked of Temporal with the run, or after a while: a worker that hangs must not stop the display. The
 * ledger has deadlines of its own.
 */
export function bounded<T>({ client, ended }: Watching, ask: () => Promise<T>): Promise<T> {
  const deadline = AbortSignal.any([ended, AbortSignal.timeout(milliseconds('runLook'))]);
  return client.withAbortSignal(deadline, ask);
}

/** Ends early when the run ends. */
export const pause = (time: number, ended: AbortSignal): Promise<void> =>
  sleep(time, undefined, { signal: ended }).catch(() => undefined);

/** Notes each text that is neither empty nor the same as the one before. */
export function whenChanged(note: (line: string) => void): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== '' && text !== last) note(text);
    last = text;
  };
}

/** What the workflow knows; null while no worker has taken it up, or none answers. */
export const queried = (watching: Watching): Promise<QueriedProgress | null> =>
  bounded(watching, () => queryProgress(watching.handle)).catch(() => null);

/** null if this machine does not have its address. */
export const ledgerIfKnown = async ({ parts }: Watching): Promise<Ledger | null> =>
  (await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL')) === undefined ? null : parts.ledger();
