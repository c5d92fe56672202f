/** Remote procedure calls between two threads, in both directions. Responses may arrive in any order. */
import { PartnerSyncError, type ErrorCode, type ErrorDetails } from '../../domain/errors.js';

/** The methods that a side offers. Arguments and results must survive the structured clone algorithm. */
export type Methods = Record<string, (...args: never[]) => unknown>;

/** The part of `MessagePort` and `Worker` that is used here. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', take: (message: Message) => void): unknown;
}

/** A request has a number that is unique on its side of the connection; its response repeats the number. */
type Message =
  | { readonly request: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly response: number; readonly value: unknown }
  | { readonly response: number; readonly error: PostedError };

/** Structured cloning drops the class and the code of a PartnerSyncError, so its parts are sent and it is built anew. */
type PostedError =
  | { readonly ours: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } }
  | { readonly other: unknown };

/** Calls a method of the other side. Rejects with its error, or with the one given to {@link Connection.lost}. */
export type Call<Theirs extends Methods> = <K extends keyof Theirs & string>(
  method: K,
  ...args: Parameters<Theirs[K]>
) => Promise<Awaited<ReturnType<Theirs[K]>>>;

/** One side of a connection. */
export interface Connection<Theirs extends Methods> {
  readonly call: Call<Theirs>;
  /** To be called when the other side is gone: calls without a response yet, and all later ones, reject with this error. */
  lost(error: Error): void;
}

/** Connects to the other side of `port` and serves the methods `ours` to it. The port is neither started nor closed here. */
export function connect<Theirs extends Methods, Ours extends Methods>(port: Port, ours: Ours): Connection<Theirs> {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let requests = 0;
  let gone: Error | undefined;

  const respond = async ({ request: response, method, args }: Extract<Message, { request: number }>): Promise<void> => {
    try {
      port.postMessage({ response, value: await ours[method]!(...(args as never[])) });
    } catch (error) {
      port.postMessage({ response, error: posted(error) });
    }
  };
  port.on('message', (message) => {
    if ('request' in message) return void respond(message);
    const caller = pending.get(message.response);
    pending.delete(message.response);
    if ('error' in message) caller?.reject(received(message.error));
    else caller?.resolve(message.value);
  });
  const call = (method: string, ...args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (gone !== undefined) return reject(gone);
      port.postMessage({ request: ++requests, method, args });
      pending.set(requests, { resolve, reject });
    });
  return {
    call: call as Call<Theirs>,
    lost(error) {
      gone = error;
      for (const caller of pending.values()) caller.reject(error);
      pending.clear();
    },
  };
}

const posted = (error: unknown): PostedError =>
  error instanceof PartnerSyncError
    ? { ours: { code: error.code, message: error.message, details: error.details } }
    : { other: error };

const received = (error: PostedError): unknown =>
  'ours' in error ? new PartnerSyncError(error.ours.code, error.ours.message, error.ours.details) : error.other;
