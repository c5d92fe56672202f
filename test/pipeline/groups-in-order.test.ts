/** Groups of rows on their way side by side: the position passes none that has not ended. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import type { Dependencies } from '../../activities/dependencies.js';
import { loadSlice } from '../../activities/load-slice.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { openShop, SYNC } from './shop.js';

/** The first group of a slice has 4,000 rows. */
const ROWS = 4_500;

it('does not pass a group that failed, though the one behind it has arrived', async () => {
  const shop = await openShop({ upload: { batchSize: 500 } });
  onTestFinished(() => shop.close());
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'Customer ' || i, 'A' FROM generate_series(1, ${ROWS}) i`,
  );
  const deps = await shop.parts.dependencies();
  const { ledger, platform } = deps;
  const { spec } = await shop.parts.openSync(SYNC);
  const { id: runId } = await ledger.runs.begin({
    ...{ sync: SYNC, kind: 'backfill', mode: 'backfill', input: { sync: SYNC }, mappingVersion: spec.version },
    ...{ workflowId: randomUUID(), firstExecutionRunId: randomUUID() },
  });
  const mappingId = await ledger.catalog.mappingId(SYNC, 'customers');
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey: null, throughKey: null, externalIds: null };
  await ledger.ranges.plan(runId, mappingId, [{ ...bounds, byCursor: true, movesPosition: true }]);
  const [range] = await ledger.ranges.planned(runId, mappingId);
  const ref = { runId, sync: SYNC, mapping: 'customers', rangeId: range!.id };
  const { signal } = new AbortController();

  let secondIsThere = (): void => undefined;
  const second = new Promise<void>((resolve) => (secondIsThere = resolve));
  const uploadResources: typeof platform.uploadResources = async (schema, body, query, options) => {
    const text = (body as Buffer).toString();
    if (text.includes('"customerId":"1"')) {
      await second;
      throw new PartnerSyncError('platform_unauthorized', 'answered 401');
    }
    const answer = await platform.uploadResources(schema, body, query, options);
    if (text.includes(`"customerId":"${ROWS}"`)) secondIsThere();
    return answer;
  };
  const findBatch: typeof platform.findBatch = (id, options) => platform.findBatch(id, options);
  const failing = {
    ...deps,
    platform: { uploadResources, findBatch, awaitsToken: () => false },
  } as unknown as Dependencies;

  await expect(loadSlice(failing, ref, signal)).rejects.toMatchObject({ code: 'platform_unauthorized' });
  expect(await ledger.ranges.position(mappingId)).toBeNull();

  expect(await loadSlice(deps, ref, signal)).toMatchObject({ done: true, progress: [{ read: ROWS }] });
  expect(await shop.store.query('SELECT count(*)::int AS n FROM sandbox.resources')).toEqual([{ n: ROWS }]);
  expect(await ledger.ranges.position(mappingId)).toMatchObject({ key: [String(ROWS)] });
});
