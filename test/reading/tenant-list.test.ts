/** A list of tenants that leaves a row's tenant in doubt is refused as a whole; the source's pages are played. */
import { describe, expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { ReadBounds, ReadPlan, Source, SourceType } from '../../src/domain/source/source.js';
import { readTenantList, type TenantTable } from '../../src/reading/read-tenant-list.js';

const LIST: TenantTable = {
  kind: 'table',
  column: 'shop',
  relation: { table: 'shops' },
  value: 'code',
  tenant: 'platform_tenant',
};

interface Asked {
  readonly plan: ReadPlan;
  readonly bounds: ReadBounds;
  readonly rows: number;
}

/** A source that gives these pages, and then none; `asked` notes what each page was asked for. */
function sourceOf(
  pages: readonly (readonly (readonly [string, string])[])[],
  {
    types = ['text', 'text'],
    nulls = [],
    asked = [],
  }: { types?: SourceType[]; nulls?: string[]; asked?: Asked[] } = {},
): Pick<Source, 'readPage' | 'hasNull'> {
  const left = [...pages];
  return {
    hasNull: (_plan, column) => Promise.resolve(nulls.includes(column)),
    readPage: (plan, bounds, rows) => {
      asked.push({ plan, bounds, rows });
      const columns = plan.columns.map((name, i) => ({ name, type: types[i]!, databaseType: types[i]! }));
      return Promise.resolve({ columns, rows: left.shift() ?? [] });
    },
  };
}

const refusal = (message: string): object => ({
  code: 'tenant_list_unusable',
  message: expect.stringContaining(message) as string,
});

describe('a list of tenants', () => {
  it('is read page by page, each from behind the last value of the one before', async () => {
    const asked: Asked[] = [];
    const source = sourceOf(
      [
        [
          ['N', 'north'],
          ['O', 'orient'],
        ],
        [['S', 'south']],
      ],
      { asked },
    );
    const values = new Map([
      ['N', 'north'],
      ['O', 'orient'],
      ['S', 'south'],
    ]);
    expect(await readTenantList(source, LIST)).toEqual({ kind: 'column', column: 'shop', values });
    expect(asked.map(({ bounds }) => bounds.after)).toEqual([
      null,
      { cursor: null, key: ['O'] },
      { cursor: null, key: ['S'] },
    ]);
    const plan = { relation: { table: 'shops' }, columns: ['code', 'platform_tenant'], key: ['code'], cursor: null };
    expect(asked[0]).toMatchObject({ plan, rows: 1000 });
  });

  it('has its values in the form in which rows are compared with them', async () => {
    const source = sourceOf([[['\\x0a', 'north']]], { types: ['bytes', 'text'] });
    expect(await readTenantList(source, LIST)).toMatchObject({ values: new Map([['0a', 'north']]) });
  });

  it.each(['code', 'platform_tenant'])('is refused if %s is NULL in a row', async (column) => {
    const source = sourceOf([[['N', 'north']]], { nulls: [column] });
    await expect(readTenantList(source, LIST)).rejects.toMatchObject(refusal(`shops: ${column} is NULL in a row`));
  });

  it.each([
    [
      'on one page',
      [
        [
          ['N', 'north'],
          ['N', 'south'],
        ],
      ],
    ],
    ['on two pages', [[['N', 'north']], [['N', 'north']]]],
  ] as const)('is refused if a value occurs twice, %s', async (_where, pages) => {
    const message =
      'shops: several rows have the same code; SELECT code, count(*) ... GROUP BY code HAVING count(*) > 1';
    await expect(readTenantList(sourceOf(pages), LIST)).rejects.toMatchObject(refusal(message));
  });

  it('is refused if the database finds a value twice, and not otherwise blamed for an error of the source', async () => {
    for (const [code, expected] of [
      ['source_key_unusable', refusal('several rows have the same code')],
      ['source_unreachable', { code: 'source_unreachable' }],
    ] as const) {
      const readPage = () => Promise.reject(new PartnerSyncError(code, 'as the source says'));
      await expect(readTenantList({ ...sourceOf([]), readPage }, LIST)).rejects.toMatchObject(expected);
    }
    const readPage = () => Promise.reject(new Error('a bug'));
    await expect(readTenantList({ ...sourceOf([]), readPage }, LIST)).rejects.toThrow('a bug');
  });

  it.each(['', 'no rth', 'x'.repeat(65), 'north/south'])('is refused with the tenant id %j', async (tenant) => {
    const message = 'shops: platform_tenant holds what is no tenant id: one must match ^[A-Za-z0-9_-]{1,64}$';
    await expect(readTenantList(sourceOf([[['N', tenant]]]), LIST)).rejects.toMatchObject(refusal(message));
  });

  it('is refused without rows, by the name of its table or as a query', async () => {
    const message = 'has no rows, so that no row of any mapping has a tenant';
    await expect(readTenantList(sourceOf([]), LIST)).rejects.toMatchObject(refusal(`shops: ${message}`));
    const query = { ...LIST, relation: { query: 'SELECT 1' } };
    await expect(readTenantList(sourceOf([]), query)).rejects.toMatchObject(
      refusal(`the query of tenant.from: ${message}`),
    );
  });

  it('is refused if a column, or a value in it, has no text form', async () => {
    const unsupported = sourceOf([[['{1}', 'north']]], { types: ['unsupported' as SourceType, 'text'] });
    await expect(readTenantList(unsupported, LIST)).rejects.toMatchObject(
      refusal('shops: code is unsupported, which has no text form'),
    );
    const infinite = sourceOf([[['infinity', 'north']]], { types: ['date', 'text'] });
    await expect(readTenantList(infinite, LIST)).rejects.toMatchObject(
      refusal('shops: code holds a value that has no text form'),
    );
  });
});
