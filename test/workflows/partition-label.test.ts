/** What the timeline says of a partition: enough to know it by, and nothing that may be about a person. */
import { expect, it } from 'vitest';
import { partitionLabel, type PartitionBounds } from '../../src/domain/run/partition-label.js';

const ALL: PartitionBounds = {
  cursorFrom: null,
  cursorBefore: null,
  afterKey: null,
  throughKey: null,
  externalIds: null,
};

it.each([
  ['all rows', {}, 'all rows'],
  ['the first keys', { throughKey: ['250000'] }, 'keys up to 250000'],
  ['keys in the middle', { afterKey: ['250000'], throughKey: ['500000'] }, 'keys 250001 to 500000'],
  ['the last keys', { afterKey: ['750000'] }, 'keys from 750001'],
  ['keys that are texts', { afterKey: ['ana@example.org'], throughKey: ['bea@example.org'] }, null],
  ['keys of two columns', { afterKey: ['1', '2'], throughKey: ['3', '4'] }, null],
  [
    'changes between two times',
    { cursorFrom: '2026-11-23 14:00:00.123456+00', cursorBefore: '2026-11-23 15:00:00+00' },
    'changes from 2026-11-23 14:00:00.123456+00 to 2026-11-23 15:00:00+00',
  ],
  ['changes without an end', { cursorFrom: '42' }, 'changes since 42'],
  ['changes up to a text', { cursorFrom: '42', cursorBefore: 'ana' }, null],
  ['the first changes', { cursorBefore: '2026-11-23 15:00:00+00' }, 'rows until 2026-11-23 15:00:00+00'],
  ['changes since a text', { cursorFrom: 'ana' }, null],
  ['one record', { externalIds: ['a'] }, '1 record'],
  ['some records', { externalIds: ['a', 'b'] }, '2 records'],
])('names %s', (_what, bounds, label) => {
  expect(partitionLabel({ ...ALL, ...bounds })).toBe(label);
});
