/**
 * Limits how long a PostgreSQL session waits for a response: a server that has vanished never closes the connection.
 *
 * The driver's `query_timeout` would do the same, but it replaces the callback of a query that already exists. For V8's
 * young generation, such queries (and those with a promise of the driver) keep each other's rows reachable as soon as one
 * of them is old, so every page would be copied twice for nothing (docs/performance.md).
 */
import type { Duplex } from 'node:stream';
import type { Client, QueryConfig, QueryResult } from 'pg';

/**
 * Destroys the session after `milliseconds`, which fails its running queries, unless the returned function is called
 * first.
 */
export function responseWithin(client: Client, milliseconds: number): () => void {
  const timer = setTimeout(() => abandonSession(client), milliseconds);
  return () => clearTimeout(timer);
}

/**
 * Ends the session at once, which fails its running queries. Does not wait for the server, which may have vanished, and
 * keeps Knex's pool from handing the session out again.
 */
export function abandonSession(client: Client): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Duplex } };
  (client as { __knex__disposed?: unknown }).__knex__disposed = 'no response in time';
  void client.end();
  connection.stream.destroy();
}

type Callback = (error: Error | null, result: QueryResult) => void;
type Query = (query: QueryConfig | string, ...rest: (unknown[] | Callback | undefined)[]) => unknown;

/** Applies {@link responseWithin} to each query of the client that has a callback, as Knex's do, or returns a promise. */
export function limitResponseTime(client: Client, milliseconds: number): void {
  const send = client.query.bind(client) as Query;
  const bounded: Query = (query, ...rest) => {
    const callback = rest.at(-1);
    if (typeof callback !== 'function') {
      const result = send(query, ...rest);
      // Otherwise it is a query object such as a cursor, whose caller sets the deadline.
      if (result instanceof Promise) {
        const arrived = responseWithin(client, milliseconds);
        result.then(arrived, arrived);
      }
      return result;
    }
    const arrived = responseWithin(client, milliseconds);
    return send(query, ...rest.slice(0, -1), (error: Error | null, result: QueryResult) => {
      arrived();
      callback(error, result);
    });
  };
  client.query = bounded as Client['query'];
}
