/** Reports for a partner: usage (4.1), voice calls (4.16) and SMS registration (4.17) of its tenants. */
import { Type, type Static } from 'typebox';
import { DateRange, Maybe, Text } from './fields.js';
import { defineOperation } from './operation.js';
import { Cursor, Limit, Pagination } from './pagination.js';

export const UsageRow = Type.Object({
  tenantId: Type.String(),
  tenantExternalId: Type.Union([Type.String(), Type.Null()]),
  tenantName: Type.String(),
  emailsSent: Type.Number(),
  smsSent: Type.Number(),
  totalSends: Type.Number(),
  activeAutomations: Type.Number(),
  smsNumberCount: Type.Number(),
});
export type UsageRow = Static<typeof UsageRow>;

export const VoiceAggregate = Type.Object({
  tenantExternalId: Maybe(Type.String()),
  tenantName: Maybe(Type.String()),
  totalCalls: Type.Number(),
  transferredCount: Maybe(Type.Number()),
  totalDurationSecs: Maybe(Type.Number()),
  avgDurationSecs: Maybe(Type.Number()),
  totalCostCents: Maybe(Type.Number()),
  sentimentPositive: Maybe(Type.Number()),
  sentimentNegative: Maybe(Type.Number()),
  sentimentNeutral: Maybe(Type.Number()),
});
export type VoiceAggregate = Static<typeof VoiceAggregate>;

export const SmsRegistration = Type.Object({
  id: Type.String(),
  status: Maybe(Type.String()),
  application: Type.Optional(Type.Unknown({ description: 'its structure is not shown' })),
  createdAt: Maybe(Type.String()),
  updatedAt: Maybe(Type.String()),
});
export type SmsRegistration = Static<typeof SmsRegistration>;

const ListQuery = Type.Object({ cursor: Cursor, limit: Limit(100, 25), ...DateRange });

export const reportOperations = {
  listTenantUsage: defineOperation({
    section: '4.1',
    tag: 'Reports',
    command: 'usage list',
    summary: 'Lists the usage of the engagement product, tenant by tenant, ranked by total sends.',
    description:
      'A tenant is listed if it finished the onboarding wizard, has sent a message, has created a broadcast, has an active automation or has an SMS number. The range of dates applies to sends only.',
    method: 'GET',
    path: '/partner/engage/tenants',
    scope: 'open',
    idempotent: true,
    params: Type.Object({}),
    query: ListQuery,
    body: null,
    status: 200,
    data: Type.Object({ results: Type.Array(UsageRow), pagination: Pagination }),
    pages: { cursorIn: 'query', entries: 'results' },
    refusals: {},
    shownStatuses: ['invalid'],
  }),
  listVoiceAggregates: defineOperation({
    section: '4.16',
    tag: 'Reports',
    command: 'voice aggregates',
    summary: 'Lists aggregates of voice calls, tenant by tenant.',
    method: 'GET',
    path: '/partner/voice/calls/aggregates',
    scope: 'partner',
    tenantFilter: true,
    idempotent: true,
    params: Type.Object({}),
    query: ListQuery,
    body: null,
    status: 200,
    data: Type.Object({ results: Type.Array(VoiceAggregate), pagination: Pagination }),
    pages: { cursorIn: 'query', entries: 'results' },
    refusals: {},
  }),
  getSmsRegistration: defineOperation({
    section: '4.17',
    tag: 'Reports',
    command: 'sms-registrations get',
    summary: "Reads a tenant's SMS registration; null when it has none.",
    method: 'GET',
    path: '/partner/tenants/{id}/sms-registration',
    scope: 'partner',
    idempotent: true,
    params: Type.Object({ id: Text('id of the tenant') }),
    query: Type.Object({}),
    body: null,
    status: 200,
    data: Type.Union([SmsRegistration, Type.Null()]),
    refusals: { notFound: 'There is no such tenant.' },
  }),
};
