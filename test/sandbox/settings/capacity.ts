/** What the settings of capacity and time do. */
import { expect } from 'vitest';
import { unique } from '../running-sandbox.js';
import { SHOP, type Demonstrations } from './demonstration.js';

const things = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `t-${i}` }));

export const capacity: Demonstrations = {
  async maxRecordsPerBatch(open) {
    const sandbox = await open({ maxRecordsPerBatch: 2 });
    const name = unique('things');
    await sandbox.createSchema(name, {});
    const send = (count: number) =>
      sandbox.call('POST', `/api/resources/${name}/batch`, { body: { resources: things(count) } });
    expect([(await send(2)).status, (await send(3)).status]).toEqual([202, 413]);
  },
  async minRecordsPerBatch(open) {
    const sandbox = await open({ minRecordsPerBatch: 0 });
    const name = unique('things');
    await sandbox.createSchema(name, {});
    const batch = await sandbox.uploaded(name, []);
    expect(batch.progress).toMatchObject({ totalRecords: 0, processedRecords: 0 });
  },
  async maxBodyBytes(open) {
    const sandbox = await open({ maxBodyBytes: 100 });
    const body = { text: 'x'.repeat(100) };
    expect((await sandbox.call('POST', '/api/segments/text-to-segment', { body })).status).toBe(413);
  },
  async 'longest.schemaName'(open) {
    const sandbox = await open({ longest: { schemaName: 10 } });
    const answer = await sandbox.call('POST', '/partner/schema-definitions', {
      body: {
        name: 'short',
        pluralName: 'much-too-long',
        category: 'custom_schema',
        externalIdField: 'id',
        schema: { properties: { id: {} } },
      },
    });
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      ['body/pluralName must NOT have more than 10 characters'],
    ]);
  },
  async 'longest.externalId'(open) {
    const sandbox = await open({ longest: { externalId: 3 } });
    const name = unique('things');
    await sandbox.createSchema(name, {});
    const { errors } = await sandbox.uploaded(name, [{ id: 'abc' }, { id: 'abcd' }]);
    expect(errors.recordErrors).toEqual(['record 1: /id must not be longer than 3 characters']);
  },
  async 'longest.segmentText'(open) {
    const sandbox = await open({ longest: { segmentText: 5 } });
    const { body } = await sandbox.call('POST', '/api/segments/text-to-segment', { body: { text: 'everybody' } });
    expect(body).toEqual({ success: false, failureReason: 'the text has 9 characters; at most 5 are read' });
  },
  async 'longest.page'(open) {
    const sandbox = await open({ longest: { page: 1 } });
    const body = {
      channel_provider: 'external-provider',
      channel_integration_type: 'sms',
      channel_integration_metadata: {},
    };
    for (let i = 0; i < 2; i++) await sandbox.call('POST', '/partner/channel/integrations', { body });
    const list = await sandbox.call('GET', '/partner/channel/integrations?limit=50');
    expect(list.body.data).toMatchObject({ results: [{}], pagination: { hasNextPage: true } });
  },
  async 'longest.errors'(open) {
    const refused = async (errors: number) => {
      const sandbox = await open({ longest: { errors } });
      return (await sandbox.call('POST', '/api/sending-domains', { body: {} })).body;
    };
    expect((await refused(1)).errors).toEqual(["body must have required property 'apexDomain'", '... and 3 more']);
    expect(await refused(0)).toEqual({ success: false, message: 'the request is not valid' });
  },
  async 'rateLimit.requests'(open) {
    // The window is longer than the test, so that it cannot turn in between, but for once an hour.
    const sandbox = await open({ rateLimit: { requests: 2, seconds: 3_600 } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await sandbox.call('GET', '/partner/engage/tenants')).status);
    expect(statuses).toEqual([200, 200, 429]);
    // Another caller has a count of its own, and documents are for everybody.
    expect((await sandbox.call('GET', '/partner/engage/tenants', { token: null })).status).toBe(200);
    expect((await fetch(`${sandbox.url}/openapi.json`)).status).toBe(200);
  },
  async 'rateLimit.seconds'(open) {
    const sandbox = await open({ rateLimit: { requests: 1, seconds: 0.2 } });
    const status = async () => (await sandbox.call('GET', '/partner/engage/tenants')).status;
    await expect.poll(async () => [await status(), await status()], { interval: 50 }).toEqual([200, 429]);
    await expect.poll(status, { interval: 50 }).toBe(200);
  },
  async 'rateLimit.retryAfter'(open) {
    const headerOf = async (retryAfter: 'seconds' | 'date' | 'none') => {
      const { url } = await open({ rateLimit: { requests: 1, seconds: 3_600, retryAfter } });
      await fetch(`${url}/partner/engage/tenants`);
      return (await fetch(`${url}/partner/engage/tenants`)).headers.get('retry-after');
    };
    expect(Number(await headerOf('seconds'))).toBeGreaterThan(0);
    const date = Date.parse((await headerOf('date')) ?? '');
    expect(date % 3_600_000).toBe(0);
    expect(date).toBeGreaterThan(Date.now());
    expect(await headerOf('none')).toBeNull();
  },
  async processingDelay(open) {
    const sandbox = await open({ processingDelay: 200 });
    const name = unique('things');
    await sandbox.createSchema(name, {});
    const id = await sandbox.upload(name, things(1));
    const { createdAt, startedAt } = await sandbox.completed(id);
    expect(Date.parse(startedAt!) - Date.parse(createdAt)).toBeGreaterThanOrEqual(199);
  },
  async batchesAtOnce(open, database) {
    // Somebody else works on what `north` has; whether `shop` must wait for that depends on the setting.
    const whileNorthWaits = async (batchesAtOnce: number) => {
      const sandbox = await open({ batchesAtOnce });
      const name = unique('things');
      await sandbox.createSchema(name, {});
      await database.query(`select pg_advisory_lock(hashtextextended('sandbox tenant north', 0))`);
      const north = await sandbox.upload(name, things(1));
      const waiting = `select from pg_locks where locktype = 'advisory' and not granted`;
      await expect.poll(async () => (await database.query(waiting)).rowCount).toBe(1);
      const shop = await sandbox.upload(name, things(1), SHOP);
      if (batchesAtOnce > 1) await sandbox.completed(shop, 'shop');
      else await new Promise((resolve) => setTimeout(resolve, 200));
      const { startedAt } = await sandbox.batch(shop, 'shop');
      await database.query('select pg_advisory_unlock_all()');
      await sandbox.completed(north);
      return startedAt !== null;
    };
    expect([await whileNorthWaits(1), await whileNorthWaits(2)]).toEqual([false, true]);
  },
  async batchOrder(open) {
    // A backlog, since a batch that comes alone is next in either order.
    const before = await open({ processingDelay: 86_400_000 });
    const name = unique('things');
    await before.createSchema(name, { size: {} });
    const older = await before.upload(name, [{ id: 't', size: 'older' }]);
    const newer = await before.upload(name, [{ id: 't', size: 'newer' }]);
    const after = await open({ batchOrder: 'newest_first', batchesAtOnce: 1 });
    await after.completed(older);
    await after.completed(newer);
    expect((await after.read(name, 't')).body.data.result.data).toEqual({ id: 't', size: 'older' });
  },
  async expiryCheckInterval(open) {
    const sandbox = await open({ expiryCheckInterval: 3_600_000 });
    const name = unique('things');
    await sandbox.createSchema(name, { owner: { $ref: name } });
    const id = await sandbox.upload(name, [{ id: 'a', owner: 'b' }], { query: '?dependencyWaitTimeout=1' });
    await sandbox.processed(id);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect((await sandbox.batch(id)).progress).toMatchObject({ pendingRecords: 1 });
    const soon = await open({ expiryCheckInterval: 20 });
    expect((await soon.completed(id)).progress).toMatchObject({ failedRecords: 1 });
  },
  async batchRetention(open) {
    const sandbox = await open({ batchRetention: 1 });
    const name = unique('things');
    await sandbox.createSchema(name, {});
    const id = await sandbox.upload(name, things(1));
    await expect
      .poll(async () => (await sandbox.call('GET', `/api/batches/${id}`)).status, { timeout: 20_000 })
      .toBe(404);
  },
  async cursorLifetime(open) {
    const sandbox = await open({ cursorLifetime: 1 });
    const first = await sandbox.call('GET', '/partner/engage/tenants?limit=1');
    const { cursor } = first.body.data['pagination'] as { cursor: string };
    const next = () => sandbox.call('GET', `/partner/engage/tenants?limit=1&cursor=${cursor}`);
    expect((await next()).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await next()).body.message).toBe('the cursor has expired after 1 s; begin the list again');
  },
};
