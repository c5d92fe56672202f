/**
 * Decodes what the plugin pgoutput writes, in version 1 of its protocol
 * (https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html).
 */
import { PartnerSyncError } from '../../../domain/errors.js';
import type { FeedTable } from '../../../domain/source/change-feed.js';
import { malformed, MessageBytes } from './message-bytes.js';

/** A table as the slot describes it, before its first change. */
export interface SlotTable {
  readonly id: number;
  readonly table: FeedTable;
  /** Its REPLICA IDENTITY, as in `pg_class.relreplident`. */
  readonly identity: string;
  readonly columns: readonly SlotColumn[];
}

export interface SlotColumn {
  readonly name: string;
  /** Whether it belongs to the replica identity. */
  readonly isKey: boolean;
  /** Its type, for `Session.typesOf`. */
  readonly typeCode: string;
}

/** Marks a long value that the server does not send because it has not changed. */
export const UNCHANGED = Symbol('unchanged');

/** One version of a row: for each column of the table a text, or null, or {@link UNCHANGED}. Decoded when asked for. */
export interface SlotRow {
  value(column: number): string | null | typeof UNCHANGED;
}

/** One message, as far as a feed needs it. */
export type SlotMessage =
  /** A transaction begins. `start` is where its commit record is in the log. */
  | { readonly kind: 'begin'; readonly start: bigint; readonly at: Date; readonly transaction: number }
  /** It ends. `end` is behind its commit record. */
  | { readonly kind: 'commit'; readonly end: bigint }
  /** A row: `old` is its key or the whole row before, `row` is what it is now. */
  | { readonly kind: 'change'; readonly table: SlotTable; readonly old: SlotRow | null; readonly row: SlotRow | null }
  | { readonly kind: 'truncate'; readonly tables: readonly SlotTable[] }
  /** Nothing that a feed needs. */
  | { readonly kind: 'other' };

const OTHER: SlotMessage = { kind: 'other' };

/** Decodes the messages of one reading, in their order: the tables that it describes are known until its end. */
export class SlotMessageDecoder {
  readonly #tables = new Map<number, SlotTable>();

  /** Throws `unexpected` if the message is not valid. */
  decode(message: Buffer): SlotMessage {
    const bytes = new MessageBytes(message);
    const letter = bytes.character();
    // Where a transaction comes from, a type, and a message of the application: nothing that a feed needs.
    if (letter === 'O' || letter === 'Y' || letter === 'M') return OTHER;
    const decoded = this.#decode(letter, bytes);
    bytes.end();
    return decoded;
  }

  #decode(letter: string, bytes: MessageBytes): SlotMessage {
    switch (letter) {
      case 'B':
        return { kind: 'begin', start: bytes.long(), at: timeOf(bytes.long()), transaction: bytes.integer(4) };
      case 'C':
        return commit(bytes);
      case 'R': {
        const table = tableOf(bytes);
        this.#tables.set(table.id, table);
        return OTHER;
      }
      case 'I':
      case 'U':
      case 'D':
        return this.#change(letter, bytes);
      case 'T':
        return this.#truncate(bytes);
      default:
        throw malformed('is of an unknown kind');
    }
  }

  #change(letter: 'I' | 'U' | 'D', bytes: MessageBytes): SlotMessage {
    const table = this.#table(bytes.integer(4));
    let version = bytes.character();
    let old: SlotRow | null = null;
    if (letter !== 'I' && (version === 'K' || version === 'O')) {
      old = rowOf(bytes, table);
      if (letter === 'D') return { kind: 'change', table, old, row: null };
      version = bytes.character();
    }
    if (letter === 'D' || version !== 'N') throw malformed('lacks a version of its row');
    return { kind: 'change', table, old, row: rowOf(bytes, table) };
  }

  #truncate(bytes: MessageBytes): SlotMessage {
    const count = bytes.integer(4);
    bytes.integer(1); // CASCADE, RESTART IDENTITY
    const tables: SlotTable[] = [];
    while (tables.length < count) tables.push(this.#table(bytes.integer(4)));
    return { kind: 'truncate', tables };
  }

  #table(id: number): SlotTable {
    const table = this.#tables.get(id);
    if (table === undefined) throw malformed('is about a table that was not described');
    return table;
  }
}

function commit(bytes: MessageBytes): SlotMessage {
  bytes.integer(1); // flags, none of which exists yet
  bytes.long(); // where the commit record begins, as in the message that began the transaction
  const end = bytes.long();
  bytes.long(); // when
  return { kind: 'commit', end };
}

function tableOf(bytes: MessageBytes): SlotTable {
  const id = bytes.integer(4);
  // Empty for the schema of the system.
  const schema = bytes.name() || 'pg_catalog';
  const name = bytes.name();
  const identity = bytes.character();
  const columns: SlotColumn[] = [];
  for (let left = bytes.integer(2); left > 0; left--) {
    const isKey = (bytes.integer(1) & 1) === 1;
    columns.push({ isKey, name: bytes.name(), typeCode: `${bytes.integer(4)}/${bytes.int32()}` });
  }
  return { id, table: { schema, name }, identity, columns };
}

/**
 * Early minor versions of PostgreSQL 15 sent other columns than they had described, if a publication names columns. Such
 * values must not be taken for those of a key.
 */
function rowOf(bytes: MessageBytes, { table, columns }: SlotTable): SlotRow {
  if (bytes.integer(2) !== columns.length)
    throw new PartnerSyncError(
      'source_query_failed',
      `source: the slot describes ${columns.length} columns of ${table.schema}.${table.name}, and sends another number of values; ` +
        'early minor versions of PostgreSQL 15 do that, so update the server',
      { final: true },
    );
  return new UndecodedRow(columns.map(() => valueOf(bytes)));
}

/** The bytes of a text, null for NULL. */
type Value = Buffer | null | typeof UNCHANGED | typeof BINARY;
const BINARY = Symbol('binary');

function valueOf(bytes: MessageBytes): Value {
  const kind = bytes.character();
  if (kind === 'n') return null;
  if (kind === 'u') return UNCHANGED;
  if (kind === 't') return bytes.take(bytes.int32());
  if (kind !== 'b') throw malformed('has a value of an unknown kind');
  bytes.take(bytes.int32());
  return BINARY;
}

/** Before PostgreSQL 15 whole rows arrive, of which only the key is needed. */
class UndecodedRow implements SlotRow {
  readonly #values: readonly Value[];

  constructor(values: readonly Value[]) {
    this.#values = values;
  }

  value(column: number): string | null | typeof UNCHANGED {
    const value = this.#values[column]!;
    if (value === BINARY) throw malformed('has a binary value, although texts were asked for');
    return Buffer.isBuffer(value) ? value.toString('utf8') : value;
  }
}

/** PostgreSQL counts microseconds from this moment on. */
const FIRST_MOMENT = Date.UTC(2000, 0, 1);

const timeOf = (microseconds: bigint): Date => new Date(FIRST_MOMENT + Number(BigInt.asIntN(64, microseconds) / 1000n));
