/** The audit: what is written to it with each action, and that nobody changes it. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { setRate } from '../../src/delivery/run/set-rate.js';
import { DEFAULT_RETENTION } from '../../src/domain/sync/retention.js';
import type { NewRun } from '../../src/ledger/runs/runs.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();
const ANA = { who: 'ana@ops', origin: 'cli' } as const;

const begin = (sync: string, more: Partial<NewRun> = {}): Promise<string> =>
  newRun(the.ledger, { sync, kind: 'sync', mode: 'full', start: { trigger: 'cli', by: 'ana@ops' }, ...more });
const entriesOf = async (sync: string) => the.ledger.audit.latest({ sync, limit: 100 });

it('tells who started a run, once, and nothing of the records that were asked for', async () => {
  const sync = randomUUID();
  const input = { sync, mapping: 'customers', externalIds: ['canary-1', 'canary-2'] };
  const more = { kind: 'backfill', mode: 'backfill', input, firstExecutionRunId: randomUUID() } as const;
  const id = await begin(sync, more);
  await begin(sync, more);

  const entries = await entriesOf(sync);
  expect(entries).toMatchObject([
    {
      sync,
      action: 'run_started',
      actor: ANA,
      subject: { run: id, kind: 'backfill', mode: 'backfill', mappings: ['customers'], records: 2 },
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain('canary');
});

it('has the runs that people start, from wherever, and not those of schedules', async () => {
  const sync = randomUUID();
  await begin(sync, { start: { trigger: 'schedule', by: 'partner-sync/shop/hourly' } });
  await begin(sync, { start: { trigger: 'other', by: null } });

  expect((await entriesOf(sync)).map(({ actor }) => actor)).toEqual([{ who: null, origin: 'temporal' }]);
});

it('tells of dead letters that were replayed by which filter, and of those that were dropped', async () => {
  const sync = randomUUID();
  const input = { sync, replay: { codes: ['record_invalid'] } };
  const id = await begin(sync, { kind: 'backfill', mode: 'replay', input });
  const mappingId = await the.ledger.ids.mappingId(sync, 'customers');
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
  await the.ledger.partitions.plan(id, mappingId, [{ ...bounds, byCursor: true, movesPosition: false }]);
  const [planned] = await the.ledger.partitions.planned(id, mappingId);
  const deadLetter = {
    tenantId: 0,
    externalId: 'canary',
    sourceKey: ['canary'],
    code: 'record_invalid' as const,
    pointer: '/email',
    rule: 'format',
    reason: '-',
    shape: '-',
  };
  await the.ledger.checkpoint(
    await the.ledger.partitions.acquire(planned!.id),
    await the.outcome(null, [], 'deadLettered', { deadLetters: [deadLetter] }),
  );

  const { deadLetters } = the.ledger;
  expect(await deadLetters.drop(sync, { fields: ['/email'] }, '0', ANA)).toBe(0);
  const newest = await deadLetters.newestOf(sync);
  expect(await deadLetters.drop(sync, { fields: ['/email'] }, newest, ANA)).toBe(1);
  expect(await deadLetters.drop(sync, { fields: ['/email'] }, newest, ANA)).toBe(0);

  const entries = await entriesOf(sync);
  expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
    ['dead_letters_dropped', { rows: 1, filter: { fields: ['/email'] } }],
    ['dead_letters_replayed', { run: id, kind: 'backfill', mode: 'replay', filter: { codes: ['record_invalid'] } }],
  ]);
  expect(JSON.stringify(entries)).not.toContain('canary');
});

it('tells who approved removal plans, of how many records', async () => {
  const sync = randomUUID();
  const id = await begin(sync);
  const plan = await the.ledger.removals.open(id, await the.ledger.ids.mappingId(sync, 'customers'), '{}');
  await the.ledger.removals.decide(plan, 'awaiting_approval', { records: 7, accepted: 9 });

  const approval = { sync, run: '77', actor: ANA };
  await the.ledger.removals.approve([plan.id], approval);
  await the.ledger.removals.approve([plan.id], approval);

  expect((await entriesOf(sync)).filter(({ action }) => action === 'removals_approved')).toMatchObject([
    { actor: ANA, subject: { run: '77', plans: [plan.id], records: 7 } },
  ]);
});

it('tells who let a run on hold go on, once', async () => {
  const sync = randomUUID();
  const id = await begin(sync);
  const mappingId = await the.ledger.ids.mappingId(sync, 'customers');
  await the.ledger.guards.begin(id, mappingId);
  const by = { sync, actor: ANA, subject: { run: id, mapping: 'customers', reason: 'new price list' } };

  await the.ledger.guards.approve(id, mappingId, 'empty', by);
  await the.ledger.guards.approve(id, mappingId, 'empty', by);

  expect((await entriesOf(sync)).filter(({ action }) => action === 'hold_approved')).toMatchObject([by]);
});

it('tells once of an Update whose activity is tried again, and of each Update', async () => {
  const sync = randomUUID();
  const paused = { sync, action: 'run_paused', actor: ANA, subject: { run: '1' } } as const;
  for (const key of ['e1/u1', 'e1/u1', 'e2/u1']) await the.ledger.audit.add({ ...paused, key: sync + key });
  const rate = { runId: '1', sync, rate: { requestsAtOnce: 2 }, reason: null, actor: ANA, key: `${sync}e1/u2` };
  for (let attempt = 1; attempt <= 2; attempt++) await setRate(the, rate);

  expect((await entriesOf(sync)).map(({ id: _, at: __, ...entry }) => entry)).toEqual([
    { sync, action: 'rate_set', actor: ANA, subject: { run: '1', requestsAtOnce: 2 } },
    paused,
    paused,
  ]);
});

it('is written with the action or not at all', async () => {
  const sync = randomUUID();
  // An account that may not write to the audit.
  await the.database.query(`CREATE FUNCTION partner_sync.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused'; END $$`);
  await the.database.query(
    `CREATE TRIGGER refuse BEFORE INSERT ON partner_sync.audit EXECUTE FUNCTION partner_sync.refuse()`,
  );
  try {
    await expect(begin(sync)).rejects.toThrow();
    expect(await the.ledger.runs.latest(sync, 10)).toEqual([]);
  } finally {
    await the.database.query('DROP TRIGGER refuse ON partner_sync.audit');
  }
});

it.each(['UPDATE partner_sync.audit SET who = NULL', 'DELETE FROM partner_sync.audit', 'TRUNCATE partner_sync.audit'])(
  'refuses %s',
  async (sql) => {
    const sync = randomUUID();
    await begin(sync);
    await expect(the.database.query(sql)).rejects.toThrow(
      /the audit is append-only: (UPDATE|DELETE|TRUNCATE) is refused/,
    );
    expect(await entriesOf(sync)).toHaveLength(1);
  },
);

it('loses old entries by pruning, and no others', async () => {
  const sync = randomUUID();
  const other = randomUUID();
  for (const each of [sync, other]) await begin(each);
  const in401Days = new Date(Date.now() + 401 * 86_400_000);

  expect((await the.ledger.retention.prune(sync, DEFAULT_RETENTION)).removed.every(({ rows }) => rows === 0)).toBe(
    true,
  );
  const { removed } = await the.ledger.retention.prune(sync, DEFAULT_RETENTION, { asOf: in401Days });

  expect(removed.find(({ kind }) => kind === 'audit')).toMatchObject({ rows: 1 });
  expect(await entriesOf(sync)).toEqual([]);
  expect(await entriesOf(other)).toHaveLength(1);
});

it('shows the newest entries first, of one sync or of all, from a time on', async () => {
  const sync = randomUUID();
  const runs = [await begin(sync), await begin(sync), await begin(sync)];
  const { audit } = the.ledger;
  const shown = async (filter: object) =>
    (await audit.latest({ limit: 2, ...filter })).map(({ subject }) => subject['run']);

  expect(await shown({ sync })).toEqual([runs[2], runs[1]]);
  expect(await shown({})).toEqual([runs[2], runs[1]]);
  expect(await shown({ sync, since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([]);
});
