/**
 * The part of `mapping.schema.json` about transforms, and their table in docs/mapping.md: both derived from their
 * declarations.
 */
import type { JsonObject } from '../../domain/values/json.js';
import { TRANSFORMS } from './registry.js';

/** The name by which mappings call the transforms of a sync's own files. */
export const CUSTOM = 'custom';

/** Every name that may be written where a transform is. */
export const transformNames = (): string[] => [...TRANSFORMS.keys(), CUSTOM];

const CUSTOM_NAME: JsonObject = {
  type: 'string',
  minLength: 1,
  title: 'text (the name of a custom transform)',
  description: 'Name of the transform; its file is <name>.transform.js in the same folder.',
  examples: ['loyaltyTier'],
};

/** `custom: loyaltyTier`, or with options. Which options there are, only the transform's file says. */
const CUSTOM_CALL: JsonObject = {
  description: "A transform of the sync's own: its code is in the file <name>.transform.js.",
  anyOf: [
    CUSTOM_NAME,
    {
      type: 'object',
      properties: {
        name: CUSTOM_NAME,
        options: { type: 'object', description: 'Options that the file declares.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
  ],
};

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
        properties: {
          ...Object.fromEntries(all.map((transform) => [transform.name, withOptions(transform)])),
          [CUSTOM]: CUSTOM_CALL,
        },
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
    `| [\`${CUSTOM}\`](#custom-transforms) | Applies a function of your own. | \`name\`, \`options\` |`,
  ].join('\n');
