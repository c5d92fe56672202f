/**
 * One HTTP request and its whole response, through undici's handler interface: request() would create a stream for each
 * response and need a signal for its deadline, and a run sends two requests for every batch.
 */
import type { Dispatcher } from 'undici';

/** A request, complete but for its address. */
export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
}

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  /** By lower-case name; the first of repeated headers. */
  readonly header: (name: string) => string | undefined;
}

/** A complete response; the body as UTF-8. */
export interface HttpResponse extends ResponseHead {
  readonly text: string;
}

/** What ends an exchange early. */
export interface ExchangeLimits {
  /** Milliseconds until the last byte. undici's own timeouts restart with each byte and would not end a slow drip. */
  readonly deadline: number;
  /** The most bytes of the response. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Called with the head as soon as it arrives: the body may take long, or never arrive. */
  readonly onHead: (head: ResponseHead) => void;
}

/** Why an exchange ended early, if the reason is not a transport failure. */
export class ExchangeEnded extends Error {
  constructor(readonly why: 'deadline' | 'too long') {
    super(why);
  }
}

/**
 * Sends the request. Rejects with {@link ExchangeEnded}, with the signal's reason, or with undici's error for an
 * incomplete response.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  { deadline, maxBytes, signal, onHead }: ExchangeLimits,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let ended: Error | undefined;
    const end = (reason: Error): void => {
      ended = reason;
      // A request that still waits for a connection is aborted at its turn.
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

    let head: ResponseHead;
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
        head = { status, header };
        onHead(head);
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        if (size > maxBytes) end(new ExchangeEnded('too long'));
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
