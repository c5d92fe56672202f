/**
 * The mapping language as a JSON Schema. `npm run generate` writes mappings/mapping.schema.json from it, from which
 * editors complete and against which each mapping file is validated.
 *
 * It describes the form of a file. What it cannot express is checked elsewhere: shorthands and options in
 * read-mapping.ts, the schema definition and the other mappings in src/mapping/check, the source's columns in
 * check-columns.ts.
 */
import type { JsonObject } from '../../domain/values/json.js';
import { columnName } from './column-name.js';
import { durationText } from '../../domain/timeouts.js';
import { transformDefinition } from '../transforms/describe-transforms.js';
import { CHANGES } from './changes-schema.js';
import { FIELD } from './field-schema.js';
import { DELETES, OPTIONS } from './mapping-options.js';

/** A pattern rather than a format, since editors check patterns, too. A variable may take its place. */
const DURATION: JsonObject = {
  type: 'string',
  pattern: '^([0-9]+(\\.[0-9]+)?(s|m|h|d)|\\$\\{env:[A-Za-z_][A-Za-z0-9_]*\\})$',
  title: 'a duration with its unit, such as 30s, 10m, 6h or 1d',
};

/** The keys of a mapping file, in the order in which they are documented. */
const ROOT: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Mapping',
  description:
    'Rows of one table or query to records of one schema definition. Any text value may be or contain ${env:NAME}.',
  type: 'object',
  properties: {
    schema: {
      type: 'string',
      minLength: 1,
      description: 'Name of the schema definition; its file is <name>.schema.json in the same folder.',
      examples: ['customer'],
    },
    source: {
      description: 'What is read: a table (or view), or a read-only query.',
      examples: [
        {
          table: 'shop.customers',
        },
      ],
      anyOf: [
        {
          description: 'A table or view.',
          type: 'object',
          properties: {
            table: {
              type: 'string',
              minLength: 1,
              description: 'Name of the table, with its schema if it has one.',
              examples: ['shop.customers'],
            },
          },
          required: ['table'],
          additionalProperties: false,
        },
        {
          description: 'A query. Put anything too complex for the fields here: SQL is the expression language.',
          type: 'object',
          properties: {
            query: {
              type: 'string',
              minLength: 1,
              description: 'One SELECT without ORDER BY and LIMIT; every column has a name of its own.',
              examples: ["select id, first || ' ' || last as full_name from people"],
            },
          },
          required: ['query'],
          additionalProperties: false,
        },
      ],
    },
    key: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: columnName('A key column.', 'customer_id'),
      description: 'Columns that together identify a row: unique and never NULL. Rows are read in their order.',
      examples: [['customer_id'], ['invoice_no', 'line_no']],
    },
    cursor: {
      description: 'Column that grows whenever a row changes. Without it every run reads all rows.',
      examples: [
        'updated_at',
        {
          column: 'updated_at',
          overlap: '10m',
        },
      ],
      anyOf: [
        columnName('The cursor column.', 'updated_at'),
        {
          description: 'The cursor column and its overlap.',
          type: 'object',
          properties: {
            column: columnName('The cursor column.', 'updated_at'),
            overlap: {
              $ref: '#/definitions/duration',
              format: 'cursor-overlap',
              description: 'How far each run reads back behind its position, for rows committed late.',
              default: durationText('overlap'),
              examples: ['10m'],
            },
            zone: {
              type: 'string',
              format: 'time-zone',
              description: 'Zone whose local time the column contains (IANA name); needed if the column has none.',
              examples: ['Europe/London'],
            },
          },
          required: ['column'],
          additionalProperties: false,
        },
      ],
    },
    changes: CHANGES,
    deletes: DELETES,
    fields: {
      type: 'object',
      minProperties: 1,
      propertyNames: {
        not: {
          enum: ['__proto__', 'constructor', 'prototype'],
        },
      },
      additionalProperties: {
        $ref: '#/definitions/field',
      },
      description: 'Fields of the record by their names in the schema definition, in the order in which they are sent.',
      examples: [
        {
          email: 'email',
          country: {
            constant: 'GB',
          },
        },
      ],
    },
    options: OPTIONS,
  },
  required: ['schema', 'source', 'key', 'fields'],
  additionalProperties: false,
};

/** The whole schema, with its keys in the order of the file. */
export const mappingSchema = (): JsonObject => ({
  ...ROOT,
  definitions: { duration: DURATION, field: FIELD, transform: transformDefinition() },
});
