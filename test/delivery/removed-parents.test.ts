/** Parents of deleted rows: whether the platform has a record of one that was marked as deleted, only the platform knows. */
import { expect, it } from 'vitest';
import { deliveredParents, type ParentContext } from '../../src/delivery/parents/parents.js';
import { removalOf } from '../../src/delivery/removal-record.js';
import { EffortMeter } from '../../src/domain/run/effort.js';
import { createRequestLimit } from '../../src/platform/request-limit.js';
import { ledgerForTests, record } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();

const SPEC = {
  name: 'customers',
  key: ['id'],
  fields: new Map(),
  options: { ledger: 'full' },
  schema: { name: 'customer', schema: { properties: {} }, externalIdField: 'customerId' },
  deletes: { action: { set: { status: 'deleted' }, clear: [] } },
};

/** External ids of the customers that children in the same tenant may refer to, and those that the platform was asked for. */
async function there(ids: readonly string[], onPlatform: readonly string[], options = {}) {
  const asked: string[] = [];
  const findResource = (_schema: string, externalId: string) => {
    asked.push(externalId);
    return Promise.resolve(onPlatform.includes(externalId) ? {} : null);
  };
  const context = {
    deps: { ledger: the.ledger, platform: { findResource } },
    sync: {
      spec: { name: 'shop', mappings: [SPEC] },
      requestLimit: createRequestLimit(4),
      mapping: () => Promise.resolve({ mappingId: the.mappingId, spec: SPEC }),
    },
    mapping: { spec: { fields: new Map() } },
    effort: new EffortMeter(),
  } as unknown as ParentContext;
  const parents = ids.map((externalId) => ({ tenant: 'north', field: '', schemaName: 'customer', externalId }));
  const found = [...(await deliveredParents(context, parents, options))];
  return { found: found.map((key) => (JSON.parse(key) as string[])[2]), asked };
}

it('asks the platform for a parent that was removed, since it may have had no record to mark', async () => {
  await the.deliver(
    await the.newPartition(),
    ['kept', 'marked', 'never had'].map((id) => record(id, '1')),
  );
  const removal = (externalId: string) =>
    removalOf({ spec: SPEC } as unknown as Parameters<typeof removalOf>[0], { tenant: 'north', externalId });
  await the.deliver(await the.newPartition(), [removal('marked'), removal('never had')]);

  expect(await there(['kept', 'marked', 'never had', 'unknown'], ['marked'])).toEqual({
    found: ['kept', 'marked'],
    asked: ['marked', 'never had'],
  });
  // A child that lacked it need not ask again and again.
  expect(await there(['kept', 'never had'], [], { asksForRemoved: false })).toEqual({ found: ['kept'], asked: [] });
});
