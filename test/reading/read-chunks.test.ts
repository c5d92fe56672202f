/** What is read of a partition, in which chunks, and when: from a source whose pages a test decides. */
import { expect, it } from 'vitest';
import type { Page, ReadBounds, ReadPlan, SourceColumn } from '../../src/domain/source/source.js';
import type { PositionedChunk } from '../../src/reading/chunk.js';
import { ChunkBuilder, reusedRecords } from '../../src/reading/chunk-builder.js';
import { averageRowLength, FIRST_PAGE_ROWS, rowsPerPage } from '../../src/reading/page-size.js';
import type { PreparedMapping } from '../../src/reading/prepared-mapping.js';
import { EVERYTHING } from '../../src/reading/read-bounds.js';
import { inKeyOrder, positionIn } from '../../src/reading/reading-order.js';
import { readChunks } from '../../src/reading/read-chunks.js';
import { readMappedPages } from '../../src/reading/read-mapped-pages.js';
import { recordOf } from '../../src/records/record-list.js';
import type { Records } from '../../src/records/records.js';

const COLUMNS = ['id', 'at', 'name'].map(
  (name) => ({ name, type: 'string', databaseType: 'text', nullable: false }) as unknown as SourceColumn,
);
const PLAN: ReadPlan = { relation: { table: 't' }, columns: ['id', 'at', 'name'], key: ['id'], cursor: 'at' };

/** Each row is a record of the tenant north; one without a name fails. */
const mapping = {
  plan: PLAN,
  compiled: () => ({
    inBytes: (row: readonly string[]) => row,
    append: ([id, , name]: readonly string[], records: Records) => {
      if (name === '')
        return {
          kind: 'failed',
          tenant: 'north',
          externalId: id,
          sourceKey: [id],
          code: 'mapping',
          pointer: '',
          rule: '',
          reason: '',
          shape: '',
        };
      records.add('north', id!, [id!], JSON.stringify({ id }));
      return null;
    },
  }),
  mapper:
    () =>
    ([id]: readonly string[]) =>
      recordOf('north', id!, [id!], JSON.stringify({ id })),
} as unknown as PreparedMapping;

const pad = (i: number): string => String(i).padStart(6, '0');
const row = (i: number, name = 'n'): string[] => [pad(i), `at ${pad(i)}`, name];
const rows = (first: number, last: number, name = 'n'): string[][] =>
  Array.from({ length: last - first + 1 }, (_, i) => row(first + i, name));

interface Asked {
  readonly bounds: ReadBounds;
  readonly limit: number;
  readonly plan: ReadPlan;
}

/** A source with these pages, one after the other, then empty ones; an error is thrown. `log` gets what happens in which order. */
function sourceOf(pages: readonly (readonly string[][] | Error)[], log: string[] = []) {
  const asked: Asked[] = [];
  let seq = 0;
  return {
    asked,
    log,
    nextReadSeq: (): Promise<string> => {
      log.push(`seq ${++seq}`);
      return Promise.resolve(String(seq));
    },
    async readPage(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page> {
      const no = asked.push({ plan, bounds, limit });
      log.push(`ask ${no}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`page ${no}`);
      const page = pages[no - 1] ?? [];
      if (page instanceof Error) throw page;
      return { columns: COLUMNS, rows: page };
    },
  };
}

const byKey = { byCursor: false, bounds: EVERYTHING };
const byCursor = { byCursor: true, bounds: EVERYTHING };

async function chunksOf(source: ReturnType<typeof sourceOf>, partition = byKey): Promise<PositionedChunk[]> {
  const chunks: PositionedChunk[] = [];
  for await (const chunk of readChunks(source, mapping, partition, source.nextReadSeq)) {
    source.log.push('chunk');
    chunks.push(chunk);
  }
  return chunks;
}
const idsOf = ({ records }: PositionedChunk): string[] => [...records.externalIds];

it('goes on after a short page, and ends at an empty one', async () => {
  const source = sourceOf([rows(1, 3), rows(4, 4), rows(5, 6)]);
  const chunks = await chunksOf(source);
  expect(chunks.flatMap(idsOf)).toEqual([1, 2, 3, 4, 5, 6].map(pad));
  expect(source.asked).toHaveLength(4);
});

it('yields nothing of a partition without rows, and no empty chunk behind a full one', async () => {
  expect(await chunksOf(sourceOf([]))).toEqual([]);
  expect(await chunksOf(sourceOf([rows(1, 4000)]))).toHaveLength(1);
});

it.each([
  ['key', byKey, null],
  ['cursor and key', byCursor, 'at 000003'],
] as const)('begins each page after the last row of the one before, by %s', async (_, partition, cursor) => {
  const source = sourceOf([rows(1, 3), rows(4, 5)]);
  const [chunk] = await chunksOf(source, partition);
  expect(source.asked.map(({ plan }) => plan.cursor)).toEqual(Array(3).fill(cursor === null ? null : 'at'));
  expect(source.asked.map(({ bounds }) => bounds.after)).toEqual([
    null,
    { cursor, key: ['000003'] },
    { cursor: cursor === null ? null : 'at 000005', key: ['000005'] },
  ]);
  expect(chunk!.position).toEqual({ cursor: cursor === null ? null : 'at 000005', key: ['000005'] });
});

it('takes a position from the cursor and all key columns, wherever they are in the row', () => {
  const plan: ReadPlan = { ...PLAN, columns: ['at', 'no', 'name', 'shop'], key: ['shop', 'no'] };
  const found = ['12:00', '7', 'n', 'north'];
  expect(positionIn(plan)(found)).toEqual({ cursor: '12:00', key: ['north', '7'] });
  expect(positionIn(inKeyOrder(plan))(found)).toEqual({ cursor: null, key: ['north', '7'] });
});

it('keeps to the bounds of its partition on every page', async () => {
  const bounds: ReadBounds = { after: null, cursorFrom: 'a', cursorBefore: 'z', throughKey: ['000009'] };
  const source = sourceOf([rows(1, 1)]);
  await chunksOf(source, { byCursor: true, bounds });
  expect(source.asked).toHaveLength(2);
  for (const asked of source.asked) expect(asked.bounds).toMatchObject({ ...bounds, after: asked.bounds.after });
});

it('draws a read sequence number before the first page of a chunk is asked for, and after the last has arrived', async () => {
  // The first chunk is full with 4,000 rows, the others with 12,000.
  const pages = Array.from({ length: 17 }, (_, i) => rows(1000 * i + 1, 1000 * (i + 1)));
  const source = sourceOf(pages);
  const chunks = await chunksOf(source);

  expect(chunks.map(({ records }) => records.length)).toEqual([4000, 12_000, 1000]);
  expect(chunks.map(({ readSeqStart, readSeqEnd }) => [readSeqStart, readSeqEnd])).toEqual([
    ['1', '2'],
    ['2', '3'],
    ['3', '4'],
  ]);
  expect(chunks.map(({ position }) => position.key)).toEqual([['004000'], ['016000'], ['017000']]);
  const at = (what: string): number => source.log.indexOf(what);
  expect(at('seq 1')).toBeLessThan(at('ask 1'));
  for (const [seq, last] of [
    [2, 4],
    [3, 16],
  ]) {
    expect(at(`page ${last}`)).toBeLessThan(at(`seq ${seq}`));
    expect(at(`seq ${seq}`)).toBeLessThan(at(`ask ${last! + 1}`));
  }
  expect(at('page 18')).toBeLessThan(at('seq 4'));
});

it('asks for the next page before it hands over a chunk, so that both go on side by side', async () => {
  const source = sourceOf([rows(1, 4000), rows(4001, 4002)]);
  await chunksOf(source);
  expect(source.log.slice(0, 6)).toEqual(['seq 1', 'ask 1', 'page 1', 'seq 2', 'ask 2', 'chunk']);
});

it.each([
  ['2,000 failed rows', [rows(1, 2000, ''), rows(2001, 2001), rows(2002, 2002)], [2001, 1]],
  ['4,000 rows, failed ones included', [rows(1, 1500, ''), rows(1501, 4000), rows(4001, 4001)], [4000, 1]],
  ['eight million characters', [1, 31, 61, 91].map((first) => rows(first, first + 29, 'x'.repeat(100_000))), [90, 30]],
])('ends a chunk with %s', async (_, pages, sizes) => {
  const chunks = await chunksOf(sourceOf(pages));
  expect(chunks.map(({ records, failedRows }) => records.length + failedRows.length)).toEqual(sizes);
});

it('gives each chunk memory of its own, or the same to all if it is told so', async () => {
  const pages = [rows(1, 4000), rows(4001, 4001)];
  const source = sourceOf(pages);
  const ids: string[][] = [];
  let first: PositionedChunk | undefined;
  for await (const chunk of readChunks(source, mapping, byKey, source.nextReadSeq, reusedRecords())) {
    first ??= chunk;
    ids.push(idsOf(chunk));
  }
  expect(ids.map((of) => of.length)).toEqual([4000, 1]);
  // What the first chunk had is gone.
  expect(first!.records.externalIds[0]).toBe('004001');
  const [own] = await chunksOf(sourceOf(pages));
  expect(own!.records.externalIds[0]).toBe('000001');
});

it('compiles nothing for a page without rows', () => {
  const chunk = new ChunkBuilder('1');
  const never = { compiled: () => expect.fail('was compiled') } as unknown as PreparedMapping;
  chunk.add({ columns: COLUMNS, rows: [] }, never, 1);
  expect(chunk.rows).toBe(0);
});

it('asks for pages of as many rows as fit, by the width of those that it has read', async () => {
  const source = sourceOf([rows(1, 100), rows(101, 110, 'x'.repeat(1_000_000))]);
  await chunksOf(source);
  expect(source.asked.map(({ limit }) => limit)).toEqual([FIRST_PAGE_ROWS, 2000, 4]);
});

it('fails with the error of the page that it has asked for ahead, once it comes to that page', async () => {
  const source = sourceOf([rows(1, 4000), new Error('the connection is lost')]);
  const chunks = readChunks(source, mapping, byKey, source.nextReadSeq);
  expect((await chunks.next()).value).toMatchObject({ position: { key: ['004000'] } });
  // The page has failed meanwhile, and nobody has looked at it.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(chunks.next()).rejects.toThrow('the connection is lost');
});

it.each([
  ['', rows(4001, 4002)],
  [', even if that fails', new Error('the connection is lost')],
])('waits for the page that it has asked for ahead if nobody wants more%s', async (_, second) => {
  const source = sourceOf([rows(1, 4000), second]);
  for await (const chunk of readChunks(source, mapping, byKey, source.nextReadSeq)) {
    expect(chunk.records).toHaveLength(4000);
    expect(source.log).not.toContain('page 2');
    break;
  }
  expect(source.log.at(-1)).toBe('page 2');
});

it('measures rows on some twenty of a page, and never asks for less than one row', () => {
  const page = (rowsOfPage: string[][]): Page => ({ columns: COLUMNS, rows: rowsOfPage });
  expect(averageRowLength(page([]))).toBe(1);
  expect(averageRowLength(page([['abc', null as unknown as string, 'de']]))).toBe(6);
  expect(averageRowLength(page(Array.from({ length: 40 }, (_, i) => [i % 2 === 0 ? 'abcd' : 'x'.repeat(999)])))).toBe(
    4.05,
  );
  expect([1, 4 * 1024 * 1024, 10 ** 9].map(rowsPerPage)).toEqual([2000, 1, 1]);
});

it('reads mapped pages until there are no more, or as many rows as are wanted', async () => {
  const pagesOf = async (source: ReturnType<typeof sourceOf>, limit: number): Promise<number[]> => {
    const pages: number[] = [];
    const mapped = readMappedPages({ ...mapping, source }, { ...EVERYTHING, cursorFrom: 'a' }, limit);
    for await (const { columns, rows: mappedRows } of mapped) {
      pages.push(mappedRows.length);
      expect(columns).toBe(COLUMNS);
      for (const { row: read, result } of mappedRows) expect(result).toMatchObject({ externalId: read[0] });
    }
    return pages;
  };
  const all = sourceOf([rows(1, 100), rows(101, 103)]);
  expect(await pagesOf(all, Infinity)).toEqual([100, 3]);
  expect(all.asked.map(({ bounds, limit }) => [bounds.cursorFrom, bounds.after?.key ?? null, limit])).toEqual([
    ['a', null, 100],
    ['a', ['000100'], 2000],
    ['a', ['000103'], 2000],
  ]);

  const some = sourceOf([rows(1, 100), rows(101, 120)]);
  expect(await pagesOf(some, 120)).toEqual([100, 20]);
  expect(some.asked.map(({ limit }) => limit)).toEqual([100, 20]);
});
