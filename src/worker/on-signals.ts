/** Signals that ask a process to end, as a person means them. */
import { milliseconds } from '../domain/timeouts.js';

/**
 * Calls `asked` whenever somebody asks this process to end. npm passes on a signal that the terminal, or the service manager, has sent
 * to this process as well: both count as one.
 */
export function onSignals(
  asked: (signal: NodeJS.Signals, isFirst: boolean) => void,
  signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'],
): void {
  let last = -Infinity;
  let isFirst = true;
  for (const signal of signals)
    process.on(signal, () => {
      const now = performance.now();
      if (now - last < milliseconds('signalRepeat')) return;
      last = now;
      asked(signal, isFirst);
      isFirst = false;
    });
}
