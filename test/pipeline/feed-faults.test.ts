/**
 * Every transport failure while change feeds are read over the real December data, and those of the source that only a feed has: the
 * platform has every change in the end, deletions included, record by record.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCampaign, seeds } from '../campaign.js';
import { isHere } from '../here.js';
import { seeded } from '../seeded.js';
import { mariadb, postgresOn, sqlite } from '../source/dialect-databases.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { fedRetail, type FedBy, type FedRetail } from './fed-retail.js';
import { differences } from './retail.js';
import { eventually, NO_OPEN_ENDS, openEnds, reportOf } from './shop.js';
import { concerns, LOOKS, UPLOADS } from './transport-faults.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const SLOT: FedBy = {
  name: 'a slot of PostgreSQL',
  dialect: postgresOn(() => server.url('postgres')),
  changes: '{ slot: retail, publication: retail }',
};
const TABLES: readonly FedBy[] = [mariadb, sqlite].map((dialect) => ({
  name: `a change table of ${dialect.name}`,
  dialect,
  changes: '{ table: retail_changes }',
}));

const LIMITS = { batchSize: 10, inDoubtDelay: '1s', batchDeadline: '20s', waitForPending: '10s' };
/** A response that never comes is waited for half a minute; runs that go by a cursor meet some on each commit. */
const hangs = (what: string): boolean => what.startsWith('answers that never come');
const FAULTS = Object.entries({ ...UPLOADS, ...LOOKS }).filter(([what]) => inCampaign(!hangs(what), true));

/** Every change has arrived, and nothing is left to do. */
async function expectInStep(shop: FedRetail): Promise<void> {
  shop.proxy.fail(undefined);
  // The key of a row whose record was undecided when it was read is left to the next run, and a child that was sent in vain waits a minute.
  const leavesNothing = async (): Promise<boolean> => {
    const { outcome } = await shop.run();
    return outcome === 'complete' && (await changedRows(shop)) === 0;
  };
  await eventually('that a run leaves nothing', leavesNothing, 240);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await differences(shop, ['customers', 'transactions'])).toBe(0);
}

const changedRows = async ({ state }: FedRetail): Promise<number> =>
  (await state.query<{ n: number }>('SELECT count(*)::int AS n FROM partner_sync.changed_rows'))[0]!.n;

describe.each([SLOT, ...TABLES].filter(({ dialect }) => isHere(dialect.name)))('fed by $name', (by) => {
  it('delivers every change through each fault in turn, by a live run', async () => {
    const shop = await fedRetail(by, LIMITS);
    const random = seeded(1);
    const run = await shop.start('sync', { sync: 'shop', mode: 'live' });
    for (const [what, fault] of FAULTS) {
      let met = 0;
      shop.proxy.fail((request) => (concerns(what, request) && request.no % 3 === 0 ? (met++, fault()) : undefined));
      await eventually(`that requests meet "${what}"`, async () => {
        await shop.change(random);
        return met > 0;
      });
    }
    shop.proxy.fail(undefined);
    // Temporal pauses before it tries an activity again that has failed often, and rows that were left are read again later.
    await eventually('that all is delivered', async () => (await changedRows(shop)) === 0, 240);
    await run.cancel();
    expect(await reportOf(run)).toMatchObject({ mode: 'live' });
    await expectInStep(shop);
  });

  it('delivers the rows whose changes the source has forgotten, if the run is lost before it has read them', async () => {
    const shop = await fedRetail(by, LIMITS);
    await shop.change(seeded(3));
    const unlock = await lock(shop, 'partitions');
    const run = await shop.start('sync', { sync: 'shop' });
    // The run plans what it reads once the feed was told that it need not keep the changes.
    await untilLedgerWaits(shop, 'partitions');
    expect(await changedRows(shop)).toBeGreaterThan(20);
    await run.terminate();
    await unlock();
    await expectInStep(shop);
  });

  it.each(seeds())('delivers every change through mixed faults, by incremental runs (TEST_SEED=%i)', async (seed) => {
    const shop = await fedRetail(by, LIMITS);
    const random = seeded(seed);
    let met = 0;
    shop.proxy.fail((request) => {
      const faults = FAULTS.filter(([what]) => concerns(what, request));
      if (faults.length === 0 || random(100) >= 25) return undefined;
      met++;
      return faults[random(faults.length)]![1]();
    });
    for (let each = 0; each < inCampaign(3, 15); each++) {
      await shop.change(random);
      // Changes go on while the run reads and delivers.
      const run = shop.run();
      await shop.change(random);
      await run;
    }
    expect(met).toBeGreaterThan(5);
    await expectInStep(shop);
  });
});

/** Resolves when a statement of the ledger that names this table waits for a lock. */
const untilLedgerWaits = ({ state }: FedRetail, table: string): Promise<unknown> =>
  eventually(`that the ledger waits for ${table}`, async () => {
    const waiting = await state.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
      [table],
    );
    return waiting.length > 0;
  });

/** Locks a table of the ledger, so that whoever is to write into it waits. Returns what ends that. */
async function lock({ state }: FedRetail, table: string): Promise<() => Promise<void>> {
  const session = await state.connect();
  await session.query(`BEGIN; LOCK TABLE partner_sync.${table} IN EXCLUSIVE MODE`);
  return () => session.end();
}

it.each([
  ['the connection is lost', ''],
  [
    'the slot is dropped, and created anew without what had changed',
    `PERFORM pg_drop_replication_slot('retail'); PERFORM pg_create_logical_replication_slot('retail', 'pgoutput');`,
  ],
])('loses no change of a slot if, in the middle of reading it, %s', async (_, then) => {
  const shop = await fedRetail(SLOT, LIMITS);
  const random = seeded(2);
  for (let each = 0; each < 5; each++) await shop.change(random);
  const unlock = await lock(shop, 'changed_rows');
  const run = await shop.start('sync', { sync: 'shop' });
  await untilLedgerWaits(shop, 'changed_rows');
  await shop.database.run(
    `DO $$ BEGIN PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'partner-sync';
     WHILE (SELECT active FROM pg_replication_slots WHERE slot_name = 'retail') LOOP
       PERFORM pg_sleep(0.05); PERFORM pg_stat_clear_snapshot(); END LOOP;
     END $$`,
  );
  if (then !== '') await shop.database.run(`DO $$ BEGIN ${then} END $$`);
  await shop.change(random);
  await unlock();
  await reportOf(run);
  await expectInStep(shop);
});
