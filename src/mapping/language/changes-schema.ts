/** The key `changes` of a mapping: the feed that tells which of its rows have changed. */
import type { JsonObject } from '../../domain/values/json.js';

const NAME: JsonObject = { type: 'string', pattern: '^[a-z0-9_]{1,54}$', title: 'lower-case letters, digits and _' };

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
      enum: ['none'],
    },
    SLOT,
    TABLE,
  ],
};
