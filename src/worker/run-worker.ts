/** Runs a worker as a process of its own: it is drained on the first signal. */
import type { WorkerParts } from '../composition/compose-worker.js';
import type { Logger } from '../observability/log.js';
import { openWorker } from './open-worker.js';
import { onSignals } from './on-signals.js';

/**
 * Works until a signal asks it to drain; a second signal ends the process at once, with 130. `ready` is called with the name of
 * the task queue before the first task is taken. Throws what {@link openWorker} throws.
 */
export async function runWorker(parts: WorkerParts, log: Logger, ready: (taskQueue: string) => void): Promise<void> {
  const worker = await openWorker(parts, log, 'own-process');
  try {
    forceOnSecondSignal(log);
    ready(worker.taskQueue);
    await worker.run();
  } finally {
    await worker.close();
  }
}

/** The SDK drains on the first signal; without this, an activity that hangs would keep the process alive. */
function forceOnSecondSignal(log: Logger): void {
  onSignals((signal, isFirst) => {
    if (isFirst) log.info({ signal }, 'draining; a second signal ends at once');
    else process.exit(130);
  });
}
