/** The shapes that runs and other workflows can have: how each comes about, and what its history must show. */
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { alertsWorkflowId } from '../../src/domain/run/work.js';
import { loadAlerts } from '../../src/mapping/load-alerts.js';
import type { RunInput } from '../../src/domain/run/run.js';
import { onTestFinished } from 'vitest';
import { dropSlot } from '../source/slot-server.js';
import { startWebhook } from '../alerts/targets.js';
import {
  eventually,
  fill,
  reportOf,
  SYNC,
  text,
  untilIdle,
  UNSURE_CUSTOMERS,
  type Shop,
  type ShopSettings,
} from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';

export interface Shape {
  readonly settings?: ShopSettings;
  /** Leads to the workflow and starts it; the recorder waits for its end. */
  readonly record: (shop: Shop) => Promise<WorkflowHandle>;
  /** How the last execution ends, as `endOf` says it. */
  readonly ends: string;
  /** What must be done in it, and what must not, as `stepsOf` says it. */
  readonly does?: readonly string[];
  readonly lacks?: readonly string[];
  /** Whether it continues as a new execution: it is recorded on a server that suggests that early. */
  readonly continues?: boolean;
  /** Whether the workflow ends its run and begins another one, as a new execution. */
  readonly beginsAgain?: boolean;
}

/** Customers in each shop, with an order of one line each. */
const CUSTOMERS = 20;
const GUARD = '{ changed: 30 %, deadLettered: 5 %, gone: 10 %, records: 5 }';
const IMPATIENT_GUARD = GUARD.replace('}', ', wait: 1s }');
const HOLD = 'hold: { records: 0, percent: 20 }';
const customersWith = (deletes: string): Record<string, string> => ({
  'customers.mapping.yaml': `${filesOf({})['customers.mapping.yaml']!}deletes: { action: { set: { status: gone } }, ${deletes} }\n`,
});
const PATIENT: ShopSettings = { wait: '5m', upload: { waitForPending: '20s' } };
/** The platform keeps an order pending, and no look-up can be sure that its customer will not come. */
const UNSURE: ShopSettings = { wait: '5m', upload: { waitForPending: '2m' }, files: UNSURE_CUSTOMERS };
const IMPATIENT: ShopSettings = { wait: '5m', upload: { waitForPending: '1s' } };

const start = (shop: Shop, input: Partial<RunInput> = {}) => shop.start('sync', { sync: SYNC, ...input });
const backfill = (shop: Shop, input: Partial<RunInput>) => shop.start('backfill', { sync: SYNC, ...input });

/** A shop that has been synchronised once. */
async function synced(shop: Shop): Promise<void> {
  await fill(shop, CUSTOMERS);
  await shop.run();
}
const change = (shop: Shop, where: string) =>
  shop.source.query(`UPDATE shop.customers SET name = 'Changed ' || id, updated_at = clock_timestamp() WHERE ${where}`);
const order = (shop: Shop, customer: number) =>
  shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', $1, 1)`, [customer]);
/** A slot tells the customers that have changed from now on; their records are marked when they are deleted. */
async function feed(shop: Shop): Promise<void> {
  const slot = new URL(shop.source.url).pathname.slice(1);
  await shop.source.query(`CREATE PUBLICATION ${slot} FOR TABLE shop.customers`);
  await shop.source.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot]);
  onTestFinished(() => dropSlot(shop.source, slot));
  const mapping = customersWith('hold: { records: 5, percent: 50 }')['customers.mapping.yaml']!;
  shop.write('customers.mapping.yaml', `${mapping}changes: { slot: ${slot}, publication: ${slot} }\n`);
}
/** A run that follows the feed, and has loaded all customers. */
async function follow(shop: Shop): Promise<WorkflowHandle> {
  const run = await start(shop, { mode: 'live', mappings: ['customers'] });
  await eventually('that all is loaded', async () => (await shop.stored('customer', String(CUSTOMERS))) !== null);
  return run;
}
/** A run that a schedule starts. */
async function startedBySchedule(shop: Shop, input: Partial<RunInput>): Promise<WorkflowHandle> {
  const schedule = await shop.client.schedule.create({
    scheduleId: randomUUID(),
    spec: {},
    action: {
      type: 'startWorkflow',
      workflowType: 'sync',
      workflowId: 'scheduled',
      taskQueue: shop.taskQueue,
      args: [{ sync: SYNC, ...input }],
    },
  });
  await schedule.trigger();
  const started = await eventually(
    'that it starts a run',
    async () => (await schedule.describe()).info.recentActions[0]?.action.workflow,
  );
  await schedule.delete();
  return shop.client.workflow.getHandle(started.workflowId);
}
const untilStatus = (shop: Shop, id: string, status: string) =>
  eventually(`that ${id} is ${status}`, async () => (await shop.stored('customer', id))?.['status'] === status);
/** The customer of an UNSURE shop comes, and another run delivers it. */
async function customerComes(shop: Shop, id: number): Promise<void> {
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES ($1, $2, 'A')`, [id, String(id)]);
  await shop.backfill({ mappings: ['customers'] });
}
const SLOW: ShopSettings = { upload: { inDoubtDelay: '1m', batchSize: 5, requestsAtOnce: 1 } };

/** Makes uploads take so long, and waits for the first one of `run`. */
async function slowly(shop: Shop, after: number, run: () => Promise<WorkflowHandle>): Promise<WorkflowHandle> {
  shop.proxy.forget();
  shop.proxy.fail(({ upload }) => (upload ? { forward: true, answer: 'pass', after } : undefined));
  const handle = await run();
  await eventually('the first upload', () => Promise.resolve(shop.proxy.uploads() > 0));
  return handle;
}

const untilOnHold = (run: WorkflowHandle) =>
  eventually('the run is on hold', async () => (await run.query<{ holds: object[] }, []>('progress')).holds.length > 0);

/** A run that is on hold, then approved. */
async function approved(run: WorkflowHandle): Promise<WorkflowHandle> {
  await untilOnHold(run);
  await run.executeUpdate('approve', { args: [{ reason: 'expected' }] });
  return run;
}

/** Waits until the run waits for parents. */
const untilWaiting = (run: WorkflowHandle) =>
  eventually('the run waits', async () => (await run.query<{ waits: object[] }, []>('progress')).waits.length > 0);

/** A family whose references form a cycle, in place of the shop. */
const STAFF: ShopSettings['other'] = {
  files: {
    'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\nupload: { inDoubtDelay: 1s, waitForPending: 20s }\n`,
    'employees.mapping.yaml': `schema: employee
source: { table: staff.employees }
key: [id]
fields: { employeeId: id, managerId: { ref: employees, column: manager_id }, departmentId: { ref: departments, column: department_id } }
`,
    'departments.mapping.yaml': `schema: department
source: { table: staff.departments }
key: [id]
fields: { departmentId: id, headId: { ref: employees, column: head_id } }
`,
    'employee.schema.json': JSON.stringify({
      name: 'employee',
      category: 'custom_schema',
      externalIdField: 'employeeId',
      schema: {
        type: 'object',
        properties: { employeeId: text, managerId: { $ref: 'employee' }, departmentId: { $ref: 'department' } },
        required: ['employeeId'],
      },
    }),
    'department.schema.json': JSON.stringify({
      name: 'department',
      category: 'custom_schema',
      externalIdField: 'departmentId',
      schema: {
        type: 'object',
        properties: { departmentId: text, headId: { $ref: 'employee' } },
        required: ['departmentId'],
      },
    }),
  },
  load: async (source) =>
    void (await source.query(`CREATE SCHEMA staff;
      CREATE TABLE staff.departments (id integer PRIMARY KEY, head_id integer);
      CREATE TABLE staff.employees (id integer PRIMARY KEY, manager_id integer, department_id integer);
      INSERT INTO staff.employees SELECT i, nullif(i + 1, 21), i % 2 + 1 FROM generate_series(1, 20) i;
      INSERT INTO staff.departments SELECT i, i + 10 FROM generate_series(1, 2) i`)),
};

const RUNS: Readonly<Record<string, Shape>> = {
  'incremental-first': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      return start(shop);
    },
    ends: 'complete',
    does: ['openRun', 'detectSchemaDrift', 'planMapping', 'loadPartition', 'pollPending', 'closeRun', 'pruneLedger'],
    lacks: ['sweepDeadLetters', 'removeVanished'],
  },
  'incremental-nothing-new': {
    record: async (shop) => {
      await synced(shop);
      return start(shop);
    },
    ends: 'complete',
  },
  'incremental-changes': {
    record: async (shop) => {
      await synced(shop);
      await change(shop, 'id <= 3');
      return start(shop);
    },
    ends: 'complete',
  },
  'incremental-by-feed': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await feed(shop);
      await shop.run();
      await shop.source.query(`UPDATE shop.customers SET name = 'Told' WHERE id <= 3`);
      await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
      return start(shop);
    },
    ends: 'complete',
    does: ['collectChanges', 'loadPartition', 'removeVanished'],
  },
  'incremental-after-stopped-load': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await feed(shop);
      const unavailable = { forward: false, answer: { status: 503, body: '{"success":false}' } } as const;
      shop.proxy.fail(({ upload }) => (upload ? unavailable : undefined));
      const stopped = await start(shop, { mappings: ['customers'] });
      await eventually('that it has planned its load', async () => {
        const [row] = await shop.state.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM partner_sync.partitions WHERE kind = 'planned' AND started_at IS NOT NULL`,
        );
        return row!.n > 0;
      });
      await stopped.cancel();
      await stopped.result().catch(() => undefined);
      shop.proxy.fail(undefined);
      await shop.source.query(`UPDATE shop.customers SET name = 'Told' WHERE id = 3`);
      return start(shop, { mappings: ['customers'] });
    },
    ends: 'complete',
    does: ['loadPartition again', 'removeVanished'],
  },
  live: {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await feed(shop);
      const run = await follow(shop);
      await shop.source.query(`UPDATE shop.customers SET name = 'Told' WHERE id = 3`);
      await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
      await untilStatus(shop, '4', 'gone');
      await run.cancel();
      return run;
    },
    ends: 'complete',
    does: ['collectChanges', 'loadPartition', 'followChanges', 'removeVanished', 'closeRun'],
    lacks: ['failRun', 'sweepDeadLetters'],
  },
  'live-on-hold-approved': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await feed(shop);
      const run = await follow(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 12');
      await approved(run);
      await untilStatus(shop, '12', 'gone');
      // The next run of the workflow has begun by then.
      await eventually('that all are marked', async () => {
        const [row] = await shop.state.query<{ n: number }>('SELECT count(*)::int AS n FROM partner_sync.runs');
        return row!.n === 2;
      });
      const last = shop.client.workflow.getHandle(run.workflowId);
      await eventually('that it follows the feed', async () => {
        const { raw } = await last.describe();
        return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'followChanges');
      });
      await last.cancel();
      return last;
    },
    ends: 'complete',
    does: ['followChanges', 'closeRun'],
    beginsAgain: true,
  },
  'live-paused': {
    record: async (shop) => {
      await synced(shop);
      await feed(shop);
      const run = await follow(shop);
      await run.executeUpdate('pause', { args: [{ reason: 'maintenance' }] });
      await untilIdle(run);
      await run.executeUpdate('resume', { args: [] });
      await shop.source.query('DELETE FROM shop.customers WHERE id = 4');
      await untilStatus(shop, '4', 'gone');
      await run.cancel();
      return run;
    },
    ends: 'complete',
    does: ['pause', 'resume', 'followChanges again'],
  },
  'live-not-needed': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await feed(shop);
      const run = await follow(shop);
      const scheduled = await startedBySchedule(shop, { mode: 'live', mappings: ['customers'] });
      await scheduled.result();
      await run.cancel();
      await run.result();
      return scheduled;
    },
    ends: 'completed',
    does: ['openRun'],
    lacks: ['recordFailure', 'collectChanges', 'closeRun'],
  },
  'incremental-dead-letters': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id <= 2`);
      return start(shop);
    },
    ends: 'complete_with_dead_letters',
  },
  full: {
    record: async (shop) => {
      await synced(shop);
      return start(shop, { mode: 'full' });
    },
    ends: 'complete',
    does: ['sweepDeadLetters'],
    lacks: ['removeVanished'],
  },
  'full-closing-dead-letters': {
    record: async (shop) => {
      await synced(shop);
      await shop.source.query(
        `UPDATE shop.customers SET email = 'broken', updated_at = clock_timestamp() WHERE id <= 2`,
      );
      await shop.run();
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 2');
      return start(shop, { mode: 'full', mappings: ['customers'] });
    },
    ends: 'complete',
    does: ['sweepDeadLetters'],
  },
  'full-in-two-passes': {
    settings: { other: STAFF },
    record: (shop) => start(shop, { mode: 'full' }),
    ends: 'complete',
  },
  'some-mappings': {
    settings: PATIENT,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      return start(shop, { mappings: ['lines'] });
    },
    ends: 'complete',
  },
  sample: {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      return start(shop, { limit: 3 });
    },
    ends: 'complete',
    does: ['deliverParents'],
  },

  mirror: {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await synced(shop);
      return start(shop, { mode: 'mirror' });
    },
    ends: 'complete',
    does: ['removeVanished', 'sweepDeadLetters'],
  },
  'mirror-removing': {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id = 7');
      return start(shop, { mode: 'mirror', mappings: ['customers'] });
    },
    ends: 'complete',
    does: ['removeVanished'],
  },
  'mirror-plan-awaits-approval': {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 9');
      return start(shop, { mode: 'mirror', mappings: ['customers'] });
    },
    ends: 'run_incomplete',
    does: ['removeVanished'],
  },
  'mirror-of-an-approved-plan': {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 9');
      const { removals } = await shop.run({ mode: 'mirror', mappings: ['customers'] });
      return start(shop, { mode: 'mirror', mappings: ['customers'], approve: [removals[0]!.plan] });
    },
    ends: 'complete',
    does: ['removeVanished'],
  },
  'mirror-of-an-empty-table': {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers');
      return start(shop, { mode: 'mirror', mappings: ['customers'] });
    },
    ends: 'run_incomplete',
  },
  'removals-on-hold-approved': {
    settings: { guard: GUARD, files: customersWith('hold: { records: 1000, percent: 100 }') },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 9');
      return approved(await start(shop, { mode: 'mirror', mappings: ['customers'] }));
    },
    ends: 'complete',
    does: ['removeVanished', 'approve', 'approveHold'],
  },
  'removals-on-hold-not-approved': {
    settings: { guard: IMPATIENT_GUARD, files: customersWith('hold: { records: 1000, percent: 100 }') },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('DELETE FROM shop.customers WHERE id <= 9');
      return start(shop, { mode: 'mirror', mappings: ['customers'] });
    },
    ends: 'run_incomplete',
    does: ['removeVanished', 'a pause'],
    lacks: ['approveHold'],
  },

  'changes-on-hold-approved': {
    settings: { guard: GUARD },
    record: async (shop) => {
      await synced(shop);
      await change(shop, 'id <= 9');
      return approved(await start(shop));
    },
    ends: 'complete',
    does: ['approve', 'approveHold', 'loadPartition again'],
  },
  'changes-on-hold-not-approved': {
    settings: { guard: IMPATIENT_GUARD },
    record: async (shop) => {
      await synced(shop);
      await change(shop, 'true');
      return start(shop);
    },
    ends: 'guard_exceeded',
    does: ['failRun', 'a pause'],
  },
  'empty-table-on-hold-approved': {
    settings: { guard: GUARD },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('TRUNCATE shop.lines');
      return approved(await start(shop));
    },
    ends: 'complete',
    does: ['approve', 'approveHold'],
  },
  'cancelled-on-hold': {
    settings: { guard: GUARD },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('TRUNCATE shop.lines');
      const run = await start(shop);
      await untilOnHold(run);
      await run.cancel();
      return run;
    },
    ends: 'cancelled',
    does: ['failRun'],
  },

  'pending-parent-comes': {
    settings: UNSURE,
    record: async (shop) => {
      await order(shop, 777);
      const run = await start(shop, { mappings: ['orders'] });
      await untilWaiting(run);
      await customerComes(shop, 777);
      return run;
    },
    ends: 'complete',
    does: ['a pause'],
  },
  'pending-parent-does-not-come': {
    settings: IMPATIENT,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await order(shop, 777);
      return start(shop, { mode: 'full' });
    },
    ends: 'run_incomplete',
  },
  'incomplete-without-failing': {
    settings: { ...IMPATIENT, failOn: 'never' },
    record: async (shop) => {
      await order(shop, 777);
      return start(shop);
    },
    ends: 'incomplete',
  },
  'dead-letters-that-fail': {
    settings: { failOn: 'dead-letters' },
    record: async (shop) => {
      await order(shop, 777);
      return start(shop);
    },
    ends: 'run_incomplete',
  },

  'schema-drift-skips-mappings': {
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('ALTER TABLE shop.orders RENAME COLUMN total TO sum');
      return start(shop);
    },
    ends: 'run_incomplete',
    does: ['detectSchemaDrift'],
  },
  'schema-drift-accepted': {
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('ALTER TABLE shop.orders ALTER total TYPE numeric(14,4)');
      await shop.source.query('ALTER TABLE shop.lines ALTER sku TYPE varchar(40)');
      return start(shop, { acceptChanges: true });
    },
    ends: 'complete',
  },
  'schema-drift-skips-all': {
    record: async (shop) => {
      await synced(shop);
      await shop.source.query('ALTER TABLE shop.customers RENAME COLUMN email TO mail');
      return start(shop);
    },
    ends: 'run_incomplete',
    lacks: ['planMapping'],
  },

  'paused-and-resumed': {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const run = await slowly(shop, 1000, () => start(shop));
      await run.executeUpdate('pause', { args: [{ reason: 'maintenance' }] });
      shop.proxy.fail(undefined);
      await run.executeUpdate('resume');
      return run;
    },
    ends: 'complete',
    does: ['pause', 'resume', 'recordAction'],
  },
  'paused-and-cancelled': {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const run = await slowly(shop, 1000, () => start(shop));
      await run.executeUpdate('pause');
      await run.cancel();
      return run;
    },
    ends: 'cancelled',
    does: ['pause', 'recordAction', 'failRun'],
  },
  'rate-set': {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const run = await slowly(shop, 1000, () => start(shop));
      await run.executeUpdate('setRate', { args: [{ requestsAtOnce: 2 }] });
      return run;
    },
    ends: 'complete',
    does: ['setRate'],
  },
  cancelled: {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const run = await slowly(shop, 1000, () => start(shop));
      await run.cancel();
      return run;
    },
    ends: 'cancelled',
    does: ['a cancelled activity', 'failRun'],
  },
  'cancelled-while-waiting': {
    settings: UNSURE,
    record: async (shop) => {
      await order(shop, 777);
      const run = await start(shop, { mappings: ['orders'] });
      await untilWaiting(run);
      await run.cancel();
      return run;
    },
    ends: 'cancelled',
    does: ['a pause', 'failRun'],
  },

  'failed-while-loading': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const answer = { status: 403, body: '{"success":false,"message":"not allowed"}' };
      shop.proxy.fail(({ upload }) => (upload ? { forward: false, answer } : undefined));
      return start(shop);
    },
    ends: 'platform_unauthorized',
    does: ['loadPartition', 'failRun'],
  },
  'refused-input': {
    record: (shop) => start(shop, { mode: 'partial' as 'full' }),
    ends: 'input_invalid',
    does: ['recordFailure'],
    lacks: ['openRun'],
  },
  'refused-files': {
    record: (shop) => {
      shop.write('customers.mapping.yaml', 'broken');
      return start(shop);
    },
    ends: 'config_invalid',
    does: ['openRun', 'recordFailure'],
  },
  'refused-beside-another-run': {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await slowly(shop, 1000, () => start(shop));
      return start(shop);
    },
    ends: 'run_in_progress',
    does: ['recordFailure'],
  },

  'small-tenants': {
    settings: { upload: { requestsAtOnce: 4, batchSize: 5, inDoubtDelay: '1m' } },
    record: async (shop) => {
      await synced(shop);
      await shop.source.query(
        `INSERT INTO shop.customers (id, name, status) SELECT i, 'Customer ' || i, 'A' FROM generate_series(1001, 2200) i`,
      );
      await shop.source.query(`INSERT INTO shop.customers (id, shop, name, status) VALUES (9001, 's', 'South', 'A')`);
      shop.proxy.fail(({ upload, tenant }) =>
        upload && tenant === 'north' ? { forward: true, answer: 'pass', after: 2000 } : undefined,
      );
      const run = await start(shop);
      await eventually('the small tenant', async () => (await shop.stored('customer', '9001', 'south')) !== null);
      shop.proxy.fail(undefined);
      return run;
    },
    ends: 'complete',
    does: ['deliverSmallTenants', 'recoverSmallTenants'],
  },
};

const BACKFILLS: Readonly<Record<string, Shape>> = {
  'backfill-external-ids': {
    record: async (shop) => {
      await synced(shop);
      return backfill(shop, { mapping: 'customers', externalIds: ['1', '2'] });
    },
    ends: 'complete',
    lacks: ['sweepDeadLetters', 'removeVanished'],
  },
  'backfill-external-ids-without-rows': {
    record: async (shop) => {
      await synced(shop);
      return backfill(shop, { mapping: 'customers', externalIds: ['404'] });
    },
    ends: 'complete',
  },
  'backfill-range': {
    record: async (shop) => {
      await synced(shop);
      return backfill(shop, { from: '2020-01-01' });
    },
    ends: 'complete',
  },
  'backfill-keys': {
    record: async (shop) => {
      await synced(shop);
      return backfill(shop, { mapping: 'customers', afterKey: ['3'], throughKey: ['9'] });
    },
    ends: 'complete',
  },
  'backfill-replay': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id <= 3`);
      await shop.run();
      await shop.source.query(`UPDATE shop.customers SET email = NULL WHERE id <= 2`);
      return backfill(shop, { replay: {} });
    },
    ends: 'complete_with_dead_letters',
    does: ['replayDeadLetters'],
    lacks: ['loadPartition'],
  },
  'backfill-replay-of-nothing': {
    record: async (shop) => {
      await synced(shop);
      return backfill(shop, { replay: { codes: ['mapping_failed'] } });
    },
    ends: 'complete',
  },
  'backfill-cancelled': {
    settings: SLOW,
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      const run = await slowly(shop, 1000, () => backfill(shop, { from: '2020-01-01' }));
      await run.cancel();
      return run;
    },
    ends: 'cancelled',
    does: ['failRun'],
  },
};

const CONTINUED: Readonly<Record<string, Shape>> = {
  'incremental-continued': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      return start(shop);
    },
    ends: 'complete',
    continues: true,
  },
  'mirror-continued': {
    settings: { files: customersWith(HOLD) },
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      await shop.run({ mappings: ['customers'] });
      await shop.source.query('DELETE FROM shop.customers WHERE id = 7');
      return start(shop, { mode: 'mirror', mappings: ['customers'] });
    },
    ends: 'complete',
    does: ['sweepDeadLetters', 'removeVanished'],
    continues: true,
  },
  'wait-continued': {
    settings: UNSURE,
    record: async (shop) => {
      await order(shop, 777);
      const run = await start(shop, { mappings: ['orders'] });
      await eventually('it has continued', async () => {
        const { raw } = await shop.client.workflow.getHandle(run.workflowId).describe();
        return raw.workflowExecutionInfo?.execution?.runId !== raw.workflowExecutionInfo?.firstRunId;
      });
      await customerComes(shop, 777);
      return run;
    },
    ends: 'complete',
    does: ['a pause'],
    continues: true,
  },
  'backfill-continued': {
    record: async (shop) => {
      await fill(shop, CUSTOMERS);
      return backfill(shop, { from: '2020-01-01' });
    },
    ends: 'complete',
    continues: true,
  },
};

const ALERTS: ShopSettings = {
  files: { 'sync.yaml': `${filesOf({})['sync.yaml']!}alerts: [{ webhook: '\${env:ALERT_URL}' }]\n` },
};

const OTHERS: Readonly<Record<string, Shape>> = {
  watch: {
    record: (shop) => shop.client.workflow.start('watch', { taskQueue: shop.taskQueue, workflowId: randomUUID() }),
    ends: 'completed',
    does: ['watchSyncs'],
  },
  alerts: {
    settings: { ...ALERTS, env: { ALERT_URL: 'http://127.0.0.1:9/' } },
    record: async (shop) => {
      const { url } = await startWebhook();
      shop.write('sync.yaml', filesOf({})['sync.yaml']! + `alerts: [{ webhook: '${url}' }]\n`);
      shop.write('customers.mapping.yaml', 'broken');
      await reportOf(await start(shop)).catch(() => undefined);
      const settings = await loadAlerts(shop.folder, SYNC, shop.env);
      const [target] = settings === 'unreadable' ? [] : settings.targets;
      return shop.client.workflow.getHandle(alertsWorkflowId(shop.taskQueue, { sync: SYNC, target: target!.id }));
    },
    ends: 'completed',
    does: ['deliverNotifications'],
  },
  'ask-workers': {
    record: (shop) =>
      shop.client.workflow.start('askWorkers', {
        taskQueue: shop.taskQueue,
        workflowId: randomUUID(),
        args: [{ sync: SYNC, salt: 'salt', taskQueue: shop.taskQueue, identities: ['1@gone', '2@gone'] }],
      }),
    ends: 'completed',
    does: ['examineWorker', 'an activity without a worker'],
  },
};

/** By name, which is that of the file. */
export const SHAPES: Readonly<Record<string, Shape>> = { ...RUNS, ...BACKFILLS, ...CONTINUED, ...OTHERS };
