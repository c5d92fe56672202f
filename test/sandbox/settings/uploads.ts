/** What the settings of requests and uploads do. */
import { expect } from 'vitest';
import { unique, type Caller } from '../running-sandbox.js';
import type { Demonstrations } from './demonstration.js';

const WAIT = { query: '?dependencyWaitTimeout=3600' };

/** A schema of things with a size, an address and an owner. */
async function things(sandbox: Caller, more: object = {}): Promise<string> {
  const name = unique('things');
  const address = { type: 'object', properties: { city: { type: 'string' }, street: { type: 'string' } } };
  await sandbox.createSchema(name, { id: {}, size: { type: 'number' }, address, owner: { $ref: name } }, more);
  return name;
}

const stored = async (sandbox: Caller, name: string, id: string) =>
  (await sandbox.read(name, id, { query: '?referenceFormat=id' })).body.data.result.data;

const definition = (more: object = {}) => ({
  name: unique('things'),
  category: 'custom_schema',
  externalIdField: 'id',
  schema: { properties: { id: {} } },
  ...more,
});
const creates = (sandbox: Caller, body: object) => sandbox.call('POST', '/partner/schema-definitions', { body });
const DOMAIN = { apexDomain: 'shop.example', subdomain: 'mail', userPart: 'news', emailFromName: 'News' };

export const uploads: Demonstrations = {
  async 'unknownInput.body'(open) {
    const sandbox = await open({ unknownInput: { body: 'ignore' } });
    expect((await creates(sandbox, definition({ colour: 'red' }))).status).toBe(200);
  },
  async 'unknownInput.query'(open) {
    const sandbox = await open({ unknownInput: { query: 'refuse' } });
    const { status, body } = await sandbox.call('GET', '/partner/engage/tenants?page=2');
    expect([status, body.errors]).toEqual([400, ['query/page is not a parameter of this operation']]);
  },
  async 'unknownInput.include'(open) {
    const sandbox = await open({ unknownInput: { include: 'ignore' } });
    const name = await things(sandbox);
    await sandbox.uploaded(name, [{ id: 'a', owner: 'b' }, { id: 'b' }]);
    const { body } = await sandbox.read(name, 'a', { query: '?include=nothing,owner' });
    expect(body.data.included).toMatchObject([{ resourceExternalId: 'b' }]);
  },
  async 'alsoRequired.createSchemaDefinition'(open) {
    const sandbox = await open({ alsoRequired: { createSchemaDefinition: ['description', 'pluralName'] } });
    const refused = await creates(sandbox, definition());
    expect(refused.body.errors).toEqual(['body/description is required', 'body/pluralName is required']);
    expect((await creates(sandbox, definition({ description: 'x', plural_name: 'y' }))).status).toBe(200);
  },
  async 'alsoRequired.createSendingDomain'(open) {
    const sandbox = await open({ alsoRequired: { createSendingDomain: ['emailReplyTo'] } });
    const refused = await sandbox.call('POST', '/api/sending-domains', { body: DOMAIN });
    expect(refused.body.errors).toEqual(['body/emailReplyTo is required']);
  },
  async existing(open) {
    const sandbox = await open({ existing: 'answer' });
    const twice = async (path: string, body: object) => {
      const first = await sandbox.call('POST', path, { body });
      const second = await sandbox.call('POST', path, { body });
      expect(first.status).toBe(200);
      expect([second.status, second.body.data]).toEqual([200, first.body.data]);
    };
    await twice('/partner/schema-definitions', definition());
    await twice('/api/sending-domains', DOMAIN);
    const integration = await sandbox.call('POST', '/partner/channel/integrations', {
      body: {
        channel_provider: 'service-managed',
        channel_integration_type: 'email',
        channel_integration_metadata: {},
      },
    });
    const { id } = integration.body.data;
    await twice('/api/channel/accounts', {
      channelIntegrationId: id,
      channelAccountMetadata: { domainPrefix: 'one' },
    });
  },
  async 'schemas.dialect'(open) {
    const sandbox = await open({ schemas: { dialect: '2020-12' } });
    // A keyword of that dialect, which the other does not know.
    const name = unique('things');
    const schema = { properties: { id: {}, pair: { prefixItems: [{ type: 'number' }] } } };
    await creates(sandbox, definition({ name, schema }));
    expect((await sandbox.uploaded(name, [{ id: 'a', pair: ['x'] }])).progress).toMatchObject({ failedRecords: 1 });
  },
  async 'schemas.formats'(open) {
    const sandbox = await open({ schemas: { formats: false } });
    const name = unique('things');
    await sandbox.createSchema(name, { mail: { type: 'string', format: 'email' } });
    expect((await sandbox.uploaded(name, [{ id: 'a', mail: 'none' }])).progress).toMatchObject({ failedRecords: 0 });
  },
  async 'schemas.references'(open) {
    const sandbox = await open({ schemas: { references: 'existing' } });
    const name = unique('things');
    const refersTo = ($ref: string) => ({ name, schema: { properties: { id: {}, owner: { $ref } } } });
    const refused = await creates(sandbox, definition(refersTo('yet-to-come')));
    expect(refused.body.errors).toEqual([
      'body/schema refers to "yet-to-come", but there is no such schema definition',
    ]);
    expect((await creates(sandbox, definition(refersTo(name)))).status).toBe(200);
  },
  async transactionsSchema(open) {
    const name = unique('sales');
    const sandbox = await open({ transactionsSchema: name });
    await sandbox.createSchema(name, { transactionId: { type: 'string' } }, { externalIdField: 'transactionId' });
    const body = { resources: [{ transactionId: 't-1' }] };
    const { status } = await sandbox.call('POST', '/api/resources/transactions/batch', { body });
    expect(status).toBe(202);
    await expect.poll(async () => (await sandbox.read(name, 't-1')).status).toBe(200);
  },
  async 'records.merge'(open) {
    const sandbox = await open({ records: { merge: 'deep' } });
    const name = await things(sandbox);
    await sandbox.uploaded(name, [{ id: 'a', address: { city: 'Oslo', street: 'Kirkegata' } }]);
    await sandbox.uploaded(name, [{ id: 'a', address: { city: 'Bergen' } }]);
    expect(await stored(sandbox, name, 'a')).toEqual({ id: 'a', address: { city: 'Bergen', street: 'Kirkegata' } });
    await sandbox.uploaded(name, [{ id: 'a', address: { street: null } }]);
    expect(await stored(sandbox, name, 'a')).toEqual({ id: 'a', address: { city: 'Bergen' } });
  },
  async 'records.validated'(open) {
    const sandbox = await open({ records: { validated: 'sent' } });
    const schema = { type: 'object', required: ['id', 'size'], properties: { id: {}, size: {}, color: {} } };
    const name = await things(sandbox, { schema });
    await sandbox.uploaded(name, [{ id: 'a', size: 1 }]);
    const { errors } = await sandbox.uploaded(name, [{ id: 'a', color: 'red' }]);
    expect(errors.recordErrors).toEqual([`externalId "a": / must have required property 'size'`]);
  },
  async 'records.repeated'(open) {
    const sandbox = await open({ records: { repeated: 'fail' } });
    const name = await things(sandbox);
    const resources = [1, 2].map((size) => ({ id: 'a', size }));
    expect((await sandbox.uploaded(name, resources)).progress).toMatchObject({
      successfulRecords: 1,
      failedRecords: 1,
    });
    expect(await stored(sandbox, name, 'a')).toEqual({ id: 'a', size: 1 });
  },
  async 'records.unknownFields'(open) {
    const sandbox = await open({ records: { unknownFields: 'fail_record' } });
    const name = await things(sandbox);
    const { progress, errors } = await sandbox.uploaded(name, [{ id: 'a', extra: 1 }, { id: 'b' }]);
    expect(progress).toMatchObject({ successfulRecords: 1, failedRecords: 1 });
    expect(errors.recordErrors).toEqual(['externalId "a": the schema does not declare "extra"']);
  },
  async 'records.integerIds'(open) {
    const sandbox = await open({ records: { integerIds: false } });
    const { errors } = await sandbox.uploaded(await things(sandbox), [{ id: 1 }]);
    expect(errors.recordErrors).toEqual(['record 0: /id must be a string']);
  },
  async 'records.references'(open) {
    const sandbox = await open({ records: { references: ['object'] } });
    const name = await things(sandbox);
    const resources = [{ id: 'a' }, { id: 'b', owner: 'a' }, { id: 'c', owner: { type: name, id: 'a' } }];
    const { errors } = await sandbox.uploaded(name, resources);
    expect(errors.recordErrors).toEqual(['externalId "b": /owner must be an object { type, id }']);
  },
  async 'records.referencesWithinUpload'(open) {
    const sandbox = await open({ records: { referencesWithinUpload: false } });
    const name = await things(sandbox);
    const family = [{ id: 'a', owner: 'b' }, { id: 'b' }];
    expect((await sandbox.uploaded(name, family)).progress).toMatchObject({ successfulRecords: 1, failedRecords: 1 });
    // Now the parent is there from before.
    expect((await sandbox.uploaded(name, family)).progress).toMatchObject({ successfulRecords: 2 });
  },
  async 'failureMessages.missingParent'(open) {
    const sandbox = await open({ failureMessages: { missingParent: 'nobody knows {parents}' } });
    const name = await things(sandbox);
    const { errors } = await sandbox.uploaded(name, [{ id: 'a', owner: '$&' }]);
    expect(errors.recordErrors).toEqual([`externalId "a": nobody knows ${name} "$&"`]);
  },
  async 'failureMessages.expired'(open) {
    const sandbox = await open({ failureMessages: { expired: 'timed out' }, batchStatus: { recordErrors: 'counted' } });
    const resources = [
      { id: 'a', owner: 'never' },
      { id: 'b', owner: 'nor this' },
    ];
    const batch = await sandbox.upload(await things(sandbox), resources, { query: '?dependencyWaitTimeout=1' });
    expect((await sandbox.completed(batch)).errors.recordErrors).toEqual(['2 record(s) timed out']);
  },
  async 'failureMessages.other'(open) {
    const sandbox = await open({ failureMessages: { other: 'validation failed ({reason})' } });
    const { errors } = await sandbox.uploaded(await things(sandbox), [{ id: 'a', size: 'large' }]);
    expect(errors.recordErrors).toEqual(['externalId "a": validation failed (/size must be number)']);
  },
  async 'pending.countsFrom'(open) {
    const sandbox = await open({ pending: { countsFrom: 'processing' }, processingDelay: 300 });
    const name = await things(sandbox);
    const batch = await sandbox.processed(await sandbox.upload(name, [{ id: 'a', owner: 'late' }], WAIT));
    const { expiresAt } = batch.pendingResources[0] as unknown as { expiresAt: string };
    expect(Date.parse(expiresAt) - Date.parse(batch.createdAt)).toBeGreaterThanOrEqual(3_600_000 + 299);
  },
  async 'pending.completed'(open) {
    const slow = await open({ pending: { completed: 'at_check' }, expiryCheckInterval: 3_600_000 });
    const name = await things(slow);
    const child = await slow.upload(name, [{ id: 'a', owner: 'late' }], WAIT);
    await slow.processed(child);
    await slow.uploaded(name, [{ id: 'late' }]);
    expect((await slow.batch(child)).progress).toMatchObject({ pendingRecords: 1 });
    const soon = await open({ pending: { completed: 'at_check' }, expiryCheckInterval: 20 });
    expect((await soon.completed(child)).progress).toMatchObject({ successfulRecords: 1 });
  },
  async 'pending.expired'(open) {
    const sandbox = await open({ pending: { expired: 'store' } });
    const name = await things(sandbox);
    const grandchild = await sandbox.upload(name, [{ id: 'b', owner: 'a' }], WAIT);
    await sandbox.processed(grandchild);
    const child = await sandbox.upload(name, [{ id: 'a', owner: 'never' }], { query: '?dependencyWaitTimeout=1' });
    expect((await sandbox.completed(child)).progress).toMatchObject({ successfulRecords: 1, failedRecords: 0 });
    expect(await stored(sandbox, name, 'a')).toEqual({ id: 'a', owner: 'never' });
    expect((await sandbox.completed(grandchild)).progress).toMatchObject({ successfulRecords: 1 });
  },
  async 'pending.newer'(open) {
    const sandbox = await open({ pending: { newer: 'replaces' } });
    const name = await things(sandbox);
    const older = await sandbox.upload(name, [{ id: 'a', owner: 'late', size: 1 }], WAIT);
    await sandbox.processed(older);
    const newer = await sandbox.upload(name, [{ id: 'a', owner: 'late', size: 2 }], WAIT);
    expect((await sandbox.completed(older)).errors.recordErrors).toEqual([
      'externalId "a": a newer upload has taken its place',
    ]);
    await sandbox.uploaded(name, [{ id: 'late' }]);
    expect((await sandbox.completed(newer)).progress).toMatchObject({ successfulRecords: 1 });
    expect(await stored(sandbox, name, 'a')).toMatchObject({ size: 2 });
  },
};
