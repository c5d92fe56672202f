/** Stands in for undici: a request goes to the simulated platform. */
import type { Dispatcher } from 'undici';
import { current } from '../simulation.js';

export class Pool {
  dispatch({ method, path, headers, body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    let aborted: Error | undefined;
    const controller = {
      abort: (reason: Error) => (aborted ??= reason),
      pause: () => undefined,
      resume: () => undefined,
    } as unknown as Dispatcher.DispatchController;
    handler.onRequestStart?.(controller, {});
    const text = body === null || body === undefined ? '' : Buffer.from(body as Uint8Array | string).toString();
    current()
      .platform({ method, path, headers: headers as Record<string, string>, body: text })
      .then(
        (response) => {
          if (aborted !== undefined) return handler.onResponseError?.(controller, aborted);
          handler.onResponseStart?.(controller, response.status, { ...response.headers }, '');
          handler.onResponseData?.(controller, Buffer.from(response.body));
          handler.onResponseEnd?.(controller, {});
        },
        (error: Error) => handler.onResponseError?.(controller, aborted ?? error),
      );
    return true;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Alerts are sent with it: no sync of a simulation has any. */
export class Client {
  constructor() {
    throw new Error('the simulation sends no alerts');
  }
}
