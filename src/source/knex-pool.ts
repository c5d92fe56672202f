/** Connections of Knex's pool, each borrowed for one statement. */
import type { Knex } from 'knex';

/** The part of a Knex client that hands out connections; its own types say `any`. */
interface ConnectionPool<C> {
  acquireConnection(): Promise<C>;
  releaseConnection(connection: C): Promise<void>;
  readonly pool?: { numUsed(): number };
}

/** Runs `work` with a connection, and returns it to the pool whatever happens. */
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

/** A connection that is not in the pool until it is released. */
export interface TakenConnection<C extends object> {
  readonly connection: C;
  release(): Promise<void>;
}

/** Takes a connection out of the pool. */
export async function takeConnection<C extends object>(knex: Knex): Promise<TakenConnection<C>> {
  const pool = knex.client as ConnectionPool<C>;
  const connection = await pool.acquireConnection();
  return { connection, release: () => pool.releaseConnection(connection) };
}

/** How many connections of the pool are in use. */
export const connectionsInUse = (knex: Knex): number => (knex.client as ConnectionPool<object>).pool?.numUsed() ?? 0;

/** Makes the pool discard a connection whose state is not known any more. */
export function discardConnection(connection: object): void {
  (connection as { __knex__disposed?: unknown }).__knex__disposed = 'abandoned';
}

/** Knex would print drivers' messages to stdout, in the middle of a command's result; and they quote accounts. */
export const SILENT: Knex.Logger = { warn() {}, error() {}, debug() {}, deprecate() {} };
