/** Calls between two threads: each side answers what the other one asks, by name, in any order. */
import { PartnerSyncError, type ErrorCode, type ErrorDetails } from '../../domain/errors.js';

/** What a side answers to: functions of values that can be copied to another thread. */
export type Answers = Record<string, (...args: never[]) => unknown>;

/** A `MessagePort`, or a `Worker`. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', take: (message: Message) => void): unknown;
}

type Message =
  | { readonly asked: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly answered: number; readonly value: unknown }
  | { readonly answered: number; readonly error: SentError };

/** An error of ours loses its class on the way. */
type SentError =
  | { readonly ours: { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails } }
  | { readonly other: unknown };

export type Asks<Theirs extends Answers> = <K extends keyof Theirs & string>(
  name: K,
  ...args: Parameters<Theirs[K]>
) => Promise<Awaited<ReturnType<Theirs[K]>>>;

export interface Calls<Theirs extends Answers> {
  readonly ask: Asks<Theirs>;
  /** The other side is gone: whoever waits for an answer, or asks from now on, gets this error. */
  lost(error: Error): void;
}

export function connect<Theirs extends Answers, Ours extends Answers>(port: Port, ours: Ours): Calls<Theirs> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let asked = 0;
  let gone: Error | undefined;

  const answer = async (message: Extract<Message, { asked: number }>): Promise<void> => {
    const answered = message.asked;
    try {
      port.postMessage({ answered, value: await ours[message.name]!(...(message.args as never[])) });
    } catch (error) {
      port.postMessage({ answered, error: sent(error) });
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

const sent = (error: unknown): SentError =>
  error instanceof PartnerSyncError
    ? { ours: { code: error.code, message: error.message, details: error.details } }
    : { other: error };

const received = (error: SentError): unknown =>
  'ours' in error ? new PartnerSyncError(error.ours.code, error.ours.message, error.ours.details) : error.other;
