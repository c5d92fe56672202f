import type { Knex } from 'knex';

/**
 * A transaction of the state database that fails with what went wrong in it. Knex would tell why the ROLLBACK failed
 * instead, and where the server ended the session ("terminated by the administrator") it always does.
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
