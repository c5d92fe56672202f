/** The change table of MySQL and MariaDB. See row-gaps.ts for how it misses no transaction that is committed late. */
import type { FeedPosition } from '../../../domain/source/change-feed.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { PartnerSyncError } from '../../../domain/errors.js';
import {
  distinctTables,
  missingAmong,
  type FeedFinding,
  type FeedInstallation,
  type FeedRemoval,
  type PlannedTable,
} from '../../../domain/source/feed-installation.js';
import { milliseconds, seconds } from '../../../domain/timeouts.js';
import {
  PAGE_ROWS,
  type ChangeTable,
  type RecordedPage,
  type TableIdentity,
  type TableProblem,
  type TableStatus,
} from '../../changes/change-table.js';
import {
  blocking,
  costOf,
  differs,
  missingTable,
  notPruned,
  ofServer,
  toKnow,
  unusableKey,
} from '../../changes/findings.js';
import type { KeyTexts } from '../../changes/key-texts.js';
import type { TableConfig } from '../../changes/table-config.js';
import type { FeedDatabase, Query, RawPage, Session } from '../../dialect.js';
import { oldestOpenTransaction } from '../high-watermark.js';
import { textLiteral } from '../literals.js';
import { countWithoutGap, parsePlace, placeText, type Horizon } from './row-gaps.js';
import { dropTrigger, tableInstallation, tableRemoval, triggerBody, type RecordedTable } from './table-installation.js';
import {
  partNames,
  quotedAccount,
  readTableParts,
  recordedTables,
  TRIGGER_KINDS,
  triggerName,
  type TableParts,
} from './table-parts.js';

/** Rows that are deleted in one transaction. */
const PRUNED_ROWS = 10_000;
/** The account may not do it, or the server takes no writes. */
const REFUSED = ['config_invalid', 'source_relation_missing'];

export class MysqlChangeTable implements ChangeTable {
  readonly #database: FeedDatabase;
  readonly #config: TableConfig;
  readonly #keyTexts: KeyTexts;

  constructor(database: FeedDatabase, config: TableConfig, keyTexts: KeyTexts) {
    this.#database = database;
    this.#config = config;
    this.#keyTexts = keyTexts;
  }

  async status(): Promise<TableStatus> {
    const parts = await this.#parts();
    const identity = parts.hasChanges && (await this.#canRead(parts)) ? await this.#identityOf(parts) : null;
    const end = identity === null ? '0' : await this.#end(parts);
    return {
      problem: problemOf(this.#config, parts, identity, end),
      identity,
      end,
      keptBytes: parts.bytes,
      tables: recordedTables(this.#config, parts),
    };
  }

  /** The last number, unless one before it is missing and may still come: then all rows that are left are told. */
  async start(): Promise<string> {
    const parts = await this.#parts();
    const { changes } = partNames(this.#config, parts.schema);
    const { pruned } = await this.#identityOf(parts);
    const { rows } = await this.#ask('looking at the change table', {
      sql: `SELECT COALESCE(MAX(seq), ${pruned}), COUNT(*) FROM ${changes} WHERE seq > ${pruned}`,
      bindings: [],
    });
    const [last, count] = rows[0]!.map((number) => BigInt(number!)) as [bigint, bigint];
    if (last - BigInt(pruned) === count) return String(last);
    const horizon = await this.#horizon(changes);
    return (await this.#passes(horizon, BigInt(pruned), changes)) ? String(horizon.through) : pruned;
  }

  async identity(): Promise<TableIdentity> {
    return this.#identityOf(await this.#parts());
  }

  async canPrune(): Promise<boolean> {
    return this.#canPrune(await this.#parts());
  }

  compare(one: string, other: string): number {
    return Number(parsePlace(one).seq - parsePlace(other).seq);
  }

  async countRowsAfter(at: string, bound: number): Promise<number> {
    const { changes } = partNames(this.#config, (await this.#parts()).schema);
    const after = `SELECT 1 FROM ${changes} WHERE seq > ${parsePlace(at).seq} LIMIT ${bound}`;
    const sql = `SELECT COUNT(*) FROM (${after}) counted`;
    return Number((await this.#ask('looking for changes', { sql, bindings: [] })).rows[0]![0]);
  }

  async *pages(at: string, signal: AbortSignal): AsyncGenerator<RecordedPage> {
    const { changes } = partNames(this.#config, (await this.#parts()).schema);
    const place = parsePlace(at);
    let { seq, horizon } = place;
    let settled = horizon !== null && (await this.#hasPassed(horizon, seq, changes)) ? horizon.through : seq;
    let mayWait = true;
    while (true) {
      signal.throwIfAborted();
      const { rows } = await this.#ask('reading changes', {
        sql: `SELECT seq, source, key_values, old_key_values FROM ${changes} WHERE seq > ${seq} ORDER BY seq LIMIT ${PAGE_ROWS}`,
        bindings: [],
      });
      const numbers = rows.map(([number]) => BigInt(number!));
      const count = countWithoutGap(numbers, seq, settled);
      const isAtGap = count < rows.length;
      const isAtEnd = rows.length < PAGE_ROWS && !isAtGap;
      if (count > 0) seq = numbers[count - 1]!;
      if (isAtGap && (horizon === null || horizon.through <= settled || horizon.through <= seq))
        horizon = await this.#horizon(changes);
      if (count > 0 || isAtEnd || (isAtGap && !mayWait))
        yield {
          rows: rows.slice(0, count).map(([, source, key, old]) => ({
            source: source!,
            keys: [old, key].flatMap((list) => (list == null ? [] : [JSON.parse(list) as (string | null)[]])),
          })),
          at: placeText({ seq, horizon: isAtGap ? horizon : null }),
        };
      if (isAtEnd || (isAtGap && !mayWait)) return;
      if (!isAtGap) continue;
      mayWait = false;
      if (await this.#passes(horizon!, seq, changes, signal)) settled = horizon!.through;
    }
  }

  async prune({ at }: FeedPosition): Promise<void> {
    const { changes, state } = partNames(this.#config, (await this.#parts()).schema);
    // The row itself stays: a table that was emptied by somebody else is noticed by its absence.
    const where = `WHERE seq < ${parsePlace(at).seq}`;
    const isLeft = async (): Promise<boolean> =>
      (await this.#ask('confirming changes', { sql: `SELECT 1 FROM ${changes} ${where} LIMIT 1`, bindings: [] })).rows
        .length > 0;
    if (!(await isLeft())) return;
    await this.#write(`UPDATE ${state} SET pruned = GREATEST(pruned, ${parsePlace(at).seq})`);
    do await this.#write(`DELETE FROM ${changes} ${where} ORDER BY seq LIMIT ${PRUNED_ROWS}`);
    while (await isLeft());
  }

  async installation(tables: readonly PlannedTable[]): Promise<FeedInstallation> {
    const parts = await this.#parts();
    const { recorded, findings } = await this.#examine(distinctTables(tables), parts);
    const canRead = await this.#canRead(parts);
    const canPrune = canRead && (await this.#canPrune(parts));
    const statements = tableInstallation(this.#config, recorded, parts, { canRead, canPrune });
    return {
      database: parts.database,
      findings: [
        ...serverFindings(parts),
        ...findings,
        ...recorded.flatMap((table) => differing(this.#config, table, parts)),
        ...(canRead && !canPrune ? [notPruned(pruningGrants(this.#config, parts))] : []),
        ...costOf(statements),
      ],
      statements,
      missingTables: parts.hasChanges ? missingAmong(tables, recordedTables(this.#config, parts)) : null,
    };
  }

  async removal(): Promise<FeedRemoval> {
    const parts = await this.#parts();
    return { database: parts.database, statements: tableRemoval(this.#config, parts) };
  }

  get #run(): Session['run'] {
    return (query: Query) => this.#database.session.run(query);
  }

  #ask(what: string, query: Query): Promise<RawPage> {
    return this.#database.attempt(what, () => this.#database.session.run(query));
  }

  async #write(sql: string): Promise<void> {
    await this.#database.once('deleting changes that have been read', () =>
      this.#database.session.write!([{ sql, bindings: [] }], milliseconds('changesPruning')),
    );
  }

  #parts(): Promise<TableParts> {
    return this.#database.attempt('looking at the change table', () => readTableParts(this.#run, this.#config));
  }

  async #identityOf({ schema }: TableParts): Promise<TableIdentity> {
    const { rows } = await this.#ask('looking at the change table', {
      sql: `SELECT origin, pruned FROM ${partNames(this.#config, schema).state}`,
      bindings: [],
    });
    const [origin, pruned] = rows[0] ?? ['', '0'];
    return { origin: origin!, pruned: pruned! };
  }

  async #end({ schema }: TableParts): Promise<string> {
    const sql = `SELECT COALESCE(MAX(seq), 0) FROM ${partNames(this.#config, schema).changes}`;
    return (await this.#ask('looking at the change table', { sql, bindings: [] })).rows[0]![0]!;
  }

  /** Tries, because rights may come from roles. */
  async #canRead({ schema, hasState }: TableParts): Promise<boolean> {
    const { changes, state } = partNames(this.#config, schema);
    return (
      hasState &&
      (await isAllowed(() =>
        this.#ask('trying to read', { sql: `SELECT 1 FROM ${changes}, ${state} LIMIT 0`, bindings: [] }),
      ))
    );
  }

  /** Tries, without writing anything. */
  async #canPrune({ schema }: TableParts): Promise<boolean> {
    const { changes, state } = partNames(this.#config, schema);
    return (
      (await isAllowed(() => this.#write(`UPDATE ${state} SET pruned = 0 WHERE FALSE`))) &&
      (await isAllowed(() => this.#write(`DELETE FROM ${changes} WHERE FALSE`)))
    );
  }

  /** All numbers that have been seen until now. */
  async #horizon(changes: string): Promise<Horizon> {
    const { rows } = await this.#ask('reading changes', {
      sql: `SELECT MAX(seq), UTC_TIMESTAMP(6) FROM ${changes}`,
      bindings: [],
    });
    return { through: BigInt(rows[0]![0]!), since: rows[0]![1]! };
  }

  /** Waits a moment for {@link #hasPassed}. */
  async #passes(horizon: Horizon, seq: bigint, changes: string, signal?: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + milliseconds('missingChanges');
    while (true) {
      if (await this.#hasPassed(horizon, seq, changes)) return true;
      if (performance.now() > deadline) return false;
      await sleep(milliseconds('missingChangesPoll'), undefined, { signal });
    }
  }

  /** Whether numbers that are missing after `seq`, and had been given out at the horizon, stay missing. */
  async #hasPassed({ through, since }: Horizon, seq: bigint, changes: string): Promise<boolean> {
    const { oldest, before } = await this.#database.attempt('looking for open transactions', () =>
      oldestOpenTransaction(this.#database.session, seconds('unseenChanges')),
    );
    if (oldest !== null && since < oldest) return true;
    if (since >= before) return false;
    // Waits for those who have written rows that are not committed.
    const sql = `SELECT COUNT(*) FROM ${changes} WHERE seq > ${seq} AND seq <= ${through} LOCK IN SHARE MODE`;
    try {
      await this.#database.once('waiting for open transactions', () =>
        this.#database.session.run({ sql, bindings: [] }),
      );
      return true;
    } catch (error) {
      if (error instanceof PartnerSyncError && error.code === 'source_query_failed') return false;
      throw error;
    }
  }

  async #examine(
    tables: readonly PlannedTable[],
    { schema, cascades }: TableParts,
  ): Promise<{ recorded: RecordedTable[]; findings: FeedFinding[] }> {
    const names = ['', ...tables.map(({ table }) => table.name)].map(textLiteral).join(', ');
    const { rows: found } = await this.#ask('reading the catalogue', {
      sql: `SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (${names})`,
      bindings: [],
    });
    const recorded: RecordedTable[] = [];
    const findings: FeedFinding[] = [];
    for (const planned of tables) {
      const { table } = planned;
      const facts = found.find(([name]) => name === table.name);
      if (table.schema !== null && table.schema !== schema)
        findings.push(
          blocking('not-publishable', planned, `it is in another database than ${schema}, that of the address`),
        );
      else if (facts === undefined) findings.push(missingTable(planned));
      else if (facts[1] !== 'BASE TABLE')
        findings.push(
          blocking('not-publishable', planned, 'it is no table; name in changes.tables those that it reads'),
        );
      else {
        const unusable = await this.#keyTexts.unusable(planned);
        findings.push(...unusable.map((column) => unusableKey(planned, column)));
        const types = await this.#keyTexts.types(planned);
        if (unusable.length === 0 && types !== null) recorded.push({ ...planned, types });
        const parents = cascades.filter((each) => each.table === table.name).map(({ parent }) => parent);
        if (parents.length > 0) findings.push(cascading(planned, parents));
      }
    }
    return { recorded, findings };
  }
}

const cascading = (planned: PlannedTable, parents: readonly string[]): FeedFinding =>
  toKnow(
    'not-recorded',
    planned,
    `what its foreign keys to ${[...new Set(parents)].join(', ')} change or delete in it by CASCADE or SET NULL fires no trigger, and is not told`,
  );

async function isAllowed(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof PartnerSyncError && REFUSED.includes(error.code)) return false;
    throw error;
  }
}

const pruningGrants = (config: TableConfig, parts: TableParts): string => {
  const { changes, state } = partNames(config, parts.schema);
  const account = quotedAccount(parts.account);
  return `GRANT DELETE ON ${changes} TO ${account}; GRANT UPDATE ON ${state} TO ${account}`;
};

const STANDBY = 'the server takes no writes, as a replica does; a change table is read from the primary';
const OTHERS =
  'other servers take writes, too (auto_increment_increment, wsrep_on), so that nobody knows which row of a change table is the next';

function problemOf(
  { table }: TableConfig,
  { standby, hasOtherWriters, hasChanges, hasState }: TableParts,
  identity: TableIdentity | null,
  end: string,
): TableProblem | null {
  if (standby) return { text: STANDBY, isLost: false };
  if (hasOtherWriters) return { text: OTHERS, isLost: false };
  if (!hasChanges)
    return { text: `there is no change table "${table}", or none that the account may read`, isLost: true };
  if (!hasState) return { text: `there is no table "${table}_state" beside the change table`, isLost: true };
  if (identity === null) return { text: `the account may not read the change table "${table}"`, isLost: false };
  if (BigInt(end) < BigInt(identity.pruned))
    return { text: `the change table "${table}" was emptied; remove it, and install it again`, isLost: true };
  return null;
}

const serverFindings = ({ standby, hasOtherWriters }: TableParts): FeedFinding[] => [
  ...(standby ? [ofServer('standby', STANDBY)] : []),
  ...(hasOtherWriters ? [ofServer('several-writers', OTHERS)] : []),
];

const differing = (config: TableConfig, recorded: RecordedTable, parts: TableParts): FeedFinding[] =>
  TRIGGER_KINDS.flatMap((kind) => {
    const name = triggerName(config, recorded.table, kind);
    const part = parts.triggers.find((each) => each.name === name);
    return part === undefined || part.body === triggerBody(config, parts, recorded, kind)
      ? []
      : [
          differs(
            `the trigger ${name} of ${recorded.table.name} is not the one that would be installed; remove it, and install again`,
            dropTrigger(name, parts),
          ),
        ];
  });
