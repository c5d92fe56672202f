/** What the settings of responses do. */
import { expect } from 'vitest';
import { createPeople, unique, type Caller } from '../running-sandbox.js';
import type { GivenSettings } from '../../../src/sandbox/settings.js';
import { SHOP, type Demonstrations } from './demonstration.js';

/** A schema of things that refer to an owner, and the read of one of them. */
async function family(sandbox: Caller) {
  const name = unique('things');
  await sandbox.createSchema(name, { owner: { $ref: name } });
  await sandbox.uploaded(name, [{ id: 'a', owner: 'b' }, { id: 'b' }]);
  return name;
}

const definition = (more: object = {}) => ({
  name: unique('things'),
  category: 'custom_schema',
  externalIdField: 'id',
  schema: { properties: { id: {} } },
  ...more,
});

const WAIT = { query: '?dependencyWaitTimeout=3600' };
/** A batch of which one record is stored, one has failed and one is pending, as the sandbox tells of it. */
async function mixed(sandbox: Caller) {
  const name = unique('things');
  await sandbox.createSchema(name, { size: { type: 'number' }, owner: { $ref: name } });
  const resources = [{ id: 'stored' }, { id: 'failed', size: 'large' }, { id: 'pending', owner: 'late' }];
  const batchId = await sandbox.upload(name, resources, WAIT);
  return { ...(await sandbox.processed(batchId)), batchId };
}

export const responses: Demonstrations = {
  async 'parameterNames.include'(open) {
    const sandbox = await open({ parameterNames: { include: 'expand' } });
    const { body } = await sandbox.read(await family(sandbox), 'a', { query: '?expand=owner&include=none' });
    expect(body.data.included).toMatchObject([{ resourceExternalId: 'b' }]);
  },
  async 'parameterNames.referenceFormat'(open) {
    const sandbox = await open({ parameterNames: { referenceFormat: 'refs' } });
    const { body } = await sandbox.read(await family(sandbox), 'a', { query: '?refs=id' });
    expect(body.data.result.data).toEqual({ id: 'a', owner: 'b' });
  },
  async 'parameterNames.includePendingDetails'(open) {
    const sandbox = await open({ parameterNames: { includePendingDetails: 'pending' } });
    const { batchId } = await mixed(sandbox);
    const { body } = await sandbox.call('GET', `/api/batches/${batchId}?pending=true`);
    expect(body.data.pendingResources).toHaveLength(1);
    expect((await sandbox.batch(batchId)).pendingResources).toBeUndefined();
  },
  async fieldNames(open) {
    const namesIn = async (fieldNames: 'camel' | 'snake') => {
      const sandbox = await open({ fieldNames });
      const { body } = await sandbox.call('POST', '/partner/schema-definitions', { body: definition() });
      return Object.keys(body.data).filter((name) => /plural/i.test(name));
    };
    expect([await namesIn('camel'), await namesIn('snake')]).toEqual([['pluralName'], ['plural_name']]);
  },
  async emptyFields(open) {
    const shown = async (emptyFields: 'mixed' | 'null' | 'left_out') => {
      const sandbox = await open({ emptyFields });
      const created = await sandbox.call('POST', '/partner/schema-definitions', { body: definition() });
      const { description, displayMetadata } = created.body.data;
      const found = await sandbox.call('GET', '/api/automations/news', SHOP);
      const { actionData } = found.body.data as unknown as { actionData: { actionMetadata: object }[] };
      return [description, displayMetadata, 'nextActionId' in actionData[0]!.actionMetadata];
    };
    expect(await shown('mixed')).toEqual([undefined, null, false]);
    expect(await shown('null')).toEqual([null, null, true]);
    expect(await shown('left_out')).toEqual([undefined, undefined, false]);
  },
  async errorShape(open) {
    const sandbox = await open({ errorShape: 'alternative' });
    const { body } = await sandbox.read('no-such-schema', 'x');
    expect(body).toMatchObject({ success: false, data: { error: body.message } });
  },
  async 'statuses.created'(open) {
    const sandbox = await open({ statuses: { created: 201 } });
    expect((await sandbox.call('POST', '/partner/schema-definitions', { body: definition() })).status).toBe(201);
    // Shown by the document (7.5).
    const body = {
      channel_provider: 'external-provider',
      channel_integration_type: 'sms',
      channel_integration_metadata: {},
    };
    expect((await sandbox.call('POST', '/partner/channel/integrations', { body })).status).toBe(200);
  },
  async 'statuses.notUnderstood'(open) {
    const sandbox = await open({ statuses: { notUnderstood: 422 } });
    await createPeople(sandbox);
    const zorbled = await sandbox.call('POST', '/api/segments/text-to-segment', { body: { text: 'who zorbled' } });
    expect([zorbled.status, zorbled.body]).toEqual([
      422,
      { success: false, message: expect.stringContaining('zorbled') as string },
    ]);
  },
  async 'statuses.invalid'(open) {
    const sandbox = await open({ statuses: { invalid: 422 } });
    expect((await sandbox.call('POST', '/api/sending-domains', { body: {} })).status).toBe(422);
    expect((await sandbox.call('POST', '/api/sending-domains', { raw: '{' })).status).toBe(422);
    // Shown by the document (7.3).
    expect((await sandbox.call('GET', '/partner/engage/tenants?limit=0')).status).toBe(400);
  },
  async 'statuses.tenantMissing'(open) {
    const sandbox = await open({ statuses: { tenantMissing: 422 } });
    expect((await sandbox.call('GET', '/api/batches/x', { tenant: null })).status).toBe(422);
  },
  async 'statuses.unauthenticated'(open) {
    const sandbox = await open({ statuses: { unauthenticated: 403 } });
    expect((await sandbox.call('GET', '/api/batches/x', { token: null })).status).toBe(403);
  },
  async 'statuses.forbidden'(open) {
    const sandbox = await open({ statuses: { forbidden: 404 }, callers: { tenant: ['tenant'] } });
    expect((await sandbox.call('GET', '/api/automations/news', SHOP)).status).toBe(404);
  },
  async 'statuses.unknownTenant'(open) {
    const sandbox = await open({ statuses: { unknownTenant: 404 } });
    expect((await sandbox.call('GET', '/api/batches/x', { tenant: 'nobody' })).status).toBe(404);
  },
  async 'statuses.notFound'(open) {
    const sandbox = await open({ statuses: { notFound: 410 } });
    expect((await sandbox.call('GET', '/api/batches/x')).status).toBe(410);
    expect((await sandbox.call('GET', '/no/such/operation')).status).toBe(410);
    // Shown by the document (7.4).
    expect((await sandbox.call('GET', '/api/automations/x')).status).toBe(404);
  },
  async 'statuses.taken'(open) {
    const sandbox = await open({ statuses: { taken: 422 } });
    const body = definition();
    await sandbox.call('POST', '/partner/schema-definitions', { body });
    expect((await sandbox.call('POST', '/partner/schema-definitions', { body })).status).toBe(422);
    const { paths } = (await (await fetch(`${sandbox.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: { responses: object } }>;
    };
    expect(Object.keys(paths['/partner/schema-definitions']!.post.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '422',
    ]);
  },
  async 'statuses.tooLarge'(open) {
    const sandbox = await open({ statuses: { tooLarge: 422 }, maxBodyBytes: 50 });
    const body = { text: 'x'.repeat(100) };
    expect((await sandbox.call('POST', '/api/segments/text-to-segment', { body })).status).toBe(422);
  },
  async 'statuses.notJson'(open) {
    const sandbox = await open({ statuses: { notJson: 400 } });
    const headers = { 'content-type': 'text/csv' };
    expect((await sandbox.call('POST', '/api/segments/count', { raw: 'a,b', headers })).status).toBe(400);
  },
  async 'statuses.busy'(open) {
    const sandbox = await open({ statuses: { busy: 503 }, rateLimit: { requests: 1, seconds: 3_600 } });
    await sandbox.call('GET', '/partner/engage/tenants');
    expect((await sandbox.call('GET', '/partner/engage/tenants')).status).toBe(503);
  },
  async 'batchStatus.completed'(open) {
    const { completedAt, startedAt, progress } = await mixed(await open({ batchStatus: { completed: 'processed' } }));
    expect([completedAt, progress['pendingRecords']]).toEqual([startedAt, 1]);
  },
  async 'batchStatus.processed'(open) {
    const { progress } = await mixed(await open({ batchStatus: { processed: 'with_pending' } }));
    expect(progress).toMatchObject({ totalRecords: 3, processedRecords: 3, pendingRecords: 1 });
  },
  async 'batchStatus.successRate'(open) {
    expect((await mixed(await open({ batchStatus: { successRate: 'percent' } }))).progress['successRate']).toBe(50);
  },
  async 'batchStatus.recordErrors'(open) {
    type Form = NonNullable<NonNullable<GivenSettings['batchStatus']>['recordErrors']>;
    const errors = async (recordErrors: Form) =>
      (await mixed(await open({ batchStatus: { recordErrors } }))).errors.recordErrors;
    expect(await errors('resource')).toEqual(["Resource 'failed': /size must be number"]);
    expect(await errors('index')).toEqual(['record 1: /size must be number']);
    expect(await errors('unnamed')).toEqual(['/size must be number']);
    expect(await errors('counted')).toEqual(['1 record(s) /size must be number']);
    expect(await errors('none')).toEqual([]);
  },
};
