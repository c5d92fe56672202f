/** Mode mirror: records whose rows are gone are marked, but never too many at once without approval. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { removalLines } from '../../src/cli/output/removal-lines.js';
import { planRemovals } from '../../src/delivery/removals/plan-removals.js';
import { undeliveredLine } from '../../src/domain/run/run.js';
import { runInProcess } from '../cli/in-process.js';
import { customers, files, gone, MARK, mirror } from './mirrored-customers.js';
import {
  failureOf,
  fill,
  NO_OPEN_ENDS,
  openEnds,
  openRunByHand,
  reportOf,
  shopForTest,
  SYNC,
  type Shop,
} from './shop.js';

it('marks the record of a row that is gone, once, and removes the mark when the row is back', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 10);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers WHERE id = 7');

  const report = await mirror(shop);

  expect(report).toMatchObject({
    outcome: 'complete',
    total: { read: 10, unchanged: 9, accepted: 1 },
    removals: [{ mapping: 'customers', state: 'done', records: 1, accepted: 10 }],
  });
  expect(await shop.stored('customer', '7')).toEqual({ customerId: '7', name: 'Customer 7', status: 'gone' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 9, equal: 9, extra: 0 });

  shop.proxy.forget();
  expect(await mirror(shop)).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', records: 0 }] });
  expect(shop.proxy.uploads()).toBe(0);

  await shop.source.query(
    `INSERT INTO shop.customers (id, name, email, status) VALUES (7, 'Back', 'b@example.org', 'A')`,
  );
  await mirror(shop);
  expect(await shop.stored('customer', '7')).toMatchObject({ name: 'Back', email: 'b@example.org', status: 'active' });
});

it('does nothing to the records of a table that was emptied, approved or not', async () => {
  const shop = await shopForTest({ files: files('records: 1000000, percent: 100') });
  await fill(shop, 10);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers');
  shop.proxy.forget();

  const report = await mirror(shop);

  expect(report).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'empty', records: 0, accepted: 10 }] });
  expect(undeliveredLine(report)).toBe(
    `run ${report.run} of shop ended incomplete: the source of customers has no rows`,
  );
  expect(shop.proxy.uploads()).toBe(0);
  const refused = await shop.start('sync', { sync: SYNC, mode: 'mirror', approve: [report.removals[0]!.plan] });
  expect(await failureOf(refused)).toMatchObject({ type: 'input_invalid' });
  expect(await gone(shop)).toEqual([]);
});

it('awaits approval for 30 % of the rows, and marks exactly those that were approved', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 10);
  await shop.run();
  await shop.source.query('DELETE FROM shop.customers WHERE id <= 3');

  const awaitingApproval = await mirror(shop);

  expect(awaitingApproval).toMatchObject({
    outcome: 'incomplete',
    removals: [{ state: 'awaiting_approval', records: 3, accepted: 10 }],
  });
  const { run, removals } = awaitingApproval;
  expect(undeliveredLine(awaitingApproval)).toBe(
    `run ${run} of shop ended incomplete: removal plan ${removals[0]!.plan} of customers awaits approval`,
  );
  expect(await gone(shop)).toEqual([]);

  // Three more are gone meanwhile: that is more than the plan that was approved.
  await shop.source.query('DELETE FROM shop.customers WHERE id IN (4, 5, 6)');
  const more = await mirror(shop, [awaitingApproval.removals[0]!.plan]);
  expect(more).toMatchObject({ outcome: 'incomplete', removals: [{ state: 'awaiting_approval', records: 6 }] });
  expect(await gone(shop)).toEqual([]);

  // Two of those are back, one row stays away beyond what was approved: few enough to need no word.
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (5, 'Back', 'A'), (6, 'Back', 'A')`);
  const done = await mirror(shop);
  expect(done).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', records: 4 }] });
  expect(await gone(shop)).toEqual(['1', '2', '3', '4']);
});

it('takes the limit in percent of the records that are left, not of those that were marked before', async () => {
  const shop = await shopForTest({ files: files('records: 0, percent: 20') });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id IN (1, 2)');
  expect(await mirror(shop)).toMatchObject({ removals: [{ state: 'done', records: 2, accepted: 10 }] });

  await shop.source.query('DELETE FROM shop.customers WHERE id IN (3, 4)');
  expect(await mirror(shop)).toMatchObject({ removals: [{ state: 'awaiting_approval', records: 2, accepted: 8 }] });
  expect(await gone(shop)).toEqual(['1', '2']);
});

it('shows the plan that awaits approval, its records, and how to approve it', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id <= 3');
  const { plan } = (await mirror(shop)).removals[0]!;

  const list = await runInProcess(['removals', SYNC], shop.env);
  expect(list.stdout)
    .toBe(`customers: the rows of 3 of 10 records are gone, too many to remove without approval; nothing was done to them.
  review:  partner-sync removals shop ${plan}
  approve: partner-sync run shop --mode mirror --approve ${plan}
`);
  expect((await runInProcess(['status', SYNC], shop.env)).stdout).toContain(`--approve ${plan}`);
  // No run waits for it, as one with a guard would.
  expect(await runInProcess(['approve', SYNC, '--yes'], shop.env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `no run of shop is on hold, but 1 removal plan awaits approval, which a new run gives: partner-sync run shop --mode mirror --approve ${plan} `,
    ) as string,
  });
  const shown = await runInProcess(['removals', SYNC, plan, '--limit', '2'], shop.env);
  expect(shown.stdout).toMatch(/north +1\nnorth +2\n\.\.\. and 1 more/);
  expect(await runInProcess(['removals', SYNC, '999'], shop.env)).toMatchObject({ code: 2 });

  const run = await runInProcess(
    ['run', SYNC, '--mode', 'mirror', '--mapping', 'customers', '--approve', plan],
    shop.env,
  );
  expect(run).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('3 of 10 records were found gone; 3 marked as `deletes` says.') as string,
  });
  expect(await gone(shop)).toEqual(['1', '2', '3']);
  expect((await runInProcess(['removals', SYNC], shop.env)).stdout).toBe(
    'no removal plan of shop is awaiting approval\n',
  );
});

it('says of a plan that is about changed external ids that the records must be sent under their new ids first', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  const byName = files()['customers.mapping.yaml'].replace('customerId: id', "customerId: { template: 'c{id}' }");
  shop.write('customers.mapping.yaml', byName);

  const report = await mirror(shop);

  expect(report.removals).toMatchObject([
    { state: 'awaiting_approval', records: 10, idsChangedAt: expect.any(String) as string },
  ]);
  expect(removalLines(SYNC, report.removals).slice(1, 3)).toEqual([
    expect.stringMatching(
      /^ {2}Since 20\S+Z, customers has made its external ids in another way: no row has the earlier ids any more\.$/,
    ),
    '  Before you approve, send the records under their new ids: partner-sync run shop --mode full',
  ]);
  expect(await mirror(shop, [report.removals[0]!.plan])).toMatchObject({
    outcome: 'complete',
    removals: [{ state: 'done', records: 10, idsChangedAt: null }],
  });
  await shop.source.query('DELETE FROM shop.customers WHERE id < 6');
  expect((await mirror(shop)).removals).toMatchObject([{ state: 'awaiting_approval', idsChangedAt: null }]);
});

it('carries out an approved plan, whatever its size', async () => {
  const shop = await shopForTest({ files: files() });
  await fill(shop, 1200);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id > 1');
  const { removals } = await mirror(shop);

  const report = await mirror(shop, [removals[0]!.plan]);

  expect(report).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', records: 1199 }] });
  expect(await gone(shop)).toHaveLength(1199);
  const [rows] = await shop.state.query<{ n: number }>('SELECT count(*)::int AS n FROM partner_sync.removals');
  expect(rows!.n).toBe(0);
});

it('awaits approval for a plan that removes much of one tenant, even if it is little of all', async () => {
  const shop = await shopForTest({ files: files('records: 2, percent: 20') });
  await fill(shop, 100);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id <= 10`);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id <= 3');

  expect(await mirror(shop)).toMatchObject({ removals: [{ state: 'awaiting_approval', records: 3, accepted: 100 }] });
});

it('counts a row that can no longer be mapped as present, and one of another tenant as gone', async () => {
  const shop = await shopForTest({ files: files('records: 10, percent: 100') });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 2`);
  await shop.source.query(`UPDATE shop.customers SET shop = 'nobody' WHERE id = 3`);
  await shop.source.query(`UPDATE shop.customers SET shop = 's' WHERE id = 4`);

  await mirror(shop);

  expect(await gone(shop)).toEqual(['4']);
  expect(await shop.stored('customer', '4', 'south')).toMatchObject({ status: 'active' });
});

it('counts every mark once even if answers of the platform are lost', async () => {
  const shop = await shopForTest({ files: files('records: 1000, percent: 100') });
  await fill(shop, 600);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id > 50');
  let lost = 0;
  shop.proxy.fail(({ upload, no }) =>
    upload && no % 2 === 0 && lost < 3 ? (lost++, { forward: true, answer: 'cut' }) : undefined,
  );

  const report = await mirror(shop);

  expect(lost).toBe(3);
  expect(report).toMatchObject({ outcome: 'complete', total: { read: 600, unchanged: 50, accepted: 550 } });
  expect(await gone(shop)).toHaveLength(550);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

/** The platform takes the next `count` uploads, and forgets them. */
function forget(shop: Shop, count: number): void {
  const data = { batchId: '0b0c6a4e-0000-4000-8000-00000000dead', recordCount: 2 };
  const answer = { status: 202, body: JSON.stringify({ success: true, data }) };
  let forgotten = 0;
  shop.proxy.fail(({ upload }) => (upload && forgotten++ < count ? { forward: false, answer } : undefined));
}

it('sends a mark again that the platform took and forgot', async () => {
  const shop = await shopForTest({ files: files('records: 1000, percent: 100'), upload: { batchDeadline: '1s' } });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id IN (3, 7)');
  forget(shop, 1);

  const report = await mirror(shop);

  expect(await gone(shop)).toEqual(['3', '7']);
  expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 2, unchanged: 8, waiting: 0 } });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('keeps rows and marks apart that are due at once, so that none takes the key of another', async () => {
  const shop = await shopForTest({ files: files(), upload: { batchDeadline: '1s' } });
  await fill(shop, 10);
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (99, 'Later', 'A', now() + interval '1 ms')`,
  );
  await shop.run({ mappings: ['customers'] });
  // No cursor value tells of the changes: only the records that wait are read.
  await shop.source.query(`DELETE FROM shop.customers WHERE id IN (3, 7);
    UPDATE shop.customers SET name = 'Changed' WHERE id IN (4, 5)`);
  await shop.state.query(`
    INSERT INTO partner_sync.waiting (mapping_id, tenant_id, external_id, source_key, reason, partition_id, read_seq, counted, tries)
    SELECT p.mapping_id, t.id, due, CASE WHEN due IN ('3', '7') THEN ARRAY['', t.platform_id, due] ELSE ARRAY[due] END, 'unknown',
      p.id, 0, false, 1
    FROM unnest(ARRAY['3', '4', '5', '7']) AS due, partner_sync.tenants t,
      (SELECT max(id) AS id, mapping_id FROM partner_sync.partitions GROUP BY 2) p
    WHERE t.platform_id = 'north'`);
  forget(shop, 2);

  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });

  expect(await gone(shop)).toEqual(['3', '7']);
  for (const id of ['4', '5']) expect(await shop.stored('customer', id)).toMatchObject({ name: 'Changed' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('comes to an end if the checks of a slow source take a whole time slice, and does not repeat them', async () => {
  const shop = await shopForTest({ files: files('records: 10, percent: 100') });
  await fill(shop, 1200);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id = 7');
  const deps = await shop.parts.dependencies();
  const { runId } = await openRunByHand(shop, { mode: 'mirror', mappings: ['customers'] });
  const sync = await deps.openSync(SYNC, runId);
  const mapping = await sync.mapping('customers');
  const nextSlice = async () =>
    (
      await planRemovals(deps, sync, mapping, {
        runId,
        isSearched: true,
        again: false,
        shouldContinue: () => false,
      })
    ).state;

  expect(await nextSlice()).toBe('finding');
  const checks = vi.spyOn(sync.source, 'readPage');
  onTestFinished(() => checks.mockRestore());
  const states: string[] = [];
  while (states.at(-1) !== 'due' && states.length < 10) states.push(await nextSlice());

  expect(states).toEqual(['finding', 'finding', 'due']);
  // Whether the source is empty is asked once more at the end.
  expect(checks).toHaveBeenCalledTimes(1);
  expect(await deps.ledger.removals.ofRun(runId)).toMatchObject([{ records: 1 }]);
});

it('does nothing if the source cannot be read', async () => {
  const shop = await shopForTest({ files: files('records: 10, percent: 100') });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id = 1; ALTER TABLE shop.customers RENAME TO elsewhere');
  shop.proxy.forget();

  const run = await shop.start('sync', { sync: SYNC, mode: 'mirror', mappings: ['customers'] });

  expect(await reportOf(run)).toMatchObject({
    outcome: 'incomplete',
    skipped: [{ mapping: 'customers', code: 'source_changed' }],
  });
  expect(shop.proxy.uploads()).toBe(0);
});

it('refuses to guess which rows are gone if they cannot be found by their external id', async () => {
  const trimmed = customers(`{ ${MARK} }`).replace(
    'customerId: id',
    'customerId: { column: name, transforms: [trim] }',
  );
  const shop = await shopForTest({ files: files(undefined, { 'customers.mapping.yaml': trimmed }) });
  const unsure = await failureOf(await shop.start('sync', { sync: SYNC, mode: 'mirror' }));
  expect(unsure).toMatchObject({ type: 'config_invalid', message: expect.stringContaining('customers') as string });

  // A JSON column holds the id in quotes: a look-up by the bare id finds nothing.
  const quoted = customers(`{ ${MARK} }`).replace('customerId: id', 'customerId: extra');
  shop.write('customers.mapping.yaml', quoted);
  await shop.source.query(`ALTER TABLE shop.customers ADD extra jsonb DEFAULT '"c1"'`);
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, 'Anna', 'A')`);
  const found = await failureOf(await shop.start('sync', { sync: SYNC, mode: 'mirror', mappings: ['customers'] }));
  expect(found).toMatchObject({ type: 'config_invalid', message: expect.stringContaining('not found') as string });
  expect(await shop.stored('customer', 'c1')).toMatchObject({ name: 'Anna' });
});

it('finds which rows are gone by ids that are made of three UUIDs, which contain the dash that joins them', async () => {
  const joined = customers(`{ ${MARK} }`)
    .replace('key: [id]', 'key: [a, b, c]')
    .replace('customerId: id', "customerId: { template: '{a}-{b}-{c}' }");
  const shop = await shopForTest({ files: files(undefined, { 'customers.mapping.yaml': joined }) });
  for (const name of ['a', 'b', 'c'])
    await shop.source.query(`ALTER TABLE shop.customers ADD ${name} uuid NOT NULL DEFAULT gen_random_uuid()`);
  await fill(shop, 10);
  await shop.run();
  const [row] = await shop.source.query<{ id: string }>(
    `DELETE FROM shop.customers WHERE id = 7 RETURNING concat_ws('-', a, b, c) AS id`,
  );

  expect(await mirror(shop)).toMatchObject({ outcome: 'complete', removals: [{ state: 'done', records: 1 }] });
  expect(await gone(shop)).toEqual([row!.id]);
});

it('says that no mapping has a use for mode mirror', async () => {
  const shop = await shopForTest();
  const run = await shop.start('sync', { sync: SYNC, mode: 'mirror' });
  expect(await failureOf(run)).toMatchObject({
    type: 'config_invalid',
    message: expect.stringContaining('deletes') as string,
  });
});
