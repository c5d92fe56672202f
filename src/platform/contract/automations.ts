/** Automations and their communication groups: section 2, operations 4.13 and 4.15. */
import { Type, type Static } from 'typebox';
import { Maybe, MergeField, OneOf, Text } from './fields.js';
import { defineOperation } from './operation.js';

export const AutomationAction = Type.Object({
  actionType: Maybe(Type.String({ description: 'value shown: send_communication' })),
  actionMetadata: Maybe(
    Type.Object({
      actionType: Maybe(Type.String()),
      communicationGroupId: Maybe(Type.String()),
      currentActionId: Maybe(Type.String()),
      nextActionId: Maybe(Type.String()),
      templateActionId: Maybe(Type.String()),
      customBlockText: Maybe(Type.String()),
      reputationTemplateType: Maybe(Type.String({ description: 'value shown: feedback-request' })),
    }),
  ),
});

export const Automation = Type.Object({
  id: Type.String(),
  name: Maybe(Type.String()),
  description: Maybe(Type.String()),
  createdAt: Maybe(Type.String()),
  updatedAt: Maybe(Type.String()),
  triggerMetadata: Maybe(
    Type.Object({
      triggerType: Maybe(Type.String({ description: 'value shown: one_time' })),
      scheduledAt: Maybe(Type.String()),
      timezone: Maybe(Type.String()),
    }),
  ),
  triggerType: Maybe(Type.String({ description: 'value shown: one_time' })),
  actionData: Maybe(Type.Array(AutomationAction)),
  businessId: Maybe(Type.String()),
  status: Maybe(Type.String({ description: 'value shown: draft' })),
  automationType: Maybe(Type.String({ description: 'values shown: managed, managed_hidden' })),
  includeSegmentIds: Maybe(Type.Array(Type.String())),
  excludeSegmentIds: Maybe(Type.Array(Type.String())),
  derivedRevenue: Maybe(Type.Number()),
  derivedOrders: Maybe(Type.Number()),
  extraMergeFieldsInUse: Maybe(Type.Array(MergeField)),
  usePointOfContactSender: Maybe(Type.Boolean()),
  senderProfileId: Maybe(Type.String()),
});
export type Automation = Static<typeof Automation>;

export const CommunicationGroup = Type.Object({
  id: Type.String(),
  type: Maybe(Type.String({ description: 'value shown: custom' })),
  emailChannelSenderId: Maybe(Type.String()),
  emailHtmlBody: Maybe(Type.String()),
  emailCompiledHtml: Maybe(Type.String()),
  emailTextBody: Maybe(Type.String()),
  emailPreviewText: Maybe(Type.String()),
  emailSubject: Maybe(Type.String()),
  smsChannelSenderId: Maybe(Type.String()),
  smsMessageBody: Maybe(Type.String()),
  textMessageCompanyName: Maybe(Type.String()),
  textMessageMediaUrls: Maybe(Type.Array(Type.String())),
  updatedFromDefault: Maybe(
    Type.Object({
      email_html_body: Maybe(Type.String()),
      email_text_body: Maybe(Type.String()),
      text_message_body: Maybe(Type.String()),
    }),
  ),
  extraMergeFields: Maybe(Type.Array(MergeField)),
});
export type CommunicationGroup = Static<typeof CommunicationGroup>;

export const automationOperations = {
  getAutomation: defineOperation({
    section: '4.13',
    tag: 'Automations',
    command: 'automations get',
    summary: 'Reads an automation.',
    description: 'An automation of the type `managed_hidden` is visible only to the feature `reputation`.',
    method: 'GET',
    path: '/api/automations/{id}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({ id: Text('id of the automation') }),
    query: Type.Object({
      feature: Type.Optional(
        OneOf(['engage', 'measure', 'reputation', 'acquire', 'voice'], {
          default: 'engage',
          description: 'the product that asks',
        }),
      ),
    }),
    body: null,
    status: 200,
    data: Automation,
    refusals: { notFound: 'There is no such automation, or it is hidden from this feature.' },
    shownStatuses: ['notFound'],
  }),
  getCommunicationGroup: defineOperation({
    section: '4.15',
    tag: 'Automations',
    command: 'communication-groups get',
    summary: 'Reads a communication group: the email and text message of an automation.',
    method: 'GET',
    path: '/api/communication-groups/{id}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({ id: Text('id of the communication group') }),
    query: Type.Object({}),
    body: null,
    status: 200,
    data: CommunicationGroup,
    refusals: { notFound: 'There is no such communication group.' },
  }),
};
