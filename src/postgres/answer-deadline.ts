/**
 * Bounds how long a PostgreSQL session waits for an answer: a server that vanished sends no timeout of its own.
 *
 * The driver's `query_timeout` would do the same, but puts its callback into a query that exists already. Queries made so
 * (or with a promise of the driver's) keep each other's rows reachable, as far as V8's young generation is concerned, from
 * the first one that has grown old: every page would be copied twice for nothing (docs/performance.md).
 */
import type { Client, QueryConfig, QueryResult } from 'pg';

/** Ends the session, and by that its query with an error, unless the function that it answers is called in time. */
export function answerWithin(client: Client, milliseconds: number): () => void {
  const timer = setTimeout(() => void client.end(), milliseconds);
  return () => clearTimeout(timer);
}

type Callback = (error: Error | null, answer: QueryResult) => void;
type Ask = (asked: QueryConfig | string, ...rest: (unknown[] | Callback | undefined)[]) => unknown;

/** {@link answerWithin} for each query with a callback, as Knex's are. */
export function limitAnswers(client: Client, milliseconds: number): void {
  const ask = client.query.bind(client) as Ask;
  const bounded: Ask = (asked, ...rest) => {
    const callback = rest.at(-1);
    if (typeof callback !== 'function') return ask(asked, ...rest);
    const answered = answerWithin(client, milliseconds);
    return ask(asked, ...rest.slice(0, -1), (error: Error | null, answer: QueryResult) => {
      answered();
      callback(error, answer);
    });
  };
  client.query = bounded as Client['query'];
}
