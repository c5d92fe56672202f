/** Proofs of schema definitions, resources and batches. */
import { expect } from 'vitest';
import type { BodyOf } from '../../../src/platform/contract/operation.js';
import type { Operations } from '../../../src/platform/contract/operations.js';
import { unique } from '../../sandbox/running-sandbox.js';
import { anyObject, anyText, textWith } from '../matchers.js';
import type { Proofs } from '../proof.js';
import { ACME, refusalOf, sale, type Setting } from '../setting.js';

type Definition = BodyOf<Operations['createSchemaDefinition']>;

const definition = (more: object = {}): Definition => ({
  name: unique('thing'),
  category: 'custom_schema',
  externalIdField: 'id',
  schema: { type: 'object', properties: { id: { type: 'string' }, color: { type: 'string' }, size: {} } },
  ...more,
});

/** A schema definition of things that may refer to an owner and to parts, which are things too. */
async function things({ platform }: Setting): Promise<string> {
  const name = unique('thing');
  const $ref = name;
  const properties = { id: { type: 'string' }, color: { type: 'string' }, size: { type: 'number' } };
  const references = { owner: { $ref }, parts: { type: 'array', items: { $ref } } };
  const schema = { type: 'object', properties: { ...properties, ...references } };
  await platform.createSchemaDefinition(definition({ name, schema }));
  return name;
}
const dataOf = async ({ platform }: Setting, name: string, id: string) =>
  (await platform.findResource(name, id, ACME))?.result.data;

const refusesDefinition = async ({ platform }: Setting, field: string, bodies: readonly object[]) => {
  for (const body of bodies) {
    const error = await refusalOf(platform.createSchemaDefinition(definition(body)));
    expect([error.status, error.errors.join()], JSON.stringify(body)).toEqual([400, textWith(field)]);
  }
};

export const createSchemaDefinition: Proofs<'createSchemaDefinition'> = {
  async '4.4: returns the schema definition with both naming styles present'({ raw, platform, settings }) {
    const { body } = await raw('POST', '/partner/schema-definitions', { body: definition({ pluralName: 'lots' }) });
    const { data } = body as { data: object };
    const has = (name: string) => name in data;
    expect([has('pluralName'), has('createdAt')]).toEqual(Array(2).fill(settings.fieldNames !== 'snake'));
    expect([has('plural_name'), has('created_at')]).toEqual(Array(2).fill(settings.fieldNames !== 'camel'));
    const created = await platform.createSchemaDefinition(definition({ pluralName: 'lots' }));
    expect(created).toMatchObject({ pluralName: 'lots', externalIdField: 'id', createdAt: anyText });
    expect(Object.keys(created).filter((name) => /_/.test(name))).toEqual(['platform_id']);
  },
  async '2, 8: name is 1 or more letters, digits, underscores or hyphens, and refers to the schema in API calls'(
    setting,
  ) {
    await refusesDefinition(
      setting,
      'name',
      ['', 'two words', 'dot.ted', 'ümlaut', 'a/b'].map((name) => ({ name })),
    );
    const name = unique('A-z_0');
    await setting.platform.createSchemaDefinition(definition({ name }));
    await setting.upload(name, [{ id: 'x' }]);
    expect(await dataOf(setting, name, 'x')).toEqual({ id: 'x' });
  },
  async '2: pluralName follows the same rule as name'(setting) {
    await refusesDefinition(setting, 'pluralName', [{ pluralName: '' }, { pluralName: 'two words' }]);
  },
  async '2: description and externalIdField have at least one character'(setting) {
    await refusesDefinition(setting, 'description', [{ description: '' }]);
    await refusesDefinition(setting, 'externalIdField', [{ externalIdField: '' }]);
  },
  async '2: category is one of six'(setting) {
    await refusesDefinition(setting, 'category', [{ category: 'other' }, { category: '' }]);
    for (const category of [
      'contacts_schema',
      'transactions_schema',
      'custom_schema',
      'combined_schema',
      'locations_schema',
      'customer_fields',
    ])
      expect((await setting.platform.createSchemaDefinition(definition({ category }))).category).toBe(category);
  },
  async '2, 9.4: plural_name, external_id_field and fields_to_expose are accepted next to their replacements'({
    platform,
  }) {
    const fields = [{ name: 'Color', jsonPath: '$.color', exposure: ['segments'], description: 'its color' }];
    const older = definition({ plural_name: 'older', external_id_field: 'id', fields_to_expose: fields });
    const { externalIdField: _, ...body } = older;
    expect(await platform.createSchemaDefinition(body as Definition)).toMatchObject({
      pluralName: 'older',
      externalIdField: 'id',
      fieldsToExpose: fields,
    });
  },
  async '2: schema is a JSON Schema; reference fields use $ref'(setting) {
    const schema = { properties: { id: {}, owner: { $ref: 'customer' } } };
    const created = await setting.platform.createSchemaDefinition(definition({ schema }));
    expect(created.referenceSchemas).toEqual(['customer']);
    await refusesDefinition(setting, 'schema', [{ schema: { properties: { id: { type: 'no such type' } } } }]);
  },
  async '2: displayMetadata is an object or null'(setting) {
    const reporting = {
      status: { path: '$.color' },
      effectiveDate: { path: '$.size' },
      resourceLink: { source: 'field', path: '$.id' },
    };
    const displayMetadata = { icon: { type: 'set', value: 'cube' }, color: 'red', reporting };
    const shown = await setting.platform.createSchemaDefinition(definition({ displayMetadata }));
    expect(shown.displayMetadata).toEqual(displayMetadata);
    const without = await setting.platform.createSchemaDefinition(definition({ displayMetadata: null }));
    expect(without.displayMetadata ?? null).toBeNull();
    await refusesDefinition(setting, 'displayMetadata', [{ displayMetadata: 'red' }]);
  },
  async '2: fieldsToExpose are the fields offered in segments, each with name, jsonPath, exposure and description'({
    platform,
  }) {
    const name = unique('visitor');
    const exposed = { name: 'Color', jsonPath: '$.color', exposure: ['segments'], description: 'its color' };
    const fieldsToExpose = [exposed, { name: 'Size', jsonPath: '$.size', exposure: ['emails'] }];
    const created = await platform.createSchemaDefinition(
      definition({ name, category: 'contacts_schema', fieldsToExpose }),
    );
    expect(created.fieldsToExpose).toEqual(fieldsToExpose);
    const about = async (field: string) =>
      (await platform.textToSegment({ text: `${name.replaceAll('_', ' ')} with a ${field}` }, ACME)).success;
    expect([await about('color'), await about('size')]).toEqual([true, false]);
  },
  async '2: exposeNameJsonPath is a JSON path, and may be omitted'(setting) {
    const create = (more: object) => setting.platform.createSchemaDefinition(definition(more));
    expect((await create({ exposeNameJsonPath: '$.color' })).exposeNameJsonPath).toBe('$.color');
    expect((await create({})).exposeNameJsonPath ?? null).toBeNull();
    await refusesDefinition(setting, 'exposeNameJsonPath', [{ exposeNameJsonPath: 'color' }]);
  },
  async '2: name, pluralName, category and externalIdField are immutable'(setting) {
    const { id, name } = await setting.platform.createSchemaDefinition(definition());
    const other = definition({ name, pluralName: 'others', category: 'locations_schema', externalIdField: 'color' });
    expect((await refusalOf(setting.platform.createSchemaDefinition(other))).status).toBe(409);
    await setting.upload(id, [{ id: 'still-by-id', color: 'red' }]);
    expect(await dataOf(setting, name, 'still-by-id')).toEqual({ id: 'still-by-id', color: 'red' });
  },
  async '9.3: schema definitions carry a version number'({ platform }) {
    expect((await platform.createSchemaDefinition(definition())).versionNumber).toBe(1);
  },
};

export const uploadTransactions: Proofs<'uploadTransactions'> = {
  async '4.5: transaction resources are uploaded asynchronously, to be read like any resource'(setting) {
    const { batchId } = await setting.platform.uploadTransactions({ resources: [sale('t-50', 'c-1')] }, {}, ACME);
    await expect
      .poll(async () => (await setting.platform.getBatch(batchId, {}, ACME)).completedAt, { timeout: 30_000 })
      .toEqual(anyText);
    expect(await dataOf(setting, 'transactions', 't-50')).toMatchObject({ transactionTotal: 10, customerId: 'c-1' });
  },
  async '4.5: returns batchId, message, recordCount and schemaDefinitionId'({ platform }) {
    expect(await platform.uploadTransactions({ resources: [sale('t-51', 'c-1')] }, {}, ACME)).toEqual({
      batchId: anyText,
      message: anyText,
      recordCount: 1,
      schemaDefinitionId: anyText,
    });
  },
  async '4.5: the query is that of 4.8'({ raw, platform }) {
    const path = '/api/resources/transactions/batch?onconflict=merge&dependencyWaitTimeout=-1&ignoreUnknownFields=x';
    expect((await raw('POST', path, { ...ACME, body: { resources: [{}] } })).status).toBe(400);
    const unknown = { resources: [{ ...sale('t-52', 'c-1'), unknownField: 1 }] };
    expect((await refusalOf(platform.uploadTransactions(unknown, {}, ACME))).status).toBe(400);
    await platform.uploadTransactions(unknown, { ignoreUnknownFields: true }, ACME);
  },
  async '2: transactionDate is an ISO 8601 date-time, transactionTotal a number'({ raw }) {
    for (const more of [
      { transactionDate: 'yesterday' },
      { transactionTotal: 'ten' },
      { transactionId: 5 },
      { transactionDetailUrl: 5 },
    ]) {
      const body = { resources: [{ ...sale('t-53', 'c-1'), ...more }] };
      expect((await raw('POST', '/api/resources/transactions/batch', { ...ACME, body })).status).toBe(400);
    }
  },
};

export const uploadResources: Proofs<'uploadResources'> = {
  async '4.8: the path takes the name or the id of the schema definition'(setting) {
    const { id, name } = await setting.platform.createSchemaDefinition(definition());
    await setting.upload(id, [{ id: 'by-id' }]);
    await setting.upload(name, [{ id: 'by-name' }]);
    for (const external of ['by-id', 'by-name'])
      expect(await dataOf(setting, name, external)).toEqual({ id: external });
  },
  async '4.8: onconflict=upsert merges with the existing record, keeps fields not sent, and a null value deletes that field'(
    setting,
  ) {
    const name = await things(setting);
    await setting.upload(name, [{ id: 'x', color: 'red', size: 1 }]);
    await setting.upload(name, [{ id: 'x', size: 2 }]);
    expect(await dataOf(setting, name, 'x')).toEqual({ id: 'x', color: 'red', size: 2 });
    await setting.upload(name, [{ id: 'x', color: null }], { onconflict: 'upsert' });
    expect(await dataOf(setting, name, 'x')).toEqual({ id: 'x', size: 2 });
  },
  async '4.8, 7.6: with onconflict=reject an existing resource causes an error'(setting) {
    const name = await things(setting);
    await setting.upload(name, [{ id: 'x', color: 'red' }]);
    const batchId = await setting.upload(name, [{ id: 'x', color: 'blue' }, { id: 'y' }], { onconflict: 'reject' });
    const batch = await setting.platform.getBatch(batchId, {}, ACME);
    expect(batch.progress).toMatchObject({ successfulRecords: 1, failedRecords: 1 });
    expect(batch.errors!.recordErrors).toEqual([textWith('"x"')]);
    expect(await dataOf(setting, name, 'x')).toEqual({ id: 'x', color: 'red' });
  },
  async '4.8, 7.6: with ignoreUnknownFields=false, the default, a request with extra fields is rejected'(setting) {
    const name = await things(setting);
    for (const query of [{}, { ignoreUnknownFields: false }]) {
      const uploading = setting.platform.uploadResources(name, { resources: [{ id: 'x', extra: 1 }] }, query, ACME);
      expect((await refusalOf(uploading)).status).toBe(400);
    }
    expect(await dataOf(setting, name, 'x')).toBeUndefined();
  },
  async '4.8: with ignoreUnknownFields=true extra fields are accepted but not saved'(setting) {
    const name = await things(setting);
    await setting.upload(name, [{ id: 'x', extra: 1 }], { ignoreUnknownFields: true });
    expect(await dataOf(setting, name, 'x')).toEqual({ id: 'x' });
  },
  async '4.8: ignoreUnknownFields and dependencyWaitTimeout may be null'(setting) {
    const name = await things(setting);
    const path = `/api/resources/${name}/batch?ignoreUnknownFields=null&dependencyWaitTimeout=null`;
    const taken = await setting.raw('POST', path, { ...ACME, body: { resources: [{ id: 'x' }] } });
    const refused = await setting.raw('POST', path, { ...ACME, body: { resources: [{ id: 'x', extra: 1 }] } });
    expect([taken.status, refused.status]).toEqual([202, 400]);
  },
  async '4.8, 8: dependencyWaitTimeout is 0..86400 seconds, default 0'(setting) {
    const name = await things(setting);
    const send = (dependencyWaitTimeout: number) =>
      setting.platform.uploadResources(name, { resources: [{ id: 'x' }] }, { dependencyWaitTimeout }, ACME);
    for (const seconds of [-1, 86_401, 0.5]) expect((await refusalOf(send(seconds))).status).toBe(400);
    for (const seconds of [0, 86_400]) expect((await send(seconds)).recordCount).toBe(1);
  },
  async '3, 7.6: a resource whose dependency is missing is rejected and not stored when the timeout is 0 or omitted'(
    setting,
  ) {
    const name = await things(setting);
    for (const query of [{}, { dependencyWaitTimeout: 0 }]) {
      const batchId = await setting.upload(name, [{ id: 'child', owner: 'nobody' }], query);
      const { progress } = await setting.platform.getBatch(batchId, {}, ACME);
      expect(progress).toMatchObject({ failedRecords: 1, pendingRecords: 0 });
    }
    expect(await dataOf(setting, name, 'child')).toBeUndefined();
  },
  async '3: a resource whose dependency is missing is pending for that many seconds when the timeout is more than 0, and listed with missingDependencies and expiresAt'(
    setting,
  ) {
    const name = await things(setting);
    const before = Date.now();
    const batchId = await setting.upload(name, [{ id: 'child', owner: 'late' }], { dependencyWaitTimeout: 3600 });
    const held = (await setting.platform.getBatch(batchId, { includePendingDetails: true }, ACME)).pendingResources!;
    expect(held).toMatchObject([
      { resourceExternalId: 'child', missingDependencies: [{ externalId: 'late', schemaName: name }] },
    ]);
    const wait = Date.parse(held[0]!.expiresAt!) - before;
    expect(wait).toBeGreaterThanOrEqual(3_600_000 - 1_000);
    expect(wait).toBeLessThan(3_600_000 + 60_000);

    const short = await setting.upload(name, [{ id: 'other', owner: 'never' }], { dependencyWaitTimeout: 1 });
    await expect
      .poll(async () => (await setting.platform.getBatch(short, {}, ACME)).progress, { timeout: 30_000 })
      .toMatchObject({ failedRecords: 1, pendingRecords: 0 });
  },
  async '4.8, 7.5: answers 202, accepted for asynchronous processing'(setting) {
    const name = await things(setting);
    const body = { resources: [{ id: 'x' }, { id: 'y' }] };
    expect(await setting.raw('POST', `/api/resources/${name}/batch`, { ...ACME, body })).toMatchObject({
      status: 202,
      body: { success: true, data: { batchId: anyText, recordCount: 2, message: anyText } },
    });
  },
  async '4.8: resources are required'(setting) {
    const name = await things(setting);
    for (const body of [{}, { resources: null }, { resources: {} }, { resources: [1] }])
      expect((await setting.raw('POST', `/api/resources/${name}/batch`, { ...ACME, body })).status).toBe(400);
  },
};

/** A schema of things in which `a` has the owner `b`, `b` has the owner `c`, and `a` has the parts `b` and `c`. */
async function family(setting: Setting): Promise<string> {
  const name = await things(setting);
  const resources = [{ id: 'c' }, { id: 'b', owner: 'c' }, { id: 'a', owner: 'b', parts: ['b', 'c'] }];
  await setting.upload(name, resources);
  return name;
}
const includedIn = async ({ platform }: Setting, name: string, include: string) =>
  (await platform.getResource(name, 'a', { include }, ACME)).included!.map((r) => r.resourceExternalId).sort();

export const getResource: Proofs<'getResource'> = {
  async '4.10: the schema definition is named by name or id, the resource by its external id'({ platform, upload }) {
    const { id, name } = await platform.createSchemaDefinition(definition());
    await upload(name, [{ id: 'ä/ö 1' }]);
    for (const nameOrId of [id, name])
      expect((await platform.getResource(nameOrId, 'ä/ö 1', {}, ACME)).result.resourceExternalId).toBe('ä/ö 1');
    expect((await refusalOf(platform.getResource(name, 'other', {}, ACME))).status).toBe(404);
  },
  async '2: the resource record has its ids, its times and its own fields'({ platform }) {
    const { result } = await platform.getResource('customer', 'c-1', {}, ACME);
    const text = anyText;
    expect(result).toEqual({
      id: text,
      schemaDefinitionId: text,
      platformId: text,
      businessId: text,
      resourceExternalId: 'c-1',
      createdAt: text,
      updatedAt: text,
      data: expect.objectContaining({ firstName: 'Ann' }) as object,
    });
  },
  async '4.10: a comma-separated list of reference fields is resolved'(setting) {
    const name = await family(setting);
    expect(await includedIn(setting, name, 'owner')).toEqual(['b']);
    expect(await includedIn(setting, name, 'owner,parts')).toEqual(['b', 'c']);
  },
  async '4.10: nested references are resolved by dot notation'(setting) {
    expect(await includedIn(setting, await family(setting), 'owner.owner')).toEqual(['b', 'c']);
  },
  async '4.10, 9.5: the reference format object is the default: each reference is { type, id }'(setting) {
    const name = await family(setting);
    const reference = (id: string) => ({ type: name, id });
    for (const query of [{}, { referenceFormat: 'object' as const }])
      expect((await setting.platform.getResource(name, 'a', query, ACME)).result.data).toEqual({
        id: 'a',
        owner: reference('b'),
        parts: [reference('b'), reference('c')],
      });
  },
  async '4.10, 9.5: the reference format id gives plain ids'(setting) {
    const name = await family(setting);
    const { result } = await setting.platform.getResource(name, 'a', { referenceFormat: 'id' }, ACME);
    expect(result.data).toEqual({ id: 'a', owner: 'b', parts: ['b', 'c'] });
  },
};

export const getBatch: Proofs<'getBatch'> = {
  async '4.14: a flag includes the details of pending resources and their dependencies'(setting) {
    const name = await things(setting);
    const batchId = await setting.upload(name, [{ id: 'x', owner: 'late' }], { dependencyWaitTimeout: 600 });
    const { pendingResources } = await setting.platform.getBatch(batchId, { includePendingDetails: true }, ACME);
    expect(pendingResources).toMatchObject([{ resourceExternalId: 'x', schemaName: name }]);
    for (const query of [{}, { includePendingDetails: false }])
      expect((await setting.platform.getBatch(batchId, query, ACME)).pendingResources ?? null).toBeNull();
  },
  async '2: the progress has six numbers, and the batch has its times and its schema definition'(setting) {
    const name = await things(setting);
    const batchId = await setting.upload(name, [{ id: 'x' }, { id: 'y', size: 'large' }]);
    const batch = await setting.platform.getBatch(batchId, {}, ACME);
    expect(batch.progress).toEqual({
      totalRecords: 2,
      processedRecords: 2,
      successfulRecords: 1,
      pendingRecords: 0,
      failedRecords: 1,
      successRate: 0.5,
    });
    for (const field of ['createdAt', 'startedAt', 'completedAt'] as const)
      expect(Date.parse(batch[field]!)).toBeGreaterThan(Date.now() - 600_000);
    expect(batch).toMatchObject({ batchId, schemaName: name, schemaDefinitionId: anyText });
  },
  async '2: errors have a summary, details, recordErrors and a message'(setting) {
    const name = await things(setting);
    const batchId = await setting.upload(name, [{ id: 'y', size: 'large' }]);
    expect((await setting.platform.getBatch(batchId, {}, ACME)).errors).toMatchObject({
      summary: anyObject,
      details: anyObject,
      recordErrors: [textWith('size')],
      message: anyText,
    });
  },
};
