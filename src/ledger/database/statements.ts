/** How statements reach the database: in transactions, prepared, and with columns packed into one value each. */
import type { Knex } from 'knex';
import { times } from '../../domain/timeouts.js';
import { HASH_BYTES } from '../../records/record-list.js';

/** Deadlock and serialization failure: the whole transaction was rolled back, and the same one may now succeed. */
const TRY_AGAIN = new Set(['40P01', '40001']);

/** Runs a transaction, or a statement of its own, and again if the database has aborted it in favour of another one. */
export async function retryOnDeadlock<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < times('ledgerTransaction'); attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (!TRY_AGAIN.has(String((error as { code?: unknown }).code))) throw error;
    }
  }
  return transaction();
}

/**
 * Runs `work` in a transaction, and all of it in another one if the database has aborted the first in favour of others:
 * `work` may change nothing else.
 */
export const inTransaction = <T>(knex: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> =>
  retryOnDeadlock(() => transactionOf(knex, work));

/** Rejects with the error of `work`. Knex would reject with that of the ROLLBACK, which fails too if the session has ended. */
async function transactionOf<T>(knex: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
  let first: { readonly error: unknown } | undefined;
  try {
    return await knex.transaction((trx) =>
      work(trx).catch((error: unknown) => {
        first = { error };
        throw error;
      }),
    );
  } catch (error) {
    throw first === undefined ? error : first.error;
  }
}

/**
 * Like `knex.raw`, for what is asked with each chunk: a session parses the statement once, and soon plans it once. The
 * name must stand for this one text in the whole ledger, as a second text under it would not be noticed.
 */
export const prepared = <Row extends object>(
  knex: Knex,
  name: string,
  sql: string,
  bindings: Parameters<Knex['raw']>[1] & object,
): Knex.Raw<{ rows: Row[]; rowCount: number }> =>
  knex.raw<{ rows: Row[]; rowCount: number }>(sql, bindings as Knex.RawBinding[]).options({ name });

/** U+001E, which no JSON text contains unescaped. */
const SEPARATOR = '\u001e';

/**
 * A column of JSON texts as one text. As an array, each element would be quoted and parsed by itself, which costs more
 * than everything else that a claim or a checkpoint does.
 */
export const packTexts = (texts: readonly string[]): string => texts.join(SEPARATOR);

/** The SQL that turns the named binding of {@link packTexts} back into a `text[]`. */
export const unpackedTexts = (binding: string): string => `string_to_array(:${binding}, chr(30))`;

/** One of many content hashes that stand one after the other, as 32 hex digits. */
export const hashAt = (hashes: Buffer, index: number): string =>
  hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
