/** Proofs of segments, channels, automations and the library. */
import { expect } from 'vitest';
import { mintToken } from '../../../src/sandbox/token.js';
import { SECRET } from '../../sandbox/running-sandbox.js';
import { anyNumber, anyText, textLike, textWith } from '../matchers.js';
import type { Proofs } from '../proof.js';
import { ACME, refusalOf, type Setting } from '../setting.js';

const chosen = async ({ platform }: Setting, body: Parameters<Setting['platform']['countSegments']>[0]) => {
  const { count, recipients } = await platform.countSegments(body, ACME);
  expect(count).toBe(recipients.length);
  return recipients.map(({ externalId }) => externalId).sort();
};

export const textToSegment: Proofs<'textToSegment'> = {
  async '4.2: the answer has success, conditionGroups, title and description'({ platform }) {
    const answer = await platform.textToSegment({ text: 'users whose country is France' }, ACME);
    expect(answer).toMatchObject({ success: true, title: anyText, description: anyText });
    expect(answer.conditionGroups).toHaveLength(1);
  },
  async '4.2: failureReason says why it failed'({ platform }) {
    const answer = await platform.textToSegment({ text: 'users who zorbled' }, ACME);
    expect(answer).toMatchObject({ success: false, failureReason: textWith('zorbled') });
  },
  async '4.2: userCustomVerb is the word used for people, default user'({ platform }) {
    const france = { text: 'guests in France', userCustomVerb: 'guest' };
    expect((await platform.textToSegment(france, ACME)).description).toMatch(/^Guests/);
    expect((await platform.textToSegment({ text: 'users in France' }, ACME)).description).toMatch(/^Users/);
  },
  async '4.2: the error envelope is used on failure'({ platform }) {
    const error = await refusalOf(platform.textToSegment({ text: '' }, ACME));
    expect([error.status, error.errors]).toEqual([400, [textWith('text')]]);
  },
  async '2: a group has type, description and conditions; a condition has type, value and description'({ platform }) {
    const { conditionGroups } = await platform.textToSegment({ text: 'users in France' }, ACME);
    expect(conditionGroups).toMatchObject([
      {
        type: 'group',
        description: anyText,
        conditions: [{ type: 'property', value: ['France'], description: anyText }],
      },
    ]);
  },
};

export const countSegments: Proofs<'countSegments'> = {
  async '4.7: counts and lists the recipients of include and exclude sets; all of the body is optional'(setting) {
    expect(await chosen(setting, {})).toEqual(['c-1', 'c-2', 'c-3']);
    expect(await chosen(setting, { includeSegments: ['reachable-by-email'] })).toEqual(['c-1', 'c-3']);
    const but = { includeSegments: ['reachable-by-email'], excludeSegments: ['opted-out'] };
    expect(await chosen(setting, but)).toEqual(['c-1']);
  },
  async '4.7: automationId takes the segments of an automation'(setting) {
    const { includeSegmentIds, excludeSegmentIds } = await setting.platform.getAutomation('autumn-sale', {}, ACME);
    const direct = { includeSegments: includeSegmentIds ?? [], excludeSegments: excludeSegmentIds ?? [] };
    expect(await chosen(setting, { automationId: 'autumn-sale' })).toEqual(await chosen(setting, direct));
  },
  async '4.7: search filters by name, email or phone'(setting) {
    for (const [search, found] of [
      ['ann', 'c-1'],
      ['example.fr', 'c-3'],
      ['20794', 'c-2'],
    ] as const)
      expect(await chosen(setting, { search })).toEqual([found]);
  },
  async '4.7, 8: limit is 1..1000, default 100, and the cursor of the body returns the next page'({ platform }) {
    const ids = [];
    for await (const { id } of platform.each('countSegments', { ...ACME, body: { limit: 1 } })) ids.push(id);
    expect(new Set(ids).size).toBe(3);
    for (const limit of [0, 1001]) expect((await refusalOf(platform.countSegments({ limit }, ACME))).status).toBe(400);
  },
  async '4.7: filter is all, email or phone'(setting) {
    expect(await chosen(setting, { filter: 'all' })).toHaveLength(3);
    expect(await chosen(setting, { filter: 'email' })).toEqual(['c-1', 'c-3']);
    expect(await chosen(setting, { filter: 'phone' })).toEqual(['c-2']);
    const wrong = await setting.raw('POST', '/api/segments/count', { ...ACME, body: { filter: 'fax' } });
    expect(wrong.status).toBe(400);
  },
  async '2: groups are AND-joined with each other'(setting) {
    // British and at least three transactions: c-2 is British only.
    expect(await chosen(setting, { includeSegments: ['british-regulars'] })).toEqual(['c-1']);
  },
  async "2: conditions inside a group use that group's own logic"(setting) {
    expect(await chosen(setting, { includeSegments: ['french-or-with-phone'] })).toEqual(['c-2', 'c-3']);
    expect(await chosen(setting, { includeSegments: ['french-and-with-phone'] })).toEqual([]);
  },
  async '2: a recipient shows its opt-outs'({ platform }) {
    const { recipients } = await platform.countSegments({ search: 'bob' }, ACME);
    expect(recipients).toMatchObject([{ firstName: 'Bob', emailOptedOut: true, smsOptedOut: true }]);
  },
};

const domain = (apexDomain: string, more = {}) => ({
  apexDomain,
  subdomain: 'mail',
  userPart: 'news',
  emailFromName: 'News',
  ...more,
});
const refusesDomain = async ({ platform }: Setting, field: string, values: readonly string[]) => {
  for (const value of values) {
    const error = await refusalOf(platform.createSendingDomain(domain('refused.example', { [field]: value }), ACME));
    expect([error.status, error.errors.join()], value).toEqual([400, textWith(field)]);
  }
};

export const createSendingDomain: Proofs<'createSendingDomain'> = {
  async '4.3: returns the DNS records needed to verify the domain, each with host, value, ttl and priority (2)'({
    raw,
  }) {
    const { body } = await raw('POST', '/api/sending-domains', { ...ACME, body: domain('records.example') });
    const { id, dnsRecords } = body['data'] as { id: string; dnsRecords: Record<string, unknown>[] };
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(dnsRecords.length).toBeGreaterThanOrEqual(3);
    for (const record of dnsRecords)
      expect(record).toEqual({
        host: textWith('records.example'),
        value: anyText,
        ttl: anyNumber,
        priority: anyNumber,
      });
  },
  async '4.3, 8: userPart is 1..64 characters: atoms joined by dots, with no leading, trailing or doubled dots'(
    setting,
  ) {
    await refusesDomain(setting, 'userPart', ['', '.news', 'news.', 'ne..ws', 'two words', 'a@b', 'x'.repeat(65)]);
    await Promise.all(
      ["o'neil+tag", 'a.b.c', "!#$%&'*+/=?^_`{|}~-", 'x'.repeat(64)].map((userPart, i) =>
        setting.platform.createSendingDomain(domain(`user-part-${i}.example`, { userPart }), ACME),
      ),
    );
  },
  async '4.3, 8: emailFromName has at least one character'(setting) {
    await refusesDomain(setting, 'emailFromName', ['']);
  },
  async '4.3: emailReplyTo is text without whitespace or @, one @, then text containing a dot'(setting) {
    await refusesDomain(setting, 'emailReplyTo', ['nobody', 'a@b', 'a b@c.example', 'a@b@c.example', '@c.example']);
    await setting.platform.createSendingDomain(domain('reply-to.example', { emailReplyTo: 'help@shop.example' }), ACME);
  },
  async '4.3: makeDefaultWhenVerified defaults to true when omitted'({ platform, database }) {
    const given = [{}, { makeDefaultWhenVerified: true }, { makeDefaultWhenVerified: false }];
    const created = await Promise.all(
      given.map((more, i) => platform.createSendingDomain(domain(`default-${i}.example`, more), ACME)),
    );
    const { rows } = await database.query(
      'select id, make_default_when_verified as made from sandbox.sending_domains where id = any($1)',
      [created.map(({ id }) => id)],
    );
    const stored = new Map((rows as { id: string; made: boolean }[]).map(({ id, made }) => [id, made]));
    expect(created.map(({ id }) => stored.get(id))).toEqual([true, true, false]);
  },
};

const integration = (more = {}) => ({
  channel_provider: 'service-managed' as const,
  channel_integration_type: 'email' as const,
  channel_integration_metadata: { type: 'service-managed', customDomainEnabled: false },
  ...more,
});
const refusesBody = async ({ raw }: Setting, path: string, bodies: readonly object[]) => {
  for (const body of bodies)
    expect((await raw('POST', path, { ...ACME, body })).status, JSON.stringify(body)).toBe(400);
};

export const createChannelIntegration: Proofs<'createChannelIntegration'> = {
  async '4.11, 7.5: answers 200 with id and channel_integration_metadata'({ raw }) {
    const { status, body } = await raw('POST', '/partner/channel/integrations', { body: integration() });
    expect([status, body]).toMatchObject([
      200,
      { success: true, data: { id: anyText, channel_integration_metadata: { type: 'service-managed' } } },
    ]);
  },
  async '4.11: channel_provider is one of four, channel_integration_type email or sms, and both are required'(setting) {
    await refusesBody(setting, '/partner/channel/integrations', [
      integration({ channel_provider: 'pigeon' }),
      integration({ channel_integration_type: 'fax' }),
      integration({ channel_provider: undefined }),
      integration({ channel_integration_type: undefined }),
    ]);
  },
  async '4.11: channel_integration_metadata is required'(setting) {
    await refusesBody(setting, '/partner/channel/integrations', [
      integration({ channel_integration_metadata: undefined }),
      integration({ channel_integration_metadata: 'none' }),
    ]);
  },
};

export const listChannelIntegrations: Proofs<'listChannelIntegrations'> = {
  async '4.12: lists what was created, with name, created_at and channel_integration_metadata (2)'({ platform }) {
    const { id } = await platform.createChannelIntegration(integration());
    const { results } = await platform.listChannelIntegrations();
    expect(results.find((entry) => entry.id === id)).toMatchObject({
      name: anyText,
      created_at: anyText,
      channel_integration_metadata: { type: 'service-managed', customDomainEnabled: false },
    });
  },
  async '4.12, 8: limit is a number or null, default 100, and the cursor returns the next page'({ platform, raw }) {
    for (let i = 0; i < 101; i++) await platform.createChannelIntegration(integration());
    expect((await platform.listChannelIntegrations()).results).toHaveLength(100);
    expect((await raw('GET', '/partner/channel/integrations?limit=null')).body).toMatchObject({
      data: { pagination: { hasNextPage: true } },
    });
    const ids = new Set<string>();
    for await (const { id } of platform.each('listChannelIntegrations', { query: { limit: 40 } })) ids.add(id);
    expect(ids.size).toBeGreaterThan(100);
  },
};

export const createChannelAccount: Proofs<'createChannelAccount'> = {
  async '4.9, 7.5: answers 200 with a channel account'({ platform, raw }) {
    const { id } = await platform.createChannelIntegration(integration());
    const body = { channelIntegrationId: id, channelAccountMetadata: { type: 'service-managed', domainPrefix: 'one' } };
    expect(await raw('POST', '/api/channel/accounts', { ...ACME, body })).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: { id: anyText, name: anyText, createdAt: anyText },
      },
    });
  },
  async '4.9: channelIntegrationId and channelAccountMetadata are required'(setting) {
    await refusesBody(setting, '/api/channel/accounts', [
      { channelAccountMetadata: {} },
      { channelIntegrationId: 'x' },
      { channelIntegrationId: 'x', channelAccountMetadata: null },
    ]);
  },
  async '2: its metadata has type, baseDomain and three verification flags'({ platform }) {
    const { id } = await platform.createChannelIntegration(integration());
    const metadata = { type: 'service-managed', domainPrefix: 'two' };
    const account = await platform.createChannelAccount(
      { channelIntegrationId: id, channelAccountMetadata: metadata },
      ACME,
    );
    expect(account.channelAccountMetadata).toMatchObject({
      type: 'service-managed',
      baseDomain: textLike(/^two\./),
      dkimVerified: true,
      dmarcVerified: true,
      verifiedReturnPath: true,
    });
  },
};

export const getAutomation: Proofs<'getAutomation'> = {
  async '4.13: returns the automation with its trigger and actions (2)'({ platform }) {
    expect(await platform.getAutomation('autumn-sale', {}, ACME)).toMatchObject({
      id: 'autumn-sale',
      status: 'draft',
      automationType: 'managed',
      triggerType: 'one_time',
      triggerMetadata: { triggerType: 'one_time' },
      actionData: [
        { actionType: 'send_communication', actionMetadata: { communicationGroupId: 'autumn-sale-message' } },
      ],
      includeSegmentIds: ['reachable-by-email'],
      excludeSegmentIds: ['opted-out'],
      businessId: anyText,
      createdAt: textLike(/^2026-11-02T10:00:00/),
      updatedAt: textLike(/^2026-11-09T16:20:00/),
      derivedRevenue: 0,
      derivedOrders: 0,
      extraMergeFieldsInUse: [{ templateName: 'first_name', staticValue: 'there', type: 'static' }, { id: anyText }],
      usePointOfContactSender: false,
      senderProfileId: anyText,
    });
  },
  async '4.13, 7.4: a managed_hidden automation is returned only for the feature reputation; otherwise the response is 404'({
    platform,
  }) {
    for (const feature of [undefined, 'engage', 'measure', 'acquire', 'voice'] as const) {
      const looking = platform.getAutomation('review-request', feature === undefined ? {} : { feature }, ACME);
      expect((await refusalOf(looking)).status, feature).toBe(404);
    }
    const hidden = await platform.getAutomation('review-request', { feature: 'reputation' }, ACME);
    expect(hidden.automationType).toBe('managed_hidden');
  },
  async '4.13: feature is one of five, default engage'({ raw, platform }) {
    expect((await raw('GET', '/api/automations/autumn-sale?feature=other', ACME)).status).toBe(400);
    const engage = await platform.getAutomation('autumn-sale', { feature: 'engage' }, ACME);
    expect(await platform.getAutomation('autumn-sale', {}, ACME)).toEqual(engage);
  },
  async '5.1: a platform token acts as one tenant by the header service-tenant-id'({ platform }) {
    const other = platform.getAutomation('autumn-sale', {}, { tenant: 'elm-garage' });
    expect((await refusalOf(other)).status).toBe(404);
    expect((await platform.getAutomation('service-reminder', {}, { tenant: 'elm-garage' })).status).toBe('active');
  },
  async '5.1: the header is optional'({ raw }) {
    const token = await mintToken({ secret: SECRET, scope: 'tenant', ...ACME, expiresIn: '1h' });
    const { status, body } = await raw('GET', '/api/automations/autumn-sale', { token });
    expect([status, body]).toMatchObject([200, { data: { id: 'autumn-sale' } }]);
  },
};

export const getCommunicationGroup: Proofs<'getCommunicationGroup'> = {
  async '4.15: returns the email and text message of an automation, with its merge fields (2)'({ platform }) {
    const { actionData } = await platform.getAutomation('autumn-sale', {}, ACME);
    const id = actionData![0]!.actionMetadata!.communicationGroupId!;
    expect(await platform.getCommunicationGroup(id, ACME)).toMatchObject({
      id,
      type: 'custom',
      emailSubject: 'Autumn sale at {{shop_name}}',
      smsMessageBody: 'Autumn sale at {{shop_name}}: this week only.',
      textMessageMediaUrls: [textWith('https://')],
      updatedFromDefault: { email_html_body: anyText },
      extraMergeFields: [{ templateName: 'first_name', type: 'static' }, { templateName: 'shop_name' }],
    });
  },
};

const [WELCOME, BIG_SPENDERS] = ['00000000-0000-4000-8000-000000000101', '00000000-0000-4000-8000-000000000201'];

export const syncLibrary: Proofs<'syncLibrary'> = {
  async '4.6: automation templates and segment definitions are synced to one tenant, each with its own result, and a jobId'({
    platform,
  }) {
    const outcome = await platform.syncLibrary('acme-outdoor', { sync: [{ id: WELCOME }, { id: BIG_SPENDERS }] });
    expect(outcome!.jobId).toMatch(/^[0-9a-f-]{36}$/);
    expect(outcome!.results.map(({ id, type }) => [id, type])).toEqual([
      [WELCOME, 'automation'],
      [BIG_SPENDERS, 'segment'],
    ]);
    expect((await platform.getAutomation(WELCOME, {}, ACME)).name).toBe('Welcome series');
    expect((await platform.countSegments({ includeSegments: [BIG_SPENDERS] }, ACME)).count).toBe(0);
    const elsewhere = platform.getAutomation(WELCOME, {}, { tenant: 'elm-garage' });
    expect((await refusalOf(elsewhere)).status).toBe(404);
  },
  async '4.6: items listed under unsync are removed'({ platform }) {
    await platform.syncLibrary('elm-garage', { sync: [{ id: WELCOME }] });
    await platform.syncLibrary('elm-garage', { unsync: [{ id: WELCOME }] });
    const gone = platform.getAutomation(WELCOME, {}, { tenant: 'elm-garage' });
    expect((await refusalOf(gone)).status).toBe(404);
  },
  async '3: an item listed under sync has the result status synced and the action sync'({ platform }) {
    const outcome = await platform.syncLibrary('blue-bakery', { sync: [{ id: WELCOME }] });
    expect(outcome!.results).toEqual([{ type: 'automation', id: WELCOME, action: 'sync', status: 'synced' }]);
  },
  async '4.6: data may be null'({ platform }) {
    expect(await platform.syncLibrary('acme-outdoor', { sync: [], unsync: [] })).toBeNull();
  },
  async '4.6: item ids are uuids'({ platform }) {
    const error = await refusalOf(platform.syncLibrary('acme-outdoor', { sync: [{ id: 'welcome' }] }));
    expect([error.status, error.errors]).toEqual([400, [textWith('sync/0/id')]]);
  },
};
