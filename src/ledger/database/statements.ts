/** How statements reach the database: in transactions, prepared, and with columns packed into one value each. */
import type { Knex } from 'knex';
import { HASH_BYTES } from '../../records/record-list.js';

/**
 * Runs `work` in a transaction and rejects with its error. Knex itself would reject with the error of the ROLLBACK,
 * which fails too if the server has ended the session.
 */
export async function inTransaction<T>(knex: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
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
