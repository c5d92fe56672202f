/**
 * Bounds how long a PostgreSQL session waits for an answer: a server that vanished sends no timeout of its own.
 *
 * The driver's `query_timeout` would do the same, but puts its callback into a query that exists already. Queries made so
 * (or with a promise of the driver's) keep each other's rows reachable, as far as V8's young generation is concerned, from
 * the first one that has grown old: every page would be copied twice for nothing (docs/performance.md).
 */
import type { Duplex } from 'node:stream';
import type { Client, QueryConfig, QueryResult } from 'pg';

/** Ends the session, and by that its queries with an error, unless the function that it answers is called in time. */
export function answerWithin(client: Client, milliseconds: number): () => void {
  const timer = setTimeout(() => abandon(client), milliseconds);
  return () => clearTimeout(timer);
}

/** At once: a server that has vanished does not say goodbye, and Knex's pool is not to hand the session out again. */
function abandon(client: Client): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Duplex } };
  (client as { __knex__disposed?: unknown }).__knex__disposed = 'no answer in time';
  void client.end();
  connection.stream.destroy();
}

type Callback = (error: Error | null, answer: QueryResult) => void;
type Ask = (asked: QueryConfig | string, ...rest: (unknown[] | Callback | undefined)[]) => unknown;

/** {@link answerWithin} for each query with a callback, as Knex's are, or with a promise. */
export function limitAnswers(client: Client, milliseconds: number): void {
  const ask = client.query.bind(client) as Ask;
  const bounded: Ask = (asked, ...rest) => {
    const callback = rest.at(-1);
    if (typeof callback !== 'function') {
      const answer = ask(asked, ...rest);
      // A query object of its own kind answers itself, and looks after its own deadline.
      if (answer instanceof Promise) {
        const answered = answerWithin(client, milliseconds);
        answer.then(answered, answered);
      }
      return answer;
    }
    const answered = answerWithin(client, milliseconds);
    return ask(asked, ...rest.slice(0, -1), (error: Error | null, answer: QueryResult) => {
      answered();
      callback(error, answer);
    });
  };
  client.query = bounded as Client['query'];
}
