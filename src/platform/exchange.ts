/**
 * One HTTP request and its whole answer, by undici's handler interface: its request() makes a stream for each answer and would
 * need signals for a deadline, and a load sends two requests for every batch.
 */
import type { Dispatcher } from 'undici';

export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
}

/** What is known of an answer before its body has come. */
export interface AnswerHead {
  readonly status: number;
  /** By lower-case names; of a header that came more than once the first. */
  readonly header: (name: string) => string | undefined;
}

export interface HttpAnswer extends AnswerHead {
  readonly text: string;
}

export interface ExchangeLimits {
  /** Milliseconds until the last byte. undici's own timeouts restart with each byte; this ends a slow drip too. */
  readonly deadline: number;
  /** Bytes of the answer. */
  readonly answerBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Is told the head as soon as it is there: the body may be long in coming, or never come. */
  readonly onHead: (head: AnswerHead) => void;
}

/** Why an exchange ended early, where the reason is not a failure of the way. */
export class ExchangeEnded extends Error {
  constructor(readonly why: 'deadline' | 'too long') {
    super(why);
  }
}

/**
 * Sends the request. Rejects with {@link ExchangeEnded}, with the signal's reason, or with undici's error where no
 * complete answer came.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  { deadline, answerBytes, signal, onHead }: ExchangeLimits,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let ended: Error | undefined;
    const end = (reason: Error): void => {
      ended = reason;
      // A request that waits for a connection is given up when its turn comes.
      controller?.abort(reason);
      finish(() => reject(reason));
    };
    const onAbort = (): void => end(signal!.reason as Error);
    const timer = setTimeout(() => end(new ExchangeEnded('deadline')), deadline);
    signal?.addEventListener('abort', onAbort, { once: true });
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    if (signal?.aborted === true) {
      onAbort();
      return;
    }

    let head: AnswerHead;
    const chunks: Buffer[] = [];
    let size = 0;
    dispatcher.dispatch(request, {
      onRequestStart(given) {
        controller = given;
        if (ended !== undefined) controller.abort(ended);
      },
      onResponseStart(_, status, headers) {
        const header = (name: string): string | undefined => {
          const value = headers[name];
          return typeof value === 'string' ? value : value?.[0];
        };
        onHead((head = { status, header }));
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        if (size > answerBytes) end(new ExchangeEnded('too long'));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)).toString('utf8');
        finish(() => resolve({ ...head, text }));
      },
      onResponseError: (_, error) => finish(() => reject(error)),
    });
  });
}
