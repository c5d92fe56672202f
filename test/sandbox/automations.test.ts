/** 4.13 and 4.15: automations and their communication groups. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { createDatabase, startForTest, undeclared, type TestDatabase } from './running-sandbox.js';

const MERGE_FIELD = { id: 'm-1', templateName: 'first_name', displayName: 'First name', type: 'static' };
const AUTOMATION = {
  name: 'Autumn sale',
  description: 'Once a year.',
  status: 'draft',
  automationType: 'managed',
  triggerMetadata: { triggerType: 'one_time', scheduledAt: '2026-10-01T08:00:00Z', timezone: 'Europe/Oslo' },
  actionData: [
    {
      actionType: 'send_communication',
      actionMetadata: {
        actionType: 'send_communication',
        communicationGroupId: 'sale-message',
        currentActionId: 'step-1',
        nextActionId: 'step-2',
        templateActionId: '00000000-0000-4000-8000-000000000009',
        customBlockText: 'Only today',
        reputationTemplateType: 'feedback-request',
      },
    },
  ],
  derivedRevenue: 12.5,
  derivedOrders: 3,
  extraMergeFieldsInUse: [MERGE_FIELD],
  usePointOfContactSender: true,
  senderProfileId: '00000000-0000-4000-8000-000000000010',
};
const GROUP = {
  id: 'sale-message',
  type: 'custom',
  emailChannelSenderId: 'news',
  emailHtmlBody: '<p>Hello</p>',
  emailCompiledHtml: '<html><p>Hello</p></html>',
  emailTextBody: 'Hello',
  emailPreviewText: 'Hello',
  emailSubject: 'Sale',
  smsChannelSenderId: 'sms',
  smsMessageBody: 'Sale!',
  textMessageCompanyName: 'North',
  textMessageMediaUrls: ['https://media.example/sale.png'],
  updatedFromDefault: { email_html_body: '2026-09-01T10:00:00Z' },
  extraMergeFields: [MERGE_FIELD],
};
const TIMES = { createdAt: '2026-09-01T08:00:00Z', updatedAt: '2026-09-02T08:00:00+02:00' };
const FIXTURE: Fixture = {
  tenants: [
    {
      id: 'north',
      name: 'North',
      automations: [
        { id: 'sale', ...AUTOMATION, ...TIMES },
        {
          id: 'review',
          name: 'Review',
          status: 'active',
          automationType: 'managed_hidden',
          triggerMetadata: { triggerType: 'visit' },
          actionData: [],
          createdAt: '2026-01-01T00:00:00Z',
        },
      ],
      communicationGroups: [GROUP],
    },
    {
      id: 'south',
      name: 'South',
      automations: [
        {
          id: 'southern',
          name: 'Southern',
          status: 'active',
          automationType: 'managed',
          triggerMetadata: { triggerType: 'visit' },
          actionData: [],
          createdAt: '2026-01-01T00:00:00Z',
        },
      ],
      communicationGroups: [{ id: 'southern-message', emailSubject: 'South' }],
    },
  ],
};

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('automations');
  sandbox = await startForTest(database, {}, FIXTURE);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const automation = (path: string, tenant = 'north') => sandbox.call('GET', `/api/automations/${path}`, { tenant });
const group = (id: string, tenant = 'north') => sandbox.call('GET', `/api/communication-groups/${id}`, { tenant });

describe('an automation', () => {
  it('is returned with everything that is stored of it', async () => {
    const answer = await automation('sale');
    expect(answer.status).toBe(200);
    expect(undeclared('getAutomation', answer)).toEqual([]);
    expect(answer.body.data).toEqual({
      id: 'sale',
      ...AUTOMATION,
      triggerType: 'one_time',
      includeSegmentIds: [],
      excludeSegmentIds: [],
      businessId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      createdAt: '2026-09-01T08:00:00.000Z',
      updatedAt: '2026-09-02T06:00:00.000Z',
    });
  });

  it('of the type managed_hidden is visible only to the feature reputation', async () => {
    expect((await automation('review?feature=reputation')).status).toBe(200);
    for (const query of ['', '?feature=engage', '?feature=measure', '?feature=acquire', '?feature=voice'])
      expect((await automation(`review${query}`)).status, query).toBe(404);
  });

  it('of another type is visible to every feature', async () => {
    for (const feature of ['engage', 'measure', 'reputation', 'acquire', 'voice'])
      expect((await automation(`sale?feature=${feature}`)).status, feature).toBe(200);
  });

  it('is refused for a feature that does not exist', async () => {
    const { status, body } = await automation('sale?feature=loyalty');
    expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining('query/feature')]);
  });

  it("is refused like an unknown one if it is hidden or another tenant's", async () => {
    const texts = await Promise.all(
      ['unknown', 'review', 'southern'].map(async (id) => {
        const { status, body } = await automation(id);
        return JSON.stringify([status, body]).replace(id, '<id>');
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('404');
    expect((await automation('southern', 'south')).status).toBe(200);
  });

  it('is unknown if its id could not be stored', async () => {
    expect((await automation('%00')).status).toBe(404);
  });
});

describe('a communication group', () => {
  it('is returned with everything that is stored of it', async () => {
    const answer = await group('sale-message');
    expect(undeclared('getCommunicationGroup', answer)).toEqual([]);
    expect([answer.status, answer.body.data]).toEqual([200, GROUP]);
  });

  it("is refused like an unknown one if it is another tenant's", async () => {
    const [unknown, foreign] = [await group('unknown'), await group('southern-message')];
    expect([unknown.status, foreign.status, (await group('southern-message', 'south')).status]).toEqual([
      404, 404, 200,
    ]);
    expect(foreign.body.message.replace('southern-message', '')).toBe(unknown.body.message.replace('unknown', ''));
    expect((await group('%00')).status).toBe(404);
  });
});
