/**
 * The parts of the mapping language's JSON Schema about deleted rows and about how records are sent. What they must
 * have in common with the mapping's fields and cursor is checked by check-deletes.ts.
 */
import type { JsonObject } from '../../domain/values/json.js';
import { columnName } from './column-name.js';
import { durationText } from '../../domain/timeouts.js';

/** The key `deletes`: what happens to the records of deleted rows. */
export const DELETES: JsonObject = {
  description: 'What happens to the records of deleted rows. The platform has no call that deletes a record.',
  type: 'object',
  properties: {
    column: columnName(
      'Column that marks a row as deleted: if it is true, or contains a date or time. Needs a cursor that grows with it.',
      'deleted_at',
    ),
    values: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: {
        type: 'string',
      },
      description:
        "The column's values that mean deleted, as the database writes them; needed if it is neither boolean nor a date or time.",
      examples: [['1']],
    },
    action: {
      description: 'What is sent for a deleted row, if the platform has its record.',
      examples: [
        {
          set: {
            status: 'deleted',
          },
          clear: ['email'],
        },
      ],
      anyOf: [
        {
          enum: ['ignore'],
          description: 'Nothing: the record stays as it was.',
        },
        {
          type: 'object',
          additionalProperties: false,
          description: 'Fields that are set or cleared; all others stay.',
          properties: {
            set: {
              type: 'object',
              minProperties: 1,
              description:
                "Fields and the values that they get. Each is one of the mapping's fields, so that a row that comes back overwrites it.",
              examples: [
                {
                  status: 'deleted',
                },
              ],
            },
            clear: {
              type: 'array',
              minItems: 1,
              uniqueItems: true,
              items: {
                type: 'string',
                minLength: 1,
              },
              description: 'Fields of the mapping that are deleted on the platform.',
              examples: [['email', 'phone']],
            },
          },
        },
      ],
    },
    hold: {
      description:
        'If a mirror run finds more vanished rows than both of these, it leaves their records alone until somebody approves its plan.',
      type: 'object',
      additionalProperties: false,
      properties: {
        records: {
          type: 'integer',
          minimum: 0,
          default: 100,
          description: 'Number of records.',
          examples: [100],
        },
        percent: {
          type: 'number',
          minimum: 0,
          maximum: 100,
          default: 5,
          description: "Percentage of the mapping's accepted records that are not marked as deleted.",
          examples: [5],
        },
      },
      examples: [
        {
          records: 100,
          percent: 5,
        },
      ],
    },
  },
  required: ['action'],
  additionalProperties: false,
  examples: [
    {
      column: 'deleted_at',
      action: {
        set: {
          status: 'deleted',
        },
      },
    },
  ],
};

/** The key `options`: how the records of a mapping are sent. */
export const OPTIONS: JsonObject = {
  description: 'How the records of this mapping are sent.',
  type: 'object',
  properties: {
    onConflict: {
      enum: ['upsert', 'reject'],
      default: 'upsert',
      description: 'A record that the platform has already: merge into it, or reject the new one.',
      examples: ['upsert'],
    },
    ignoreUnknownFields: {
      type: 'boolean',
      default: false,
      description: 'Let the platform accept fields that its schema does not know (it does not save them).',
      examples: [false],
    },
    dependencyWaitTimeout: {
      $ref: '#/definitions/duration',
      description: 'How long the platform keeps a record pending until the records that it refers to exist: 0s to 24h.',
      default: durationText('dependencyWait'),
      examples: ['10m'],
      format: 'dependency-wait',
    },
    batchSize: {
      type: 'integer',
      minimum: 1,
      maximum: 10000,
      description: "Most records of this mapping in one request; the sync's upload.batchSize by default.",
      examples: [200],
    },
    ledger: {
      enum: ['full', 'off'],
      default: 'full',
      description:
        'off: the ledger keeps no record of what was sent. Faster, but each run sends every row that it reads, and a crash or two runs at once may leave an older version on the platform (docs/mapping.md).',
      examples: ['off'],
    },
  },
  additionalProperties: false,
  examples: [
    {
      dependencyWaitTimeout: '10m',
    },
  ],
};
