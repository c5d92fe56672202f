/** What must hold of every story: while it is told, when a run ends, and at its end. */
import { isBalanced, type RunReport } from '../../src/domain/run/run.js';
import type { Chronicle } from './chronicle.js';
import type { LedgerDatabase } from './ledger-database.js';
import { storedKey, type PlatformModel, type StoredRecord } from './platform-model.js';
import { expectedRecords, faultOf, SHAPES, shopOf, TENANTS, versionOf, type TableName } from './shop.js';
import type { Row, SourceModel } from './source-model.js';
import type { Writer } from './writer.js';

export class Checker {
  readonly #source: SourceModel;
  readonly #writer: Writer;
  readonly #database: LedgerDatabase;
  readonly #chronicle: Chronicle;

  constructor(source: SourceModel, writer: Writer, database: LedgerDatabase, chronicle: Chronicle) {
    this.#source = source;
    this.#writer = writer;
    this.#database = database;
    this.#chronicle = chronicle;
  }

  /** Each record that the platform stores: of the right tenant, and never older than what it has. */
  applied(
    tenant: string,
    schema: string,
    externalId: string,
    data: Readonly<Record<string, unknown>>,
    before: StoredRecord | undefined,
  ): void {
    const key = storedKey(tenant, schema, externalId);
    if (data['name'] === undefined) return;
    if (TENANTS[shopOf(data['name'])] !== tenant)
      this.#violate(`wrong tenant: ${key} was sent ${JSON.stringify(data)}`);
    const [now, had] = [versionOf(data['name']), versionOf(before?.data['name'])];
    // Of a version that a row has had twice nobody can tell which is meant: the end shows whether it was the right one.
    if (now < had && !this.#writer.hasRepeated(now) && !this.#writer.hasRepeated(had))
      this.#violate(`older over newer: ${key} had v${had} and was sent v${now}`);
  }

  /**
   * No record is in two batches in flight, or in one with other content than what is in doubt. A dead letter says that the platform
   * refused the record for what it contains only if the platform has done so, and none says that two rows have the same external id.
   * Nothing can be asked while a session is in a transaction.
   */
  async ledgerNow(platform: PlatformModel): Promise<void> {
    if (!this.#database.isFree) return;
    for (const { what, id, tenant, mapping } of await this.#rows<Finding>(AT_ANY_MOMENT)) {
      if (what === 'held back') this.#chronicle.saw('newer content waited for what was in doubt');
      else if (what !== 'refused') this.#violate(`${mapping}/${tenant}/${id} ${what}`);
      else {
        const key = storedKey(tenant, SHAPES[mapping as TableName].schema, id);
        if (!platform.hasRefused(key)) this.#violate(`${key} is a dead letter, and the platform has never refused it`);
      }
    }
  }

  /**
   * A run that reads all rows of `tables` has counted each of them once, but for those that came or went since it `began`.
   * Parents that it has fetched by their keys are counted beside them.
   */
  async read(
    workflowId: string,
    { run, mappings, removals }: RunReport,
    tables: readonly string[],
    began: number,
  ): Promise<void> {
    this.#chronicle.saw('the rows that a run has read were counted');
    const all = await this.#rows<{ run: string; mapping: string; read: number }>(
      `SELECT p.run_id::text AS run, m.name AS mapping, sum(c.read)::int AS read FROM partner_sync.partition_counts c
       JOIN partner_sync.partitions p ON p.id = c.partition_id JOIN partner_sync.mappings m ON m.id = p.mapping_id
       WHERE p.kind = 'by_key' GROUP BY 1, 2`,
    );
    const byKey = all.filter((each) => each.run === String(run));
    for (const { mapping, read: everything } of mappings) {
      if (!tables.includes(mapping)) continue;
      const removed = removals
        .filter((plan) => plan.mapping === mapping)
        .reduce((sum, plan) => sum + plan.marked + plan.waiting + plan.deadLettered, 0);
      const read = everything - removed - (byKey.find((each) => each.mapping === mapping)?.read ?? 0);
      const { always, ever } = this.#source.rowsSince(mapping, began);
      if (read >= always && read <= ever) continue;
      const there = always === ever ? String(ever) : `${always} to ${ever}`;
      this.#violate(`${workflowId} has read ${read} of ${there} rows of ${mapping}`);
    }
  }

  /**
   * A run that says `complete` has left nothing undelivered, and each row that it has read has its one outcome. A backfill
   * answers for its own rows only, and a run in mode live for what is left: it may have delivered the rows of its dead letters since.
   */
  report(workflowId: string, report: RunReport): void {
    this.#chronicle.saw(`a run ended ${report.outcome}`);
    if (report.outcome === 'incomplete') return;
    for (const mapping of report.mappings) {
      const { waiting, deadLettered } = mapping;
      const undelivered = report.kind === 'sync' ? mapping.undelivered : { waiting: 0, deadLettered: 0 };
      const isUndelivered = waiting > 0 || undelivered.waiting > 0;
      const dead = undelivered.deadLettered + (report.mode === 'live' ? 0 : deadLettered);
      const isDead = report.outcome === 'complete' && dead > 0;
      if (isUndelivered || isDead || !isBalanced(mapping))
        this.#violate(`${workflowId} is ${report.outcome}, and has counted ${JSON.stringify(mapping)}`);
    }
  }

  /**
   * A run in mode live that says `complete` has left nothing of any mapping. Others that end with it, or later, may have; rows that
   * another run may have read are delivered, and only looked at once more.
   */
  async nothingLeft(workflowId: string, { run, mode, outcome }: RunReport): Promise<void> {
    if (mode !== 'live' || outcome === 'incomplete' || !this.#database.isFree) return;
    const left = await this.#rows<{ mapping: string; waiting: number; changed: number; run: string }>(`
      SELECT r.id::text AS run, m.name AS mapping,
        (SELECT count(*)::int FROM partner_sync.waiting w WHERE w.mapping_id = m.id) AS waiting,
        (SELECT count(*)::int FROM partner_sync.changed_rows c WHERE c.mapping_id = m.id AND c.after_run IS NULL) AS changed
      FROM partner_sync.mappings m, partner_sync.runs r
      WHERE NOT EXISTS (SELECT FROM partner_sync.runs o WHERE o.id <> r.id AND (o.ended_at IS NULL OR o.ended_at >= r.ended_at))`);
    for (const { mapping, waiting, changed } of left.filter((each) => each.run === String(run)))
      if (waiting + changed > 0)
        this.#violate(
          `${workflowId} is ${outcome}, and ${waiting} records of ${mapping} wait, and ${changed} rows are on its list`,
        );
  }

  /** Whether some rows cannot be delivered: they, or their parents. */
  hasUndeliverable(): boolean {
    return Object.keys(SHAPES).some((name) =>
      [...this.#source.rows(name).values()].some((row) => faultOf(row) !== null || this.#isOrphan(name, row)),
    );
  }

  #isOrphan(name: string, row: Row): boolean {
    const { parent } = SHAPES[name as keyof typeof SHAPES];
    if (parent === null) return false;
    const parentRow = this.#source.rows(parent.table).get(`${row['shop']}/${row[parent.column]}`);
    return parentRow === undefined || faultOf(parentRow) !== null || this.#isOrphan(parent.table, parentRow);
  }

  /** No row is lost, and nothing stale is left. */
  records(platform: PlatformModel): void {
    for (const wrong of this.missing(platform, 'at the end')) this.#violate(wrong);
  }

  /** Whether the platform has a row as it is. */
  isDelivered(platform: PlatformModel, table: string, row: Row): boolean {
    const { schema, column } = SHAPES[table as TableName];
    const stored = platform.stored.get(storedKey(TENANTS[row['shop']!]!, schema, row[column]!));
    return stored?.data['name'] === row['name'];
  }

  /** Which rows that can be delivered the platform does not have as they are. */
  missing(platform: PlatformModel, when: string): string[] {
    return [...expectedRecords(this.#source)].flatMap(([key, record]) => wrongWith(platform, key, record, when));
  }

  /**
   * After a run of the sync that has left nothing undelivered, the platform has each row that was `due` when the run began and has not
   * changed since, whatever other runs do: it has read the row, or one before it has.
   */
  delivered(platform: PlatformModel, workflowId: string, due: ReadonlySet<Row>): void {
    this.#chronicle.saw('a complete run was compared with the platform');
    const expected = expectedRecords(this.#source);
    for (const [name, { schema, column }] of Object.entries(SHAPES))
      for (const row of this.#source.rows(name).values()) {
        const key = storedKey(TENANTS[row['shop']!]!, schema, row[column]!);
        const record = expected.get(key);
        if (record !== undefined && due.has(row))
          for (const wrong of wrongWith(platform, key, record, `after ${workflowId}`)) this.#violate(wrong);
      }
  }

  /** Records without a row are marked as deleted. */
  vanished(platform: PlatformModel): void {
    for (const wrong of this.left(platform)) this.#violate(wrong);
  }

  /** Which records without a row are not marked as deleted. */
  left({ stored }: PlatformModel): string[] {
    const expected = expectedRecords(this.#source);
    return [...stored].flatMap(([key, { data }]) =>
      expected.has(key) || this.#isKept(key) || data['status'] === 'deleted'
        ? []
        : [`left: ${key} has no row, and is ${JSON.stringify(data)}`],
    );
  }

  /** A record whose row is gone, while one is there that may be its own. */
  isNotMarked({ stored }: PlatformModel, key: string): void {
    this.#chronicle.saw('a row of no known tenant may have been the one that was gone');
    if (stored.get(key)!.data['status'] === 'deleted')
      this.#violate(`marked: ${key}, although a row that cannot be mapped may be its own`);
  }

  /** Whether a record may stay as it is though its row cannot be delivered now: it was delivered before. */
  #isKept(key: string): boolean {
    return Object.entries(SHAPES).some(([name, { schema, column }]) =>
      [...this.#source.rows(name).values()].some(
        (row) => storedKey(TENANTS[row['shop']!]!, schema, row[column]!) === key,
      ),
    );
  }

  /** No batch is open, except with records that wait in it, no lease is held, and every run has ended. */
  async ledger(): Promise<void> {
    const [open] = await this.#rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM partner_sync.batches b WHERE state IN ('intended', 'sent')
         OR state = 'pending' AND NOT EXISTS (SELECT FROM partner_sync.waiting w WHERE w.batch_id = b.id)`,
    );
    if (open!.n > 0) this.#violate(`${open!.n} batches are open at the end`);
    const [leases] = await this.#rows<{ n: number }>('SELECT count(*)::int AS n FROM partner_sync.sync_leases');
    if (leases!.n > 0) this.#violate('the lease of the sync is held at the end');
    const [running] = await this.#rows<{ n: number }>(
      'SELECT count(*)::int AS n FROM partner_sync.runs WHERE ended_at IS NULL',
    );
    if (running!.n > 0) this.#violate(`${running!.n} runs have no end`);
    const resumed = await this.#rows<{ mode: string }>(
      `SELECT DISTINCT r.mode FROM partner_sync.partitions p JOIN partner_sync.runs r ON r.id = p.run_id
         JOIN partner_sync.partitions c ON c.run_id = p.run_id AND c.mapping_id = p.mapping_id AND c.kind = 'changed_rows'
         JOIN partner_sync.partitions e ON e.mapping_id = p.mapping_id AND e.run_id < p.run_id AND p.after_key = e.resume_key
       WHERE p.kind = 'planned' AND e.kind = 'planned' AND NOT e.done`,
    );
    for (const { mode } of resumed) this.#chronicle.saw(`a load went on where another run had stopped: ${mode}`);
  }

  #rows<T>(sql: string): Promise<T[]> {
    return this.#database.turns.kernel.real(() => this.#database.rows<T>(sql));
  }

  #violate(what: string): void {
    this.#chronicle.violate(what);
  }
}

/** What is found of a record. */
type Finding = Record<'what' | 'mapping' | 'tenant' | 'id', string>;

/** Records with content hashes, of a table that has them as batches do. */
const contents = (rows: string): string => `
  SELECT r.mapping_id, r.tenant_id, e.id, substring(r.content_hashes FROM 1 + 16 * (e.no::int - 1) FOR 16) AS hash
  FROM partner_sync.${rows}, json_array_elements_text(r.external_ids) WITH ORDINALITY AS e(id, no)`;
const IN_DOUBT = contents('doubts r').concat(' WHERE r.until > now()');
const IN_FLIGHT = contents('batches r').concat(` WHERE r.state IN ('intended', 'sent')`);

/** Each a query of `mapping_id`, `tenant_id` and `id`. What a child lacked is the reason of other dead letters than the refused ones. */
const FOUND_AT_ANY_MOMENT: Readonly<Record<string, string>> = {
  'is in two batches in flight': `SELECT mapping_id, tenant_id, id FROM (${IN_FLIGHT}) f GROUP BY 1, 2, 3 HAVING count(*) > 1`,
  'is in flight with other content than what is in doubt': `
    SELECT mapping_id, tenant_id, id FROM (${IN_DOUBT}) d JOIN (${IN_FLIGHT}) f USING (mapping_id, tenant_id, id) WHERE d.hash <> f.hash`,
  'held back': `
    SELECT d.mapping_id, d.tenant_id, d.id FROM (${IN_DOUBT}) d
    JOIN partner_sync.waiting w ON (w.mapping_id, w.tenant_id, w.external_id) = (d.mapping_id, d.tenant_id, d.id)
    WHERE w.reason = 'contended' AND w.batch_id IS NULL`,
  'is a dead letter for a second row, and there is none': `
    SELECT mapping_id, tenant_id, external_id AS id FROM partner_sync.dead_letters WHERE code = 'duplicate_external_id'`,
  refused: `
    SELECT mapping_id, tenant_id, external_id AS id FROM partner_sync.dead_letters
    WHERE code = 'platform_refused' AND rule = 'refused by the platform' AND missing IS NULL`,
};

const AT_ANY_MOMENT = `
  SELECT found.what, m.name AS mapping, t.platform_id AS tenant, found.id FROM (${Object.entries(FOUND_AT_ANY_MOMENT)
    .map(([what, query]) => `SELECT '${what}' AS what, * FROM (${query}) q`)
    .join(' UNION ALL ')}) found
  JOIN partner_sync.mappings m ON m.id = found.mapping_id JOIN partner_sync.tenants t ON t.id = found.tenant_id`;

/** What is wrong with a record that the platform must have; nothing if it has it as it must be. */
function wrongWith(
  { stored: all }: PlatformModel,
  key: string,
  record: Record<string, string>,
  when: string,
): string[] {
  const stored = all.get(key);
  if (stored === undefined) return [`lost: ${key} is not on the platform ${when}`];
  if (isEqual(normal(stored.data), record)) return [];
  return [`stale: ${key} is ${JSON.stringify(stored.data)} ${when}, and must be ${JSON.stringify(record)}`];
}

/** The platform shows references as objects or as ids. */
const normal = (data: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null && 'id' in value ? value.id : value,
    ]),
  );

const isEqual = (a: Record<string, unknown>, b: Record<string, unknown>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => a[name] === b[name]);
