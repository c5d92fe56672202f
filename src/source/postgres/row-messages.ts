/**
 * Takes the messages of rows out of a session before the driver sees them: it decodes each value by itself and tells of each
 * row in events, which is most of what reading costs (docs/performance.md). All other messages, and the rows of queries
 * that nobody taps, go to the driver as they came.
 */
import type { Duplex } from 'node:stream';
import type { Client, Connection } from 'pg';
import { int32, MESSAGE_HEADER as HEADER } from './message-rows.js';

const DATA_ROW = 'D'.charCodeAt(0);
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
/** The message of a row, from `from` to `end` in the buffer. */
export type TakeRow = (buffer: Buffer, from: number, end: number) => void;

const taps = new WeakMap<Connection, RowTap>();

/** Taps a session that has just been opened. */
export function tapRows(client: Client): void {
  const { connection } = client as unknown as { readonly connection: Connection & { readonly stream: Duplex } };
  const [driver, ...others] = connection.stream.listeners('data') as ((bytes: Buffer) => void)[];
  // A driver that listens in another way gets its rows itself.
  if (driver === undefined || others.length > 0) return;
  const tap = new RowTap(driver);
  taps.set(connection, tap);
  connection.stream.off('data', driver).on('data', (bytes: Buffer) => tap.arrived(bytes));
}

/** Hands the rows of the query that is sent next to `take`. */
export function takeRows(connection: Connection, take: TakeRow): void {
  taps.get(connection)?.take(take);
}

class RowTap {
  readonly #driver: (bytes: Buffer) => void;
  #take: TakeRow | undefined;
  /** Begins with a message that is not complete. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** From so many bytes on there is something to be done. */
  #wanted = HEADER;

  constructor(driver: (bytes: Buffer) => void) {
    this.#driver = driver;
  }

  take(take: TakeRow): void {
    this.#take = take;
  }

  arrived(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes < this.#wanted) return;
    const buffer = this.#held.length === 1 ? bytes : Buffer.concat(this.#held);
    const at = this.#messages(buffer);
    const rest = buffer.subarray(at);
    this.#held = rest.length > 0 ? [rest] : [];
    this.#heldBytes = rest.length;
    this.#wanted = rest.length < HEADER ? HEADER : endOf(rest, 0);
  }

  /** Deals with all complete messages; answers where they end. */
  #messages(buffer: Buffer): number {
    let at = 0;
    let untold = 0;
    const tellDriver = (): void => {
      if (untold < at) this.#driver(buffer.subarray(untold, at));
    };
    while (at + HEADER <= buffer.length) {
      const end = endOf(buffer, at);
      if (end > buffer.length) break;
      // No message is that short: what this is, is for the driver to say.
      if (end < at + HEADER) {
        at = buffer.length;
        break;
      }
      if (buffer[at] === DATA_ROW && this.#take !== undefined) {
        tellDriver();
        this.#take(buffer, at, end);
        untold = end;
      } else if (buffer[at] === READY_FOR_QUERY) this.#take = undefined;
      at = end;
    }
    tellDriver();
    return at;
  }
}

const endOf = (buffer: Buffer, at: number): number => at + 1 + int32(buffer, at + 1);
