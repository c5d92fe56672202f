/** Sessions from Knex's pool, each for one statement. */
import type { Knex } from 'knex';

/** The part of a Knex client that hands out connections; its own types say `any`. */
interface ConnectionPool<C> {
  acquireConnection(): Promise<C>;
  releaseConnection(connection: C): Promise<void>;
}

export async function withConnection<C extends object, T>(
  knex: Knex,
  work: (connection: C) => T | Promise<T>,
): Promise<T> {
  const pool = knex.client as ConnectionPool<C>;
  const connection = await pool.acquireConnection();
  try {
    return await work(connection);
  } finally {
    await pool.releaseConnection(connection);
  }
}

/** Takes a connection out of the pool on whose next answer nobody can rely. */
export function abandon(connection: object): void {
  (connection as { __knex__disposed?: unknown }).__knex__disposed = 'abandoned';
}

/** Knex would print what drivers say to stdout, in the middle of a command's result; and they quote accounts. */
export const SILENT: Knex.Logger = { warn() {}, error() {}, debug() {}, deprecate() {} };
