/** A simulated change feed: the keys of all changes in the order of their commits, until they are confirmed. */
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { ChangeFeed, ChangeGroup, FeedPosition, FeedTable } from '../../src/domain/source/change-feed.js';
import type { SourceKey } from '../../src/domain/source/source.js';
import type { Random } from './random.js';

export interface FeedFaults {
  /** How likely the source forgets that changes were confirmed. */
  readonly forgotten: number;
  /** How likely it does not tell which row of a table a change was of. */
  readonly unnamed: number;
  /** After how many milliseconds somebody creates the slot anew, each time. */
  readonly lostAfter: readonly number[];
}

/** What it reports of a table: the key of a row, or why it has none. */
interface Reported {
  readonly table: string;
  readonly what: SourceKey | 'unnamed' | 'truncated';
}

/** Asks the source, which takes time and may fail; `answer` is called in between. */
type Asked = <T>(answer: () => T) => Promise<T>;

export class FeedModel {
  readonly #random: Random;
  readonly #tables: Readonly<Record<string, { readonly key: readonly string[] }>>;
  readonly #saw: (what: string) => void;
  readonly #changes: Reported[] = [];
  #confirmed = 0;
  faults: FeedFaults;

  constructor(
    random: Random,
    tables: Readonly<Record<string, { readonly key: readonly string[] }>>,
    faults: FeedFaults,
    saw: (what: string) => void,
  ) {
    this.#random = random;
    this.#tables = tables;
    this.faults = faults;
    this.#saw = saw;
  }

  /** A row has changed, or is gone, in a transaction that commits now. */
  add(table: string, key: SourceKey): void {
    const isUnnamed = this.#random.chance(this.faults.unnamed);
    if (isUnnamed) this.#saw('a change was not named');
    this.#changes.push({ table, what: isUnnamed ? 'unnamed' : key });
  }

  /** All rows of the table are gone. */
  truncate(table: string): void {
    this.#saw('a table was truncated');
    this.#changes.push({ table, what: 'truncated' });
  }

  /** The slot is dropped and created again: nobody can read what has not been read before. */
  lose(): void {
    if (this.#confirmed < this.#changes.length) this.#saw('changes were lost');
    this.#confirmed = this.#changes.length;
  }

  open(asked: Asked): ChangeFeed {
    const position = (at: number): FeedPosition => ({ origin: 'simulated', at: String(at) });
    const nobody = () => Promise.reject(new Error('nobody installs a simulated feed'));
    return {
      installation: nobody,
      removal: nobody,
      state: () =>
        asked(() => ({
          position: position(this.#confirmed),
          problem: null,
          keptBytes: null,
          bytesLeft: null,
          unread: null,
          tables: Object.keys(this.#tables).map((name) => ({ schema: null, name })),
        })),
      begin: () => asked(() => position(this.#changes.length)),
      mayHaveChanges: ({ at }) => asked(() => this.#confirmed > Number(at) || Number(at) < this.#changes.length),
      countUnread: () => asked(() => null),
      read: (from) => this.#read(Number(from.at), asked, position),
      confirm: ({ at }) =>
        asked(() => {
          if (this.#random.chance(this.faults.forgotten)) this.#saw('a confirmation was forgotten');
          else this.#confirmed = Math.max(this.#confirmed, Number(at));
          return null;
        }),
    };
  }

  async *#read(from: number, asked: Asked, position: (at: number) => FeedPosition): AsyncGenerator<ChangeGroup> {
    const through = await asked(() => {
      if (this.#confirmed > from) throw new PartnerSyncError('changes_lost', 'source: the slot was created anew');
      return this.#changes.length;
    });
    for (let at = from; at < through;) {
      // One query has found all of them. To fetch them seldom fails.
      if (this.#random.chance(0.1)) await asked(() => undefined);
      const changes = this.#changes.slice(at, Math.min(through, at + this.#random.between(1, 30)));
      at += changes.length;
      // In the middle of a transaction.
      const isInside = at < through && this.#random.chance(0.3);
      const tablesOf = (reported: Reported['what']): FeedTable[] =>
        changes.filter(({ what }) => what === reported).map(({ table }) => ({ schema: null, name: table }));
      yield {
        rows: changes.flatMap(({ table, what }) =>
          typeof what === 'string'
            ? []
            : [{ table: { schema: null, name: table }, columns: this.#tables[table]!.key, keys: [what] }],
        ),
        truncated: tablesOf('truncated'),
        unnamed: tablesOf('unnamed'),
        position: isInside ? null : position(at),
        committedAt: null,
      };
    }
  }
}
