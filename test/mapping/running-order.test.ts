/** The running order if references form a cycle. */
import { expect, it } from 'vitest';
import type { MappingSpec } from '../../src/domain/sync/sync.js';
import { deferredReferences, runningOrder } from '../../src/mapping/order/running-order.js';

/** `refs`: the mapping that each field refers to. */
function mapping(
  name: string,
  refs: Readonly<Record<string, string>> = {},
  required: readonly string[] = [],
  onConflict: 'upsert' | 'reject' = 'upsert',
): MappingSpec {
  const fields = Object.entries(refs).map(([field, parent]) => [
    field,
    { kind: 'ref', mapping: parent, form: 'id', column: field, transforms: [], omitNull: false },
  ]);
  return {
    name,
    fields: new Map(fields as never),
    schema: { schema: { required } },
    options: { onConflict },
  } as unknown as MappingSpec;
}

it('puts parents before children, in one pass, if there is no cycle', () => {
  expect(runningOrder([mapping('lines', { order: 'orders' }), mapping('orders')])).toEqual([
    { firstPass: [], full: ['orders'] },
    { firstPass: [], full: ['lines'] },
  ]);
});

it('loads a mapping that refers to itself twice, and its children between the passes or after', () => {
  const staff = mapping('staff', { manager: 'staff' });
  expect(runningOrder([mapping('badges', { owner: 'staff' }), staff])).toEqual([
    { firstPass: ['staff'], full: [] },
    { firstPass: [], full: ['staff'] },
    { firstPass: [], full: ['badges'] },
  ]);
});

it('leaves out an optional reference, wherever on the cycle it is', () => {
  const mappings = [
    mapping('a', { b: 'b' }, ['b']),
    mapping('b', { c: 'c' }, [], 'reject'),
    mapping('c', { a: 'a', other: 'a' }),
  ];
  expect(deferredReferences(mappings)).toEqual({ fields: new Map([['c', ['a', 'other']]]), cycle: null });
  expect(runningOrder(mappings)).toEqual([
    { firstPass: ['c'], full: [] },
    { firstPass: [], full: ['b'] },
    { firstPass: [], full: ['a'] },
    { firstPass: [], full: ['c'] },
  ]);
});

it('breaks two cycles through one mapping', () => {
  const mappings = [mapping('a', { b: 'b', c: 'c' }), mapping('b', { a: 'a' }), mapping('c', { a: 'a' })];
  const order = runningOrder(mappings);
  expect(order.flatMap((stage) => stage.full).sort()).toEqual(['a', 'b', 'c']);
  expect(order[0]!.firstPass).toEqual(['a']);
});

it('names a cycle in which no reference may be left out', () => {
  const required = [mapping('a', { b: 'b' }, ['b']), mapping('b', { a: 'a' }, ['a'])];
  expect(deferredReferences(required).cycle).toEqual(['a', 'b', 'a']);
  expect(deferredReferences([mapping('a', { a: 'a' }, [], 'reject')]).cycle).toEqual(['a', 'a']);
});
