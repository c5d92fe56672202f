/** The key `changes` of a mapping: the feed that tells which of its rows have changed. */
import { WHEN_EXCEEDED } from '../../domain/source/change-feed.js';
import type { JsonObject } from '../../domain/values/json.js';
import { columnName } from './column-name.js';

const NAME: JsonObject = { type: 'string', pattern: '^[a-z0-9_]{1,54}$', title: 'lower-case letters, digits and _' };

const COLUMN = columnName('A column of the table; what it is compared with has the same name.', 'customer_id');
const COLUMNS: JsonObject = {
  description: 'Columns of the table; what they are compared with have the same names.',
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: columnName('A column of the table.', 'invoice_no'),
};

const THROUGH: JsonObject = {
  description:
    'Where the keys of affected rows are found: a table or query with these columns and those of the key of the mapping.',
  anyOf: [
    {
      description: 'A table or view.',
      type: 'object',
      properties: {
        table: { type: 'string', minLength: 1, description: 'Name of the table.', examples: ['shop.customers'] },
      },
      required: ['table'],
      additionalProperties: false,
    },
    {
      description: 'A query.',
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          description: 'One SELECT without ORDER BY and LIMIT; every column has a name of its own.',
          examples: ['select segment_id, customer_id from customers'],
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
  ],
  examples: [{ table: 'customers' }],
};

/** Only in a mapping: for its query, or for a view. */
const TABLES: JsonObject = {
  description:
    'For a query or a view: the tables that it reads, each with the columns that tell which rows of the mapping its changes affect.',
  type: 'object',
  minProperties: 1,
  propertyNames: { not: { enum: ['__proto__', 'constructor', 'prototype'] } },
  additionalProperties: {
    anyOf: [
      COLUMN,
      COLUMNS,
      {
        description: 'Columns with other names than what they are compared with, or keys that are found elsewhere.',
        type: 'object',
        properties: {
          columns: {
            description:
              'Columns of the table, each with what it is compared with: a column of the key, or of `through` if that is given.',
            anyOf: [
              COLUMN,
              COLUMNS,
              {
                description: 'Columns of the table by name, each with the column that it is compared with.',
                type: 'object',
                minProperties: 1,
                propertyNames: { not: { enum: ['__proto__', 'constructor', 'prototype'] } },
                additionalProperties: columnName('What it is compared with.', 'customer_id'),
              },
            ],
            examples: [{ id: 'customer_id' }, 'segment_id'],
          },
          through: THROUGH,
        },
        required: ['columns'],
        additionalProperties: false,
      },
    ],
  },
  examples: [{ customers: 'customer_id' }],
};

/** As in sync.yaml, where it is for all mappings. */
const SLOT: JsonObject = {
  description: 'A logical replication slot of PostgreSQL, read with plain SQL.',
  type: 'object',
  properties: {
    slot: { ...NAME, description: 'Name of the slot.', examples: ['partner_sync'] },
    publication: {
      ...NAME,
      description: 'Name of the publication with the keys of the tables.',
      examples: ['partner_sync'],
    },
    maxWal: {
      type: 'string',
      pattern: '^([0-9]+(B|KiB|MiB|GiB)|\\$\\{env:[A-Za-z_][A-Za-z0-9_]*\\})$',
      title: 'a size with its unit, such as 512MiB or 10GiB',
      description: 'How much of its log the server may keep for the slot: beyond that, status and alerts say so.',
      examples: ['10GiB'],
    },
    whenExceeded: {
      description:
        'What is done beyond maxWal. alert: nothing but that. reread: the slot is given up as it is, and the next run reads every row.',
      enum: WHEN_EXCEEDED,
      default: 'alert',
      examples: ['reread'],
    },
    tables: TABLES,
  },
  required: ['slot', 'publication'],
  additionalProperties: false,
};

const TABLE: JsonObject = {
  description:
    'A change table, which triggers fill with the keys of changed rows: of PostgreSQL, MySQL, MariaDB or SQLite.',
  type: 'object',
  properties: {
    table: { ...NAME, description: 'Name of the change table.', examples: ['partner_sync_changes'] },
    tables: TABLES,
  },
  required: ['table'],
  additionalProperties: false,
};

export const CHANGES: JsonObject = {
  description:
    'The change feed that tells which rows have changed, deletes included, instead of a cursor. By default that of sync.yaml.',
  examples: [{ slot: 'partner_sync', publication: 'partner_sync' }, { table: 'partner_sync_changes' }, 'none'],
  anyOf: [
    {
      description: 'No feed, although sync.yaml has one: incremental runs go by the cursor, or read every row.',
      type: 'string',
      enum: ['none'],
    },
    SLOT,
    TABLE,
    {
      description: 'The feed of sync.yaml, for a query or a view.',
      type: 'object',
      properties: { tables: TABLES },
      required: ['tables'],
      additionalProperties: false,
    },
  ],
};
