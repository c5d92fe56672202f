/** One reading of a slot: the messages up to the end of the log, and which of their transactions are visible. */
import type { TakenSession, Query } from '../../dialect.js';
import type { AbortWatch } from './cancel-when-aborted.js';
import { logPosition } from './log-position.js';
import type { SlotConfig } from './slot-config.js';
import { peekCall, type SlotFunction } from './slot-functions.js';
import { visibleIn, type IsVisible } from './visible-transactions.js';

/**
 * The most messages that are asked for at once, and about how many characters of them: rows may be wide, and before PostgreSQL 15 whole
 * rows arrive. More messages would hardly be faster, and the first wide ones after many narrow ones would fill the memory.
 */
const MESSAGES = 512;
const CHARACTERS = 8 * 1024 * 1024;
/** Nothing is known of their width yet. */
const FIRST_MESSAGES = 64;

/** What one reading began with. */
export interface SlotReading {
  /** Whether queries that begin from now on see a transaction. */
  readonly isVisible: IsVisible;
  /** Up to where changes had been confirmed when the messages were read; null if the slot was dropped meanwhile. */
  readonly confirmed: bigint | null;
  /** The messages, some at a time. */
  readonly messages: AsyncGenerator<readonly Buffer[]>;
}

/**
 * Reads all messages up to `through`. The server decodes them all at the first FETCH, so the snapshot that follows is newer
 * than whatever they report, and older than all later queries. Leaves a transaction open in the session.
 */
export async function openReading(
  taken: TakenSession,
  config: SlotConfig,
  functions: readonly SlotFunction[],
  { through, within }: { readonly through: string; readonly within: number },
  watch: AbortWatch,
): Promise<SlotReading> {
  watch.begin(await beginWithin(taken, within));
  const { sql, bindings } = peekCall(config, functions, through);
  await taken.run({ sql: `DECLARE partner_sync_changes NO SCROLL CURSOR FOR SELECT data FROM ${sql}`, bindings });
  const first = await fetchMessages(taken, FIRST_MESSAGES);
  // Decoding has emptied the session's caches of the catalog, so what is named here costs time: not the view of slots.
  const { rows } = await taken.run({
    sql: `SELECT txid_current_snapshot()::text,
      (SELECT confirmed_flush_lsn::text FROM pg_get_replication_slots() WHERE slot_name = $1)`,
    bindings: [config.slot],
  });
  const [snapshot, confirmed] = rows[0]!;
  return {
    isVisible: visibleIn(snapshot!),
    confirmed: confirmed === null ? null : logPosition(confirmed!),
    messages: remaining(taken, first),
  };
}

/**
 * Begins a transaction that may take longer than the statements of pages, and returns by which number the server knows its
 * session. In READ COMMITTED, or the snapshot would be as old as the transaction.
 */
export async function beginWithin(taken: TakenSession, milliseconds: number): Promise<string> {
  await taken.run(plain('BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY'));
  const { rows } = await taken.run({
    sql: `SELECT pg_backend_pid(),
      set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true),
      -- Since 17.
      CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
        THEN set_config('transaction_timeout', '0', true) END,
      set_config('client_min_messages', 'warning', true)`,
    bindings: [`${milliseconds}ms`],
  });
  return rows[0]![0]!;
}

const plain = (sql: string): Query => ({ sql, bindings: [] });

interface Fetched {
  readonly messages: readonly Buffer[];
  /** How many to ask for next; 0 at the end. */
  readonly next: number;
}

async function* remaining(taken: TakenSession, first: Fetched): AsyncGenerator<readonly Buffer[]> {
  let fetched = first;
  while (true) {
    if (fetched.messages.length > 0) yield fetched.messages;
    if (fetched.next === 0) return;
    fetched = await fetchMessages(taken, fetched.next);
  }
}

async function fetchMessages(taken: TakenSession, count: number): Promise<Fetched> {
  const { rows } = await taken.run(plain(`FETCH ${count} FROM partner_sync_changes`), {});
  let characters = 0;
  const messages: Buffer[] = [];
  for (const [data] of rows) {
    characters += data!.length;
    messages.push(Buffer.from(data!.slice(2), 'hex'));
  }
  return { messages, next: messages.length < count ? 0 : nextCount(count, characters) };
}

/** As many as fit, but not many more than before: the next ones may be wider. */
function nextCount(count: number, characters: number): number {
  const fitting = Math.floor(CHARACTERS / Math.max(1, characters / count));
  return Math.max(1, Math.min(fitting, count * 4, MESSAGES));
}
