/** What the settings of segments, reports, channels and the library do. */
import { expect } from 'vitest';
import { unique, type Caller } from '../running-sandbox.js';
import { SHOP, type Demonstrations, type Open } from './demonstration.js';

const counted = async (sandbox: Caller, body: object = {}) => {
  const answer = await sandbox.call('POST', '/api/segments/count', { ...SHOP, body });
  return (answer.body.data['recipients'] as { externalId: string }[]).map(({ externalId }) => externalId).sort();
};
const usage = async (sandbox: Caller, query = '') =>
  (await sandbox.call('GET', `/partner/engage/tenants?limit=100${query}`)).body.data['results'] as {
    tenantId: string;
    totalSends: number;
    activeAutomations: number;
  }[];
const tenantsIn = (rows: readonly { tenantId: string }[]) => rows.map(({ tenantId }) => tenantId);

/** A channel integration, and the answer to an account on it. */
async function account(sandbox: Caller, type: 'email' | 'sms', metadata: object) {
  const body = {
    channel_provider: 'service-managed',
    channel_integration_type: type,
    channel_integration_metadata: {},
  };
  const { id } = (await sandbox.call('POST', '/partner/channel/integrations', { body })).body.data;
  return sandbox.call('POST', '/api/channel/accounts', {
    body: { channelIntegrationId: id, channelAccountMetadata: metadata },
  });
}

/** Items of the fixture's library. */
const [SEGMENT, OWN] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'];
const synced = async (open: Open, results: object, body: object) => {
  const sandbox = await open({ libraryResults: results });
  return (await sandbox.call('PATCH', '/partner/engage-library/shop', { body })).body.data['results'];
};

export const messaging: Demonstrations = {
  async contactCategories(open) {
    const sandbox = await open({ contactCategories: ['contacts_schema', 'combined_schema'] });
    const name = unique('members');
    const properties = { email: { type: 'string' } };
    await sandbox.createSchema(name, properties, { category: 'combined_schema' });
    await sandbox.uploaded(name, [{ id: 'member' }], SHOP);
    expect(await counted(sandbox)).toEqual(['ann', 'bob', 'cleo', 'member']);
    const text = { text: `${name.replaceAll('_', ' ')} with an email` };
    expect((await sandbox.call('POST', '/api/segments/text-to-segment', { ...SHOP, body: text })).body.success).toBe(
      true,
    );
  },
  async 'contactFields.firstName'(open) {
    const sandbox = await open({ contactFields: { firstName: ['nick_name'] } });
    expect(await counted(sandbox, { search: 'annie' })).toEqual(['ann']);
    expect(await counted(sandbox, { search: 'cleo' })).toEqual([]);
  },
  async 'contactFields.lastName'(open) {
    const sandbox = await open({ contactFields: { lastName: ['nickName'] } });
    expect(await counted(sandbox, { search: 'ann annie' })).toEqual(['ann']);
  },
  async 'contactFields.email'(open) {
    const sandbox = await open({ contactFields: { email: ['nickName'] } });
    expect(await counted(sandbox, { filter: 'email' })).toEqual(['ann']);
  },
  async 'contactFields.phone'(open) {
    const sandbox = await open({ contactFields: { phone: ['nickName'] } });
    expect(await counted(sandbox, { filter: 'phone' })).toEqual(['ann']);
  },
  async 'contactFields.emailOptOut'(open) {
    expect(await optedOut(await open({ contactFields: { emailOptOut: ['quiet'] } }))).toEqual([true, false]);
  },
  async 'contactFields.smsOptOut'(open) {
    expect(await optedOut(await open({ contactFields: { smsOptOut: ['quiet'] } }))).toEqual([false, true]);
  },
  async 'contactFields.emailOptIn'(open) {
    expect(await optedOut(await open({ contactFields: { emailOptIn: ['agreed'] } }))).toEqual([true, false]);
  },
  async 'contactFields.smsOptIn'(open) {
    expect(await optedOut(await open({ contactFields: { smsOptIn: ['agreed'] } }))).toEqual([false, true]);
  },
  async 'counting.withoutSegments'(open) {
    const sandbox = await open({ counting: { withoutSegments: 'nobody' } });
    expect(await counted(sandbox)).toEqual([]);
    expect(await counted(sandbox, { includeSegments: ['french'] })).toEqual(['ann', 'bob']);
  },
  async 'counting.included'(open) {
    const sandbox = await open({ counting: { included: 'all' } });
    expect(await counted(sandbox, { includeSegments: ['french', 'with-email'] })).toEqual(['bob']);
  },
  async 'counting.excluded'(open) {
    const sandbox = await open({ counting: { excluded: 'all' } });
    expect(await counted(sandbox, { excludeSegments: ['french', 'with-email'] })).toEqual(['ann', 'cleo']);
  },
  async 'counting.automation'(open) {
    const sandbox = await open({ counting: { automation: 'alone' } });
    expect(await counted(sandbox, { automationId: 'news', excludeSegments: ['french'] })).toEqual(['ann', 'bob']);
  },
  async 'counting.optedOut'(open) {
    const fields = { emailOptOut: ['quiet'], smsOptOut: ['quiet'] };
    const sandbox = await open({ counting: { optedOut: 'left_out' }, contactFields: fields });
    expect(await counted(sandbox)).toEqual(['bob', 'cleo']);
  },
  async 'reportDates.format'(open) {
    const sandbox = await open({ reportDates: { format: 'epoch' } });
    const march = await usage(sandbox, `&startDate=${Date.parse('2026-03-01')}&endDate=${Date.parse('2026-03-31')}`);
    expect(march.find(({ tenantId }) => tenantId === 'shop')).toMatchObject({ totalSends: 5 });
    const { status, body } = await sandbox.call('GET', '/partner/engage/tenants?startDate=2026-03-01');
    expect([status, body.errors]).toEqual([400, [expect.stringContaining('milliseconds since 1970')]]);
  },
  async 'reportDates.end'(open) {
    const sandbox = await open({ reportDates: { end: 'excluded' } });
    const sends = async (endDate: string) =>
      (await usage(sandbox, `&startDate=2026-03-01&endDate=${endDate}`)).find(({ tenantId }) => tenantId === 'shop')!
        .totalSends;
    expect([await sends('2026-03-10'), await sends('2026-03-11')]).toEqual([0, 5]);
  },
  async 'usage.order'(open) {
    const sandbox = await open({ usage: { order: 'least_first' } });
    const sends = (await usage(sandbox)).map(({ totalSends }) => totalSends);
    expect(sends).toEqual([...sends].sort((a, b) => a - b));
    expect(sends.at(-1)).toBeGreaterThan(0);
    const first = await sandbox.call('GET', '/partner/engage/tenants?limit=1');
    const { cursor } = first.body.data['pagination'] as { cursor: string };
    const second = await sandbox.call('GET', `/partner/engage/tenants?limit=100&cursor=${cursor}`);
    expect(second.body.data['results']).toHaveLength(sends.length - 1);
  },
  async 'usage.broadcastTriggers'(open) {
    const sandbox = await open({ usage: { broadcastTriggers: ['weekly'] } });
    expect(tenantsIn(await usage(sandbox))).not.toContain('planner');
    expect(tenantsIn(await usage(await open({})))).toContain('planner');
  },
  async 'usage.activeStatuses'(open) {
    const sandbox = await open({ usage: { activeStatuses: ['draft'] } });
    expect((await usage(sandbox)).find(({ tenantId }) => tenantId === 'shop')).toMatchObject({ activeAutomations: 1 });
  },
  async 'usage.sentBefore'(open) {
    const sandbox = await open({ usage: { sentBefore: 'left_out' } });
    expect(tenantsIn(await usage(sandbox))).toContain('sender');
    expect(tenantsIn(await usage(sandbox, '&startDate=2026-06-01'))).not.toContain('sender');
  },
  async 'voice.tenants'(open) {
    const sandbox = await open({ voice: { tenants: 'all' } });
    const { body } = await sandbox.call('GET', '/partner/voice/calls/aggregates?limit=100', { tenant: null });
    const rows = body.data['results'] as { tenantName: string }[];
    expect(rows.find(({ tenantName }) => tenantName === 'North')).toEqual({
      tenantExternalId: null,
      tenantName: 'North',
      totalCalls: 0,
      transferredCount: 0,
      totalDurationSecs: 0,
      avgDurationSecs: 0,
      totalCostCents: 0,
      sentimentPositive: 0,
      sentimentNegative: 0,
      sentimentNeutral: 0,
    });
  },
  async mailDomain(open) {
    const sandbox = await open({ mailDomain: 'post.example' });
    const { body } = await account(sandbox, 'email', { domainPrefix: unique('a').replace('_', '-') });
    expect(body.data.name).toMatch(/\.post\.example$/);
  },
  async 'channels.combinations'(open) {
    const sandbox = await open({ channels: { combinations: 'any' } });
    const statuses = [
      await account(sandbox, 'email', {}),
      await account(sandbox, 'sms', { domainPrefix: 'one', type: 'another' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200]);
    const body = {
      channel_provider: 'service-managed-mail',
      channel_integration_type: 'sms',
      channel_integration_metadata: {},
    };
    expect((await sandbox.call('POST', '/partner/channel/integrations', { body })).status).toBe(200);
  },
  async 'channels.verified'(open) {
    const { body } = await account(await open({ channels: { verified: false } }), 'email', { domainPrefix: 'later' });
    expect(body.data['channelAccountMetadata']).toMatchObject({ dkimVerified: false, verifiedReturnPath: false });
  },
  async 'libraryResults.segment'(open) {
    const results = await synced(open, { segment: 'segment_definition' }, { sync: [{ id: SEGMENT }] });
    expect(results).toMatchObject([{ type: 'segment_definition', status: 'synced' }]);
  },
  async 'libraryResults.unsynced'(open) {
    const results = await synced(open, { unsynced: 'removed' }, { unsync: [{ id: SEGMENT }] });
    expect(results).toMatchObject([{ action: 'unsync', status: 'removed' }]);
  },
  async 'libraryResults.conflict'(open) {
    expect(await synced(open, { conflict: 'skipped' }, { sync: [{ id: OWN }] })).toMatchObject([{ status: 'skipped' }]);
  },
};

/** Whether Ann, who is quiet and has not agreed, is opted out of emails and of text messages. */
async function optedOut(sandbox: Caller): Promise<unknown[]> {
  const { body } = await sandbox.call('POST', '/api/segments/count', { ...SHOP, body: { search: 'ann' } });
  const [ann] = body.data['recipients'] as Record<string, unknown>[];
  return [ann!['emailOptedOut'], ann!['smsOptedOut']];
}
