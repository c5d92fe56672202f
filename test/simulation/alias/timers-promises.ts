/** Stands in for node:timers/promises. */
export function setTimeout<T>(
  milliseconds = 1,
  value?: T,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(
        Object.assign(new Error('The operation was aborted', { cause: signal!.reason }), {
          name: 'AbortError',
          code: 'ABORT_ERR',
        }),
      );
    };
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve(value);
    }, milliseconds);
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}
