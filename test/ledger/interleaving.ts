/**
 * Sessions on a real server whose statements are executed in an order that a seed decides: each statement waits for its turn.
 * While one waits for a lock, the others have theirs. So two transactions are open at once in every way that they can be.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import type { Knex } from 'knex';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { ledgerOn, type Ledger } from '../../src/ledger/ledger.js';
import type { Database } from '../databases.js';

type Callback = (error: unknown, result: unknown) => void;

/** What Knex uses of a connection of `pg`. */
interface Connection {
  processID: number;
  query(statement: string | { text: string }, answered: Callback): unknown;
}

/** One session: a ledger with a single connection. */
export interface Session {
  readonly ledger: Ledger;
  /** Waits for a turn without a statement. */
  turn(): Promise<void>;
}

class GatedSession implements Session {
  readonly ledger: Ledger;
  readonly #knex: Knex;
  readonly #rewrite: (sql: string) => string;
  /** Begins what waits for its turn. */
  begin: (() => void) | null = null;
  processId = 0;
  isOver = false;
  isGated = false;

  constructor(url: string, rewrite: (sql: string) => string) {
    this.#rewrite = rewrite;
    this.#knex = openLedgerDatabase(url, { poolMax: 1 });
    const client = this.#knex.client as { acquireRawConnection(): Promise<Connection> };
    const connect = client.acquireRawConnection.bind(client);
    client.acquireRawConnection = async () => this.#gated(await connect());
    this.ledger = ledgerOn(this.#knex);
  }

  #gated(connection: Connection): Connection {
    this.processId = connection.processID;
    const send = connection.query.bind(connection);
    connection.query = (statement, answered) => {
      const sent =
        typeof statement === 'string'
          ? this.#rewrite(statement)
          : { ...statement, text: this.#rewrite(statement.text) };
      void this.turn().then(() => send(sent, answered));
      return connection;
    };
    return connection;
  }

  async turn(): Promise<void> {
    if (this.isGated) await new Promise<void>((resolve) => (this.begin = resolve));
  }

  close(): Promise<void> {
    return this.#knex.destroy();
  }
}

/**
 * @param database where the sessions work
 * @param random gives numbers below its argument
 * @param rewrite changes statements, to see that a test notices what goes wrong then
 */
export function interleaving(database: Database, random: (below: number) => number, rewrite = (sql: string) => sql) {
  const sessions: GatedSession[] = [];

  /** Waits until every session waits for its turn or for a lock, or is over. */
  async function quiet(): Promise<void> {
    while (true) {
      await immediate();
      const busy = sessions.filter(({ isOver, begin }) => !isOver && begin === null);
      if (busy.length === 0) return;
      const [blocked] = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM unnest($1::int[]) AS s(pid) WHERE pg_blocking_pids(pid) <> '{}'`,
        [busy.map(({ processId }) => processId)],
      );
      const stillBusy = sessions.filter(({ isOver, begin }) => !isOver && begin === null);
      if (blocked!.n === busy.length && stillBusy.length === busy.length) return;
    }
  }

  return {
    session(): Session {
      const session = new GatedSession(database.url, rewrite);
      sessions.push(session);
      return session;
    },

    /**
     * Runs one piece of work in each session, statement by statement; `between` is called before each turn. Returns how
     * often a session waited for a lock of another. Rejects with the first failure of a piece of work.
     */
    async run(work: ((session: Session) => Promise<void>)[], between: () => Promise<void> | void): Promise<number> {
      let failed: { readonly error: unknown } | undefined;
      const ends = work.map(async (each, i) => {
        const session = sessions[i]!;
        session.isGated = true;
        try {
          await each(session);
        } catch (error) {
          failed ??= { error };
        } finally {
          session.isOver = true;
          session.isGated = false;
        }
      });
      let waits = 0;
      let last: GatedSession | undefined;
      /** How much sessions like to go on: some orders are rare where each statement may be anybody's. */
      const burst = random(8);
      while (failed === undefined && !sessions.every(({ isOver }) => isOver)) {
        await quiet();
        await between();
        const ready = sessions.filter(({ begin }) => begin !== null);
        waits += sessions.filter(({ isOver, begin }) => !isOver && begin === null).length;
        // If none is ready, they block each other, and the server ends one of them within a second.
        const next = last?.begin != null && random(8) < burst ? last : ready[random(ready.length)];
        last = next;
        const begin = next?.begin;
        if (next !== undefined) next.begin = null;
        begin?.();
      }
      for (const session of sessions) {
        session.isGated = false;
        session.begin?.();
      }
      await Promise.all(ends);
      if (failed !== undefined) throw failed.error;
      return waits;
    },

    async close(): Promise<void> {
      await Promise.all(sessions.map((session) => session.close()));
    },
  };
}
