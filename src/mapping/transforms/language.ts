/** The part of `mapping.schema.json` that speaks of transforms, derived from their own declarations. */
import type { JsonObject } from '../../domain/json.js';
import { TRANSFORMS } from './registry.js';

/** `definitions.transform`: a name alone where no option is required, else `{ name: { option: value } }`. */
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
