/** Each transform carries its examples; this runs them all, and holds the language's schema to the declarations. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Rejection } from '../../src/mapping/rejection.js';
import { transformDefinition } from '../../src/mapping/transforms/language.js';
import { TRANSFORMS } from '../../src/mapping/transforms/registry.js';

describe.each([...TRANSFORMS.values()])('the transform $name', ({ name, examples, make }) => {
  it.each(examples)('does to $in what its example says', (example) => {
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
  const schema = JSON.parse(readFileSync(new URL('../../mappings/mapping.schema.json', import.meta.url), 'utf8')) as {
    definitions: { transform: unknown };
  };

  it('offers editors exactly the transforms there are, with their options', () => {
    expect(schema.definitions.transform).toEqual(transformDefinition());
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
