/** The key `changes` of a mapping: the feed that tells which of its rows have changed. */
import { WHEN_EXCEEDED } from '../../domain/source/change-feed.js';
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
      type: 'string',
      enum: ['none'],
    },
    SLOT,
    TABLE,
  ],
};
