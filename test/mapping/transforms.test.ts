/** Runs the examples that each transform declares, and compares the language's schema with the declarations. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/domain/values/json.js';
import { Rejection } from '../../src/mapping/encode/rejection.js';
import { mappingSchema } from '../../src/mapping/language/mapping-schema.js';
import { TRANSFORMS } from '../../src/mapping/transforms/registry.js';

describe.each([...TRANSFORMS.values()])('the transform $name', ({ name, examples, make }) => {
  it.each(examples)('maps $in as its example says', (example) => {
    const result = make(example.options ?? {})(example.in);
    if ('out' in example) expect(result).toEqual(example.out);
    else {
      expect(result).toBeInstanceOf(Rejection);
      const { rule, reason } = result as Rejection;
      expect(rule).toBe(`transform: ${name}`);
      expect(reason).toContain(example.rejected);
    }
  });
});

describe('the schema of the language', () => {
  it('is in mappings/mapping.schema.json as the code declares it, key by key (else: npm run generate)', () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL('../../mappings/mapping.schema.json', import.meta.url), 'utf8'),
    );
    expect(JSON.stringify(committed, null, 2)).toBe(JSON.stringify(mappingSchema(), null, 2));
  });

  it('names every transform, including those without options', () => {
    const { transform } = mappingSchema()['definitions'] as { transform: { anyOf: [{ enum: string[] }, JsonObject] } };
    const withOptions = Object.keys(transform.anyOf[1]['properties'] as JsonObject);
    expect(withOptions).toEqual([...TRANSFORMS.keys(), 'custom']);
    const alone = [...TRANSFORMS.values()].filter(({ options }) => options.required === undefined);
    expect(transform.anyOf[0].enum).toEqual(alone.map(({ name }) => name));
  });

  it.each(['sync', 'mapping', 'schema-definition', 'examples'])(
    'describes every key of %s files, with an example',
    (kind) => {
      const text = readFileSync(new URL(`../../mappings/${kind}.schema.json`, import.meta.url), 'utf8');
      const undescribed: string[] = [];
      walk(JSON.parse(text), '', undescribed);
      expect(undescribed).toEqual([]);
    },
  );
});

function walk(node: unknown, path: string, undescribed: string[]): void {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'examples' || key === 'default' || key === 'enum') continue;
    if (key === 'properties' && !path.endsWith('/properties'))
      for (const [name, property] of Object.entries(
        value as Record<string, { description?: string; examples?: unknown; enum?: unknown; type?: unknown }>,
      )) {
        if (property.description === undefined) undescribed.push(`${path}/${name} has no description`);
        const told = property.examples ?? property.enum ?? (property.type === 'object' ? [] : undefined);
        if (told === undefined && !path.includes('/transform')) undescribed.push(`${path}/${name} has no example`);
      }
    walk(value, `${path}/${key}`, undescribed);
  }
}
