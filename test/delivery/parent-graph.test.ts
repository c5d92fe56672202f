/** Graphs of parents: which can be delivered, and in which order. */
import { expect, it } from 'vitest';
import {
  blockChildren,
  generations,
  type ParentStatus,
  type ParentNode,
} from '../../src/delivery/parents/parent-graph.js';
import { parentKey } from '../../src/delivery/parents/parents.js';

const named = (externalId: string) => ({ tenant: 'north', schemaName: 'person', field: '', externalId });
/** People by name: what is known of each, and whom they refer to; a `?` marks what leads in a cycle. */
function family(people: Record<string, readonly [ParentStatus | null, ...string[]]>) {
  const nodes = new Map<string, ParentNode>();
  for (const [name, [status, ...ancestors]] of Object.entries(people)) {
    const key = (ancestor: string): string => parentKey(named(ancestor.replace('?', '')));
    nodes.set(parentKey(named(name)), {
      parent: named(name),
      producers: [],
      mapping: null,
      record: null,
      status,
      ancestors: ancestors.map(key),
      requiredParents: ancestors.filter((e) => !e.endsWith('?')).map(key),
    });
  }
  return {
    nodes,
    statusOf: (name: string) => nodes.get(parentKey(named(name)))!.status,
    order: () => generations({ nodes }).map((level) => level.map((node) => node.parent.externalId)),
  };
}

it('blocks exactly the descendants of a parent that will not come, whether they wait or were fetched', () => {
  const people = family({
    gone: ['parent_missing'],
    waiting: ['coming', 'gone'],
    sibling: ['coming', 'gone'],
    arrived: ['there', 'gone'],
    found: [null, 'waiting', 'there'],
    grandchild: ['coming', 'found'],
    there: ['there'],
    other: [null, 'there'],
    unknown: ['unknown'],
    ofUnknown: ['coming', 'unknown'],
  });

  blockChildren(people);

  for (const name of ['waiting', 'sibling', 'found', 'grandchild'])
    expect(people.statusOf(name)).toBe('parent_rejected');
  expect(people.statusOf('gone')).toBe('parent_missing');
  expect(people.statusOf('arrived')).toBe('there');
  expect(people.statusOf('other')).toBeNull();
  expect(people.statusOf('ofUnknown')).toBe('coming');
});

it('does not block records because of a circular reference', () => {
  const people = family({ chief: ['parent_missing'], clerk: [null, 'chief?'] });
  blockChildren(people);
  expect(people.statusOf('clerk')).toBeNull();
});

it('delivers ancestors first, and terminates if references form a cycle', () => {
  const people = family({
    child: [null, 'mother', 'father'],
    mother: [null, 'grandmother'],
    father: [null],
    grandmother: [null],
    a: [null, 'b?'],
    b: [null, 'a?'],
  });

  const order = people.order().flat();

  expect(order.toSorted()).toEqual(['a', 'b', 'child', 'father', 'grandmother', 'mother']);
  expect(order.indexOf('grandmother')).toBeLessThan(order.indexOf('mother'));
  expect(order.indexOf('mother')).toBeLessThan(order.indexOf('child'));
  expect(order.indexOf('father')).toBeLessThan(order.indexOf('child'));
});

it('delivers one of a cycle first, whether it refers to itself or to the other, and only those that were found', () => {
  expect(family({ a: [null, 'b?'], b: [null, 'a?'] }).order()).toEqual([['b'], ['a']]);
  expect(family({ a: [null, 'a?'] }).order()).toEqual([['a']]);
  expect(family({ child: [null, 'there'], there: ['there'] }).order()).toEqual([['child']]);
});

it('follows twenty thousand generations of parents', () => {
  const count = 20_000;
  const line = (eldest: ParentStatus | null) =>
    family(
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`p${i}`, i === 0 ? [eldest] : [null, `p${i - 1}`]] as const),
      ),
    );

  const blocked = line('parent_missing');
  blockChildren(blocked);
  expect(blocked.statusOf(`p${count - 1}`)).toBe('parent_rejected');
  const order = line(null).order();
  expect(order).toHaveLength(count);
  expect(order.at(-1)).toEqual([`p${count - 1}`]);
});
