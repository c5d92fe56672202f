/** A table of which every row fails is loaded in the memory of one that passes: dead letters are columns, in groups of some thousands. */
import { serialize } from 'node:v8';
import { expect, it } from 'vitest';
import { LetterList } from '../../src/domain/letter-list.js';
import type { UnmappableRow } from '../../src/domain/record.js';
import { newGroup } from '../../src/reading/group.js';

const letterOf = (no: number): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant: no % 2 === 0 ? 'north' : null, externalId: no % 3 === 0 ? null : `Zoë ${no}` },
  ...{ sourceKey: [`o${no}`, String(no)], code: 'record_invalid', pointer: no % 5 === 0 ? '/email' : '/phone' },
  ...{ rule: 'format: email', reason: 'not a valid email', shape: no % 7 === 0 ? '' : `text(${no}) aaa` },
});
const letters = Array.from({ length: 2000 }, (_, no) => letterOf(no));

it('gives every dead letter back as it came, behind a thread too', () => {
  const list = LetterList.of(letters);
  expect([...list]).toEqual(letters);
  expect([...list.tenants]).toEqual(['north']);
  expect([...LetterList.received(structuredClone(list.send()))]).toEqual(letters);
});

it('sends of each dead letter what is its own, and what went wrong once', () => {
  const sent = serialize(LetterList.of(letters).send()).length;
  expect(sent / letters.length).toBeLessThan(64);
});

it('ends a group of which every row fails after some thousands', () => {
  const page = { columns: [], rows: Array.from({ length: 2000 }, (_, i) => [String(i)]) };
  const failing = {
    plan: { relation: { table: 't' }, columns: ['id'], key: ['id'], cursor: null },
    compiled: () => ({ columns: ['id'], append: () => false, map: () => letterOf(1) }),
  };
  const group = newGroup('1');
  let pages = 0;
  for (let isLast = false; !isLast; pages++) {
    isLast = group.isFullWith(page, 100);
    group.add(page, failing, 100);
  }
  expect(pages).toBe(2);
  expect(group.finish('2', null).letters.length).toBe(4000);
});
