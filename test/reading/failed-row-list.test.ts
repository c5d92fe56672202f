/** A table in which every row fails needs no more memory than one that passes: dead letters are stored in columns, in chunks. */
import { serialize } from 'node:v8';
import { expect, it } from 'vitest';
import { FailedRowList } from '../../src/records/failed-row-list.js';
import type { FailedRow } from '../../src/domain/records/record.js';
import { ChunkBuilder } from '../../src/reading/chunk-builder.js';

const rowOf = (no: number): FailedRow => ({
  kind: 'failed',
  tenant: no % 2 === 0 ? 'north' : null,
  externalId: no % 3 === 0 ? null : `Zoë ${no}`,
  sourceKey: [`o${no}`, String(no)],
  code: 'record_invalid',
  pointer: no % 5 === 0 ? '/email' : '/phone',
  rule: 'format: email',
  reason: 'not a valid email',
  shape: no % 7 === 0 ? '' : `text(${no}) aaa`,
});
const failedRows = Array.from({ length: 2000 }, (_, no) => rowOf(no));

it('returns every dead letter unchanged, from a thread too', () => {
  const list = FailedRowList.of(failedRows);
  expect([...list]).toEqual(failedRows);
  expect([...list.tenants]).toEqual(['north']);
  expect([...FailedRowList.received(structuredClone(list.post()))]).toEqual(failedRows);
});

it('sends of each dead letter what is its own, and what went wrong once', () => {
  const sent = serialize(FailedRowList.of(failedRows).post()).length;
  expect(sent / failedRows.length).toBeLessThan(64);
});

it('ends a chunk after some thousands of failing rows', () => {
  const page = { columns: [], rows: Array.from({ length: 2000 }, (_, i) => [String(i)]) };
  const noRow = {
    bytes: new Uint8Array(),
    starts: new Int32Array(),
    ends: new Int32Array(),
    text: () => null,
    texts: () => [],
  };
  const failing = {
    compiled: () => ({
      columns: ['id'],
      append: () => rowOf(1),
      inBytes: () => noRow,
      map: () => rowOf(1),
      externalIdOf: () => null,
      tenantOf: () => null,
    }),
  };
  const chunk = new ChunkBuilder('1');
  let pages = 0;
  for (let isLast = false; !isLast; pages++) {
    isLast = chunk.isFullWith(page, 100);
    chunk.add(page, failing, 100);
  }
  expect(pages).toBe(2);
  expect(chunk.finish('2').failedRows.length).toBe(4000);
});
