/**
 * The part of the mapping language's JSON Schema that describes one field of a record.
 *
 * It says which forms a field may have. It cannot say whether the column exists (check-columns.ts), whether the
 * transforms fit together and give what the schema definition asks for (pipeline.ts), or whether a `ref` names the
 * right mapping (check-references.ts).
 */
import type { JsonObject } from '../../domain/values/json.js';
import { columnName } from './column-name.js';

/** The steps of a field that reads columns, shared by all forms but `constant`. */
const TRANSFORMS: JsonObject = {
  type: 'array',
  items: {
    $ref: '#/definitions/transform',
  },
  description: 'Steps from column to field, in order. SQL NULL passes all of them untouched.',
  examples: [['trim', 'lowercase', 'emptyToNull']],
};

/** What a null of such a field does, shared in the same way. */
const OMIT_NULL: JsonObject = {
  type: 'boolean',
  default: false,
  description:
    'What a null does: false sends null, which deletes the field on the platform; true leaves the field out, so the platform keeps what it has.',
  examples: [true],
};

/**
 * `definitions.field`: where a field's value comes from, in the short form (a column's name) and the long ones. A value
 * matches at most one of them, which violations.ts relies on to report the errors of the form that was meant.
 */
export const FIELD: JsonObject = {
  description: 'Where a field comes from: a column (its name alone is enough), a reference, a template or a constant.',
  anyOf: [
    columnName('The column, as it is.', 'email'),
    {
      description: 'A reference to a record of another mapping, by its external id.',
      type: 'object',
      properties: {
        ref: {
          description: "The parent's mapping.",
          examples: [
            'customers',
            {
              mapping: 'customers',
              form: 'object',
            },
          ],
          anyOf: [
            {
              type: 'string',
              minLength: 1,
              title: 'text (the name of a mapping)',
            },
            {
              description: "The parent's mapping, and how the reference is written.",
              type: 'object',
              properties: {
                mapping: {
                  type: 'string',
                  minLength: 1,
                  description: "Name of the parent's mapping.",
                  examples: ['customers'],
                },
                form: {
                  enum: ['id', 'object'],
                  default: 'id',
                  description: 'id: the external id alone. object: { type: <schema>, id: <external id> }.',
                  examples: ['id'],
                },
              },
              required: ['mapping'],
              additionalProperties: false,
            },
          ],
        },
        column: columnName("Column that holds the parent's external id.", 'customer_id'),
        transforms: TRANSFORMS,
        omitNull: OMIT_NULL,
      },
      required: ['ref', 'column'],
      additionalProperties: false,
      examples: [
        {
          ref: 'customers',
          column: 'customer_id',
        },
      ],
    },
    {
      description: 'A column with transforms.',
      type: 'object',
      properties: {
        column: columnName('The column.', 'email'),
        transforms: TRANSFORMS,
        omitNull: OMIT_NULL,
      },
      required: ['column'],
      additionalProperties: false,
      examples: [
        {
          column: 'email',
          transforms: ['trim'],
        },
      ],
    },
    {
      description: 'The first of several columns that is not null.',
      type: 'object',
      properties: {
        coalesce: {
          type: 'array',
          minItems: 2,
          items: columnName('A column.', 'mobile'),
          description:
            'Columns in the order in which they are tried. Each goes through the transforms first, so that emptyToNull skips an empty one.',
          examples: [['mobile', 'phone']],
        },
        transforms: TRANSFORMS,
        omitNull: OMIT_NULL,
      },
      required: ['coalesce'],
      additionalProperties: false,
      examples: [
        {
          coalesce: ['mobile', 'phone'],
          transforms: ['trim', 'emptyToNull'],
        },
      ],
    },
    {
      description: 'Text with columns in it. If any of them is NULL, the field is NULL.',
      type: 'object',
      properties: {
        template: {
          type: 'string',
          format: 'template',
          description: 'Column names in braces; {{ and }} for the braces themselves.',
          examples: ['{invoice_no}-{line_no}'],
        },
        transforms: TRANSFORMS,
        omitNull: OMIT_NULL,
      },
      required: ['template'],
      additionalProperties: false,
      examples: [
        {
          template: '{first_name} {last_name}',
        },
      ],
    },
    {
      description: 'The same value for every row.',
      type: 'object',
      properties: {
        constant: {
          description: 'The value: text, number, true, false, a list or a map.',
          examples: ['GBP'],
        },
      },
      required: ['constant'],
      additionalProperties: false,
      examples: [
        {
          constant: 'GBP',
        },
      ],
    },
  ],
};
