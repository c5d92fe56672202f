/** Ends a long statement of a taken connection when its caller gives up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../../../domain/timeouts.js';
import type { TakenSession, Session } from '../../dialect.js';

/** What watches over a connection. */
export interface AbortWatch {
  /** To be called before the long statement, with the number by which the server knows the session. */
  begin(process: string): void;
  /** Stops watching. If the signal was aborted, the connection is ended when this resolves. */
  end(): Promise<void>;
}

/**
 * Ends the connection once `signal` is aborted. A server does not notice that while it computes, and would keep the slot, so
 * it is first asked to cancel the statement.
 */
export function cancelWhenAborted(session: Session, taken: TakenSession, signal: AbortSignal): AbortWatch {
  let process: string | undefined;
  let ending: Promise<void> | undefined;
  const cancel = async (): Promise<void> => {
    if (process === undefined) return;
    const asked = session.run({ sql: 'SELECT pg_cancel_backend($1::int)', bindings: [process] });
    asked.catch(() => undefined);
    // There may be no other connection in the pool until this one is ended.
    await Promise.race([asked, sleep(milliseconds('slotCancellation'))]).catch(() => undefined);
  };
  const aborted = (): void => {
    ending = cancel().then(() => taken.abandon());
  };
  signal.addEventListener('abort', aborted, { once: true });
  return {
    begin(number) {
      process = number;
    },
    async end() {
      signal.removeEventListener('abort', aborted);
      await ending;
    },
  };
}
