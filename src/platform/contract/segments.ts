/** Segments: section 2 and operations 4.2 and 4.7. */
import { Type, type Static } from 'typebox';
import { Maybe, OneOf, Text } from './fields.js';
import { defineOperation } from './operation.js';
import { Cursor, Limit, Pagination } from './pagination.js';

/** A test of one property of a person. */
export const SegmentCondition = Type.Object({
  type: Type.String({ description: 'value shown: property' }),
  value: Type.Array(Type.String()),
  description: Type.String(),
});
export type SegmentCondition = Static<typeof SegmentCondition>;

/** Groups are joined with AND; the conditions inside one use its own logic. */
export const ConditionGroup = Type.Object({
  type: Type.String({ description: 'value shown: group' }),
  description: Type.String(),
  conditions: Type.Array(SegmentCondition),
});
export type ConditionGroup = Static<typeof ConditionGroup>;

export const Recipient = Type.Object({
  id: Type.String(),
  externalId: Maybe(Type.String()),
  firstName: Maybe(Type.String()),
  lastName: Maybe(Type.String()),
  email: Maybe(Type.String()),
  phone: Maybe(Type.String()),
  emailOptedOut: Maybe(Type.Boolean()),
  smsOptedOut: Maybe(Type.Boolean()),
});
export type Recipient = Static<typeof Recipient>;

export const segmentOperations = {
  textToSegment: defineOperation({
    section: '4.2',
    tag: 'Segments',
    command: 'segments from-text',
    summary: 'Builds the conditions of a segment from a written description.',
    description: 'If the description is not understood, it returns `success: false` and the reason.',
    method: 'POST',
    path: '/api/segments/text-to-segment',
    scope: 'tenant',
    // Nothing is stored.
    idempotent: true,
    params: Type.Object({}),
    query: Type.Object({}),
    body: Type.Object(
      {
        text: Text('the description to build from'),
        userCustomVerb: Type.Optional(
          Type.String({ minLength: 1, default: 'user', description: 'the word used for people, such as "guest"' }),
        ),
      },
      { additionalProperties: false },
    ),
    status: 200,
    flat: true,
    data: Type.Object({
      success: Type.Boolean(),
      failureReason: Maybe(Type.String()),
      conditionGroups: Maybe(Type.Array(ConditionGroup)),
      title: Maybe(Type.String({ description: 'suggestion' })),
      description: Maybe(Type.String({ description: 'suggestion' })),
    }),
    refusals: {},
  }),
  countSegments: defineOperation({
    section: '4.7',
    tag: 'Segments',
    command: 'segments count',
    summary: 'Counts and lists the recipients of segments, minus those of others.',
    method: 'POST',
    path: '/api/segments/count',
    scope: 'tenant',
    // A POST, but it only reads.
    idempotent: true,
    params: Type.Object({}),
    query: Type.Object({}),
    body: Type.Object(
      {
        includeSegments: Type.Optional(Type.Array(Type.String(), { description: 'ids of segments' })),
        excludeSegments: Type.Optional(Type.Array(Type.String(), { description: 'ids of segments' })),
        automationId: Type.Optional(Type.String({ description: 'takes the segments of this automation' })),
        search: Type.Optional(Type.String({ description: 'part of a name, an email address or a phone number' })),
        limit: Limit(1000, 100),
        filter: Type.Optional(
          OneOf(['all', 'email', 'phone'], { default: 'all', description: 'only those who have one' }),
        ),
        cursor: Cursor,
      },
      { additionalProperties: false },
    ),
    status: 200,
    data: Type.Object({
      count: Type.Number(),
      recipients: Type.Array(Recipient),
      pagination: Pagination,
    }),
    pages: { cursorIn: 'body', entries: 'recipients' },
    refusals: { notFound: 'There is no such segment or automation.' },
  }),
};
