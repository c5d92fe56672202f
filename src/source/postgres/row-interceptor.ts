/**
 * Intercepts the messages of rows from a session before the driver sees them: the driver decodes each value by itself and
 * emits an event for each row, which is most of the cost of reading (docs/performance.md). All other messages, and the
 * rows of queries that are not intercepted, are passed on to the driver unchanged.
 */
import type { Duplex } from 'node:stream';
import type { Client, Connection } from 'pg';
import { int32, MESSAGE_HEADER as HEADER } from './undecoded-rows.js';

const DATA_ROW = 'D'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
/** The message of a row, from `from` to `end` in the buffer. */
export type TakeRow = (buffer: Buffer, from: number, end: number) => void;

const interceptors = new WeakMap<Connection, RowInterceptor>();

/** Installs an interceptor in a session that has just been opened. */
export function installRowInterceptor(client: Client): void {
  const { connection } = client as unknown as { readonly connection: Connection & { readonly stream: Duplex } };
  const [driver, ...others] = connection.stream.listeners('data') as ((bytes: Buffer) => void)[];
  // A version of the driver that listens in another way keeps reading its rows itself.
  if (driver === undefined || others.length > 0) return;
  const interceptor = new RowInterceptor(driver);
  interceptors.set(connection, interceptor);
  connection.stream.off('data', driver).on('data', (bytes: Buffer) => interceptor.arrived(bytes));
}

/** Intercepts the rows of the next query to `take`. */
export function interceptRows(connection: Connection, take: TakeRow): void {
  interceptors.get(connection)?.take(take);
}

class RowInterceptor {
  readonly #driver: (bytes: Buffer) => void;
  #take: TakeRow | undefined;
  /** Bytes that begin with an incomplete message. */
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  /** How many bytes are needed before anything can be processed. */
  #wanted = HEADER;

  constructor(driver: (bytes: Buffer) => void) {
    this.#driver = driver;
  }

  take(take: TakeRow): void {
    this.#take = take;
  }

  arrived(bytes: Buffer): void {
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (this.#bufferedBytes < this.#wanted) return;
    const buffer = this.#buffered.length === 1 ? bytes : Buffer.concat(this.#buffered);
    const at = this.#messages(buffer);
    const rest = buffer.subarray(at);
    this.#buffered = rest.length > 0 ? [rest] : [];
    this.#bufferedBytes = rest.length;
    this.#wanted = rest.length < HEADER ? HEADER : endOf(rest, 0);
  }

  /** Processes all complete messages and returns where they end. */
  #messages(buffer: Buffer): number {
    let at = 0;
    let passed = 0;
    const passOn = (): void => {
      if (passed < at) this.#driver(buffer.subarray(passed, at));
    };
    while (at + HEADER <= buffer.length) {
      const end = endOf(buffer, at);
      if (end > buffer.length) break;
      // No message is that short: leave the error to the driver.
      if (end < at + HEADER) {
        at = buffer.length;
        break;
      }
      if (buffer[at] === DATA_ROW && this.#take !== undefined) {
        passOn();
        this.#take(buffer, at, end);
        passed = end;
      } else if (buffer[at] === READY_FOR_QUERY) this.#take = undefined;
      at = end;
    }
    passOn();
    return at;
  }
}

const endOf = (buffer: Buffer, at: number): number => at + 1 + int32(buffer, at + 1);
