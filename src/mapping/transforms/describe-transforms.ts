/**
 * The part of `mapping.schema.json` about transforms, and their table in docs/mapping.md: both derived from their
 * declarations.
 */
import type { JsonObject } from '../../domain/values/json.js';
import { TRANSFORMS } from './registry.js';

/**
 * `definitions.transform`: a name alone if no option is required, otherwise `{ name: { option: value } }`. Whether the
 * options agree with each other is left to each transform's `check`.
 */
export function transformDefinition(): JsonObject {
  const all = [...TRANSFORMS.values()];
  const alone = all.filter((transform) => (transform.options.required ?? []).length === 0);
  const withOptions = (transform: (typeof all)[number]): JsonObject => ({
    description: transform.description,
    type: 'object',
    properties: transform.options.properties,
    ...(transform.options.required === undefined ? {} : { required: transform.options.required }),
    additionalProperties: false,
  });
  return {
    description: 'A step between column and field: its name, or its name with options.',
    anyOf: [
      { title: 'transform', type: 'string', enum: alone.map((transform) => transform.name) },
      {
        title: 'transform',
        type: 'object',
        properties: Object.fromEntries(all.map((transform) => [transform.name, withOptions(transform)])),
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
    ],
  };
}

/** The table of transforms in docs/mapping.md, as Markdown without padding; `npm run generate` writes it. */
export const transformTable = (): string =>
  [
    '| Transform | What it does | Options |',
    '| --- | --- | --- |',
    ...Array.from(TRANSFORMS.values(), ({ name, description, options }) => {
      const names = Object.keys(options.properties).map((option) => `\`${option}\``);
      return `| \`${name}\` | ${description} | ${names.join(', ')} |`;
    }),
  ].join('\n');
