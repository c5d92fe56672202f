/** The declaration of the platform's interface: complete and consistent. */
import { describe, expect, it } from 'vitest';
import { operationEntries, operations } from '../../src/platform/contract/operations.js';
import { renamer, withBothNames, withCamelNames, withSnakeNames } from '../../src/platform/contract/aliases.js';

describe('the contract', () => {
  it('has the seventeen operations of section 4, each once and in order', () => {
    expect(operationEntries.map(([, { section }]) => section)).toEqual(
      Array.from({ length: 17 }, (_, i) => `4.${i + 1}`),
    );
  });

  it('has one method and path, and one command, for each operation', () => {
    const all = operationEntries.map(([, operation]) => operation);
    expect(new Set(all.map(({ method, path }) => `${method} ${path}`)).size).toBe(17);
    expect(new Set(all.map(({ command }) => command)).size).toBe(17);
  });

  it.each(operationEntries)('declares every parameter in the path of %s, and no other', (_name, { path, params }) => {
    expect(Object.keys(params.properties)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
  });

  it.each(operationEntries)('lets %s act for a tenant exactly if its path says so', (_name, { path, scope }) => {
    expect(scope === 'tenant').toBe(path.startsWith('/api/'));
  });

  it.each(operationEntries.filter(([, { pages }]) => pages))('declares where the cursor of %s is', (_name, o) => {
    const { cursorIn, entries } = o.pages!;
    expect(Object.keys(o[cursorIn]!.properties)).toContain('cursor');
    expect(o.data).toMatchObject({ properties: { [entries]: { type: 'array' }, pagination: {} } });
  });
});

describe('fields with an alias', () => {
  const resource = {
    result: { resourceExternalId: 'x', data: { createdAt: 1 } },
    included: [{ createdAt: 't', data: {} }],
  };
  const { data } = operations.getResource;

  it('are renamed wherever they are nested, but never inside the data of a resource', () => {
    const snake = renamer(data, withSnakeNames)!(resource);
    expect(snake).toEqual({
      result: { resource_external_id: 'x', data: { createdAt: 1 } },
      included: [{ created_at: 't', data: {} }],
    });
    expect(renamer(data, withCamelNames)!(snake)).toEqual(resource);
    expect(renamer(data, withCamelNames)!(renamer(data, withBothNames)!(resource))).toEqual(resource);
  });

  it('cost nothing if there are none', () => {
    expect(renamer(operations.getBatch.data, withCamelNames)).toBeNull();
  });
});
