/** A row's tenant is the one that sync.yaml declares for it, or the row has none: it is never guessed. */
import { describe, expect, it } from 'vitest';
import type { ByteRow, SourceType } from '../../src/domain/source/source.js';
import type { TenantConfig } from '../../src/domain/sync/sync.js';
import { tenantReader } from '../../src/mapping/compile/tenant-reader.js';

/** A row of two columns, the second of which tells the tenant. */
const rowWith = (value: string | null): ByteRow => ({
  bytes: new Uint8Array(),
  starts: new Int32Array(),
  ends: new Int32Array(),
  text: (column) => (column === 1 ? value : 'another column'),
  texts: () => ['another column', value],
});

/** The tenant of a row with that value in a column of that type, or why it has none. */
function tenantOf(config: TenantConfig, type: SourceType, value: string | null): unknown {
  const read = tenantReader(config, (name) => ({ index: 1, column: { name, type, databaseType: type } }));
  return read(rowWith(value));
}

const byColumn = (values: Readonly<Record<string, string>>): TenantConfig => ({
  kind: 'column',
  column: 'region',
  values: new Map(Object.entries(values)),
});
const SHOPS = byColumn({ N: 'north', S: 'south' });

describe('the tenant of a row', () => {
  it('is that of the sync, whatever the row contains', () => {
    expect(tenantOf({ kind: 'constant', tenant: 'north' }, 'text', 'S')).toBe('north');
  });

  it('is the one that is declared for the value of the tenant column', () => {
    expect([tenantOf(SHOPS, 'text', 'N'), tenantOf(SHOPS, 'text', 'S')]).toEqual(['north', 'south']);
  });

  it('is in doubt if two of them have the same bytes, in different spellings', () => {
    const twice = byColumn({ A0EEBC99: 'north', 'a0ee-bc99': 'south' });
    expect(() => tenantOf(twice, 'bytes', 'a0eebc99')).toThrow('the bytes a0eebc99 to both north and south');
    const same = byColumn({ A0EEBC99: 'north', 'a0ee-bc99': 'north' });
    expect(tenantOf(same, 'bytes', '\\xa0eebc99')).toBe('north');
  });

  it('is looked up in the column that sync.yaml names', () => {
    const asked: string[] = [];
    tenantReader(SHOPS, (name) => {
      asked.push(name);
      return { index: 1, column: { name, type: 'text', databaseType: 'text' } };
    });
    expect(asked).toEqual(['region']);
  });

  it.each(['n', 'N ', ' N', '', 'north', 'toString', '__proto__'])(
    'is not guessed from %j, which is not declared',
    (value) => {
      expect(tenantOf(SHOPS, 'text', value)).toMatchObject({
        rule: 'tenant',
        reason: 'the value of the tenant column is not in the list of tenants that sync.yaml names',
        shape: expect.stringMatching(`^text\\(${value.length}\\)`) as string,
      });
    },
  );

  it('is not guessed where the column is NULL', () => {
    expect(tenantOf(byColumn({ null: 'north', '': 'north' }), 'text', null)).toMatchObject({
      rule: 'tenant',
      reason: 'the tenant column is NULL',
    });
  });

  it.each([
    ['t', 'north'],
    ['f', 'south'],
  ])('is found by the text form of a boolean: %s', (value, tenant) => {
    expect(tenantOf(byColumn({ true: 'north', false: 'south' }), 'boolean', value)).toBe(tenant);
  });

  it.each(['00FF10', '00ff10', '00-FF-10'])('is found for bytes that sync.yaml declares as %s', (declared) => {
    expect(tenantOf(byColumn({ [declared]: 'north' }), 'bytes', '\\x00ff10')).toBe('north');
  });

  it('tells texts apart by case and hyphens, which only bytes ignore', () => {
    const values = byColumn({ 'A-1': 'north', a1: 'south' });
    expect([tenantOf(values, 'text', 'A-1'), tenantOf(values, 'text', 'a1')]).toEqual(['north', 'south']);
  });

  it('is found by what the database writes where the type has no text form', () => {
    expect(tenantOf(SHOPS, 'other', 'N')).toBe('north');
  });

  it('is not found for a value that has no text form', () => {
    expect(tenantOf(byColumn({ infinity: 'north' }), 'date', 'infinity')).toMatchObject({ rule: 'tenant' });
  });

  it('is not read before the list of tenants in a table is', () => {
    const table = { kind: 'table', column: 'region', relation: { table: 't' }, value: 'v', tenant: 'id' } as const;
    expect(() => tenantOf(table, 'text', 'N')).toThrow('the list of tenants has not been read');
  });
});
