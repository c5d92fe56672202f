/** Remote calls between two threads, in both directions: calls go by name, and answers may arrive in any order. */
import { PartnerSyncError, type ErrorCode, type ErrorDetails } from '../../domain/errors.js';

/** The functions that a side offers. Arguments and results must survive the structured clone algorithm. */
export type Answers = Record<string, (...args: never[]) => unknown>;

/** The part of `MessagePort` and `Worker` that is used here. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', take: (message: Message) => void): unknown;
}

type Message =
  | { readonly asked: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly answered: number; readonly value: unknown }
  | { readonly answered: number; readonly error: PostedError };

/** Structured cloning drops the class and the code of a PartnerSyncError, so its parts are sent and it is built anew. */
type PostedError =
  | { readonly ours: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } }
  | { readonly other: unknown };

/** Calls a function of the other side by name. Rejects with its error, or with the error given to {@link Calls.lost}. */
export type Asks<Theirs extends Answers> = <K extends keyof Theirs & string>(
  name: K,
  ...args: Parameters<Theirs[K]>
) => Promise<Awaited<ReturnType<Theirs[K]>>>;

/** One side of a connection. */
export interface Calls<Theirs extends Answers> {
  readonly ask: Asks<Theirs>;
  /** To be called when the other side is gone: calls without an answer yet, and all later ones, reject with this error. */
  lost(error: Error): void;
}

/** Connects to the other side of `port` and serves `ours` to it. The port is neither started nor closed here. */
export function connect<Theirs extends Answers, Ours extends Answers>(port: Port, ours: Ours): Calls<Theirs> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let asked = 0;
  let gone: Error | undefined;

  const answer = async (message: Extract<Message, { asked: number }>): Promise<void> => {
    const answered = message.asked;
    try {
      port.postMessage({ answered, value: await ours[message.name]!(...(message.args as never[])) });
    } catch (error) {
      port.postMessage({ answered, error: posted(error) });
    }
  };
  port.on('message', (message) => {
    if ('asked' in message) return void answer(message);
    const call = waiting.get(message.answered);
    waiting.delete(message.answered);
    if ('error' in message) call?.reject(received(message.error));
    else call?.resolve(message.value);
  });
  const ask = (name: string, ...args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (gone !== undefined) return reject(gone);
      port.postMessage({ asked: ++asked, name, args });
      waiting.set(asked, { resolve, reject });
    });
  return {
    ask: ask as Asks<Theirs>,
    lost(error) {
      gone = error;
      for (const call of waiting.values()) call.reject(error);
      waiting.clear();
    },
  };
}

const posted = (error: unknown): PostedError =>
  error instanceof PartnerSyncError
    ? { ours: { code: error.code, message: error.message, details: error.details } }
    : { other: error };

const received = (error: PostedError): unknown =>
  'ours' in error ? new PartnerSyncError(error.ours.code, error.ours.message, error.ours.details) : error.other;
