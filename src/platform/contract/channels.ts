/** Channel integrations of a partner and channel accounts of a tenant: section 2, operations 4.9, 4.11 and 4.12. */
import { Type, type Static } from 'typebox';
import { Maybe, NullableInteger, OneOf, Text } from './fields.js';
import { defineOperation } from './operation.js';
import { Cursor, Pagination } from './pagination.js';

/** Members beyond those listed are "not shown". */
export const ChannelIntegrationMetadata = Type.Object(
  {
    type: Type.Optional(Type.String({ description: 'value shown: service-managed' })),
    customDomainEnabled: Type.Optional(Type.Boolean()),
    cloudCustomDomainInfo: Type.Optional(Type.Unknown({ description: 'may be null' })),
  },
  { additionalProperties: true },
);

export const ChannelIntegration = Type.Object({
  id: Type.String(),
  name: Maybe(Type.String()),
  created_at: Maybe(Type.String()),
  channel_integration_metadata: Maybe(ChannelIntegrationMetadata),
});
export type ChannelIntegration = Static<typeof ChannelIntegration>;

export const ChannelAccount = Type.Object({
  id: Type.String(),
  name: Maybe(Type.String()),
  createdAt: Maybe(Type.String()),
  channelAccountMetadata: Maybe(
    Type.Object(
      {
        type: Maybe(Type.String({ description: 'value shown: service-managed' })),
        baseDomain: Maybe(Type.String()),
        dkimVerified: Maybe(Type.Boolean()),
        dmarcVerified: Maybe(Type.Boolean()),
        verifiedReturnPath: Maybe(Type.Boolean()),
      },
      { additionalProperties: true },
    ),
  ),
});
export type ChannelAccount = Static<typeof ChannelAccount>;

export const channelOperations = {
  createChannelAccount: defineOperation({
    section: '4.9',
    tag: 'Channels',
    command: 'channel-accounts create',
    summary: 'Creates a channel account of the tenant on a channel integration.',
    method: 'POST',
    path: '/api/channel/accounts',
    scope: 'tenant',
    idempotent: false,
    params: Type.Object({}),
    query: Type.Object({}),
    body: Type.Object(
      {
        channelIntegrationId: Text('id of the channel integration'),
        channelAccountMetadata: Type.Object(
          {
            type: Type.Optional(Type.String({ description: 'value shown: service-managed' })),
            domainPrefix: Type.Optional(Type.String({ description: "first label of the account's domain" })),
          },
          { additionalProperties: true, description: 'settings of the account' },
        ),
      },
      { additionalProperties: false },
    ),
    status: 200,
    data: ChannelAccount,
    refusals: {
      notFound: 'There is no such channel integration.',
      taken: 'The tenant has such an account on this channel integration.',
    },
  }),
  createChannelIntegration: defineOperation({
    section: '4.11',
    tag: 'Channels',
    command: 'channel-integrations create',
    summary: 'Creates a channel integration of the partner.',
    method: 'POST',
    path: '/partner/channel/integrations',
    scope: 'partner',
    idempotent: false,
    params: Type.Object({}),
    query: Type.Object({}),
    body: Type.Object(
      {
        channel_provider: OneOf([
          'service-managed',
          'service-managed-mail',
          'service-managed-sms',
          'external-provider',
        ]),
        channel_integration_type: OneOf(['email', 'sms']),
        channel_integration_metadata: ChannelIntegrationMetadata,
      },
      { additionalProperties: false },
    ),
    status: 200,
    data: Type.Object({
      id: Type.String(),
      channel_integration_metadata: Maybe(ChannelIntegrationMetadata),
    }),
    refusals: {},
  }),
  listChannelIntegrations: defineOperation({
    section: '4.12',
    tag: 'Channels',
    command: 'channel-integrations list',
    summary: "Lists the partner's channel integrations.",
    method: 'GET',
    path: '/partner/channel/integrations',
    scope: 'partner',
    idempotent: true,
    params: Type.Object({}),
    query: Type.Object({
      cursor: Cursor,
      limit: Type.Optional(NullableInteger({ minimum: 1, default: 100, description: 'entries of a page' })),
    }),
    body: null,
    status: 200,
    data: Type.Object({ results: Type.Array(ChannelIntegration), pagination: Pagination }),
    pages: { cursorIn: 'query', entries: 'results' },
    refusals: {},
  }),
};
