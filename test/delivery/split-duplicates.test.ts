/** Of two rows with one external id, neither is sent; a row that was read twice is sent once, as it was read last. */
import { expect, it } from 'vitest';
import { splitDuplicates } from '../../src/delivery/chunk/split-duplicates.js';
import { FailedRowList } from '../../src/records/failed-row-list.js';
import { recordOf, RecordList } from '../../src/records/record-list.js';

type Read = readonly [
  tenant: string,
  externalId: string,
  sourceKey: string,
  json?: string,
  deletion?: 'apply' | 'ignore',
];

/** What is left of a chunk of these rows. */
function split(...rows: readonly Read[]) {
  const records = RecordList.of(
    rows.map(([tenant, id, key, json = '{}', deletion]) => recordOf(tenant, id, [key], json, deletion)),
  );
  const chunk = splitDuplicates({ records, failedRows: FailedRowList.of([UNMAPPABLE]) });
  const failed = [...chunk.failedRows];
  // What was unmappable before is kept in any case.
  expect(failed[0]).toEqual(UNMAPPABLE);
  return {
    sent: [...chunk.records].map(({ tenant, externalId, json }) => [tenant, externalId, json]),
    failed: failed.slice(1).map(({ code, sourceKey }) => [code, ...sourceKey]),
    superseded: chunk.superseded.map(({ sourceKey: [key] }) => key),
    rowsReadTwice: chunk.rowsReadTwice,
  };
}

const UNMAPPABLE = {
  kind: 'failed',
  tenant: 'n',
  externalId: null,
  sourceKey: ['0'],
  code: 'record_invalid',
  pointer: '/email',
  rule: 'format: email',
  reason: 'not a valid email',
  shape: '',
} as const;

const SENT = { failed: [], superseded: [], rowsReadTwice: 0 };

it('sends all records of a chunk in which no external id occurs twice, in any order', () => {
  expect(split(['n', 'a', '1'], ['n', 'b', '2'])).toEqual({
    ...SENT,
    sent: [
      ['n', 'a', '{}'],
      ['n', 'b', '{}'],
    ],
  });
  expect(split(['n', 'b', '1'], ['n', 'a', '2'])).toEqual({
    ...SENT,
    sent: [
      ['n', 'b', '{}'],
      ['n', 'a', '{}'],
    ],
  });
  expect(split()).toEqual({ ...SENT, sent: [] });
});

it('sends records of two tenants that have the same external id', () => {
  expect(split(['n', 'a', '1'], ['s', 'a', '2'])).toEqual({
    ...SENT,
    sent: [
      ['n', 'a', '{}'],
      ['s', 'a', '{}'],
    ],
  });
  expect(split(['n', 'b', '1'], ['s', 'b', '2'], ['n', 'a', '3'], ['n', 'a', '4'])).toEqual({
    sent: [
      ['n', 'b', '{}'],
      ['s', 'b', '{}'],
    ],
    failed: [
      ['duplicate_external_id', '3'],
      ['duplicate_external_id', '4'],
    ],
    superseded: [],
    rowsReadTwice: 0,
  });
});

it.each([
  [
    'behind a greater id',
    [
      ['n', 'b', '3'],
      ['n', 'a', '1'],
      ['n', 'a', '2'],
    ],
  ],
  [
    'neighbours',
    [
      ['n', 'a', '1'],
      ['n', 'a', '2'],
      ['n', 'b', '3'],
    ],
  ],
  [
    'far from each other',
    [
      ['n', 'a', '1'],
      ['n', 'b', '3'],
      ['n', 'a', '2'],
    ],
  ],
  [
    'read in turns with another tenant',
    [
      ['n', 'a', '1'],
      ['s', 'a', '8'],
      ['n', 'a', '2'],
      ['n', 'b', '3'],
    ],
  ],
] as const)('sends neither of two rows with one external id: %s', (_where, rows) => {
  const { sent, failed, rowsReadTwice } = split(...rows);
  expect(failed).toEqual([
    ['duplicate_external_id', '1'],
    ['duplicate_external_id', '2'],
  ]);
  expect(sent).toContainEqual(['n', 'b', '{}']);
  expect(sent).not.toContainEqual(['n', 'a', '{}']);
  expect(rowsReadTwice).toBe(0);
});

it('sends a row that was read three times once, as it was read last', () => {
  expect(
    split(['n', 'a', '1', '"old"'], ['n', 'b', '2'], ['n', 'a', '1', '"newer"'], ['n', 'a', '1', '"new"']),
  ).toEqual({
    sent: [
      ['n', 'b', '{}'],
      ['n', 'a', '"new"'],
    ],
    failed: [],
    superseded: [],
    rowsReadTwice: 2,
  });
});

it('gives a row that is marked as deleted no say beside one that is not', () => {
  const live = ['n', 'a', '3', '"live"'] as const;
  expect(split(['n', 'a', '1', '"gone"', 'apply'], ['n', 'a', '2', '"gone"', 'ignore'], live)).toEqual({
    sent: [['n', 'a', '"live"']],
    failed: [],
    superseded: ['1', '2'],
    rowsReadTwice: 0,
  });
  // As they were read last: the first row was marked as deleted meanwhile.
  expect(split(['n', 'a', '1', '"old"'], live, live, ['n', 'a', '1', '"gone"', 'apply'])).toEqual({
    sent: [['n', 'a', '"live"']],
    failed: [],
    superseded: ['1', '1'],
    rowsReadTwice: 1,
  });
  expect(split(live, ['n', 'a', '4'], ['n', 'a', '1', '"gone"', 'apply'])).toEqual({
    sent: [],
    failed: [
      ['duplicate_external_id', '3'],
      ['duplicate_external_id', '4'],
    ],
    superseded: ['1'],
    rowsReadTwice: 0,
  });
});

it('sends the mark of a record once if all of its rows are marked as deleted', () => {
  expect(split(['n', 'a', '1', '"gone"', 'apply'], ['n', 'a', '2', '"gone"', 'apply'])).toEqual({
    sent: [['n', 'a', '"gone"']],
    failed: [],
    superseded: ['1'],
    rowsReadTwice: 0,
  });
});
