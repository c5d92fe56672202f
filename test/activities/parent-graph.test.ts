/** Families of parents: who can come, and in which order they are delivered. */
import { expect, it } from 'vitest';
import { blockChildren, generations, type ParentFate, type ParentNode } from '../../activities/parent-graph.js';
import { parentKey } from '../../activities/parents.js';

const named = (externalId: string) => ({ tenant: 'north', schemaName: 'person', field: '', externalId });
/** People by name: what is known of each, and whom they refer to; a `?` marks what leads in a circle. */
function family(people: Record<string, readonly [ParentFate | null, ...string[]]>) {
  const nodes = new Map<string, ParentNode>();
  for (const [name, [fate, ...elders]] of Object.entries(people)) {
    const key = (elder: string): string => parentKey(named(elder.replace('?', '')));
    nodes.set(parentKey(named(name)), {
      ...{ parent: named(name), candidates: [], mapping: null, record: null, fate },
      ...{ elders: elders.map(key), needs: elders.filter((e) => !e.endsWith('?')).map(key) },
    });
  }
  return {
    nodes,
    fateOf: (name: string) => nodes.get(parentKey(named(name)))!.fate,
    order: () => generations({ nodes }).map((level) => level.map((node) => node.parent.externalId)),
  };
}

it('blocks every descendant of one that will not come, whether it waits or was found, and nobody else', () => {
  const people = family({
    gone: ['parent_missing'],
    waiting: ['coming', 'gone'],
    found: [null, 'waiting', 'there'],
    grandchild: ['coming', 'found'],
    there: ['there'],
    other: [null, 'there'],
    unknown: ['unknown'],
    ofUnknown: ['coming', 'unknown'],
  });

  blockChildren(people);

  for (const name of ['waiting', 'found', 'grandchild']) expect(people.fateOf(name)).toBe('parent_rejected');
  expect(people.fateOf('gone')).toBe('parent_missing');
  expect(people.fateOf('other')).toBeNull();
  expect(people.fateOf('ofUnknown')).toBe('coming');
});

it('lets a reference that leads in a circle block nobody', () => {
  const people = family({ chief: ['parent_missing'], clerk: [null, 'chief?'] });
  blockChildren(people);
  expect(people.fateOf('clerk')).toBeNull();
});

it('delivers the eldest first, and comes to an end where references lead in a circle', () => {
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

it('follows twenty thousand generations up to the eldest', () => {
  const count = 20_000;
  const line = (eldest: ParentFate | null) =>
    family(
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`p${i}`, i === 0 ? [eldest] : [null, `p${i - 1}`]] as const),
      ),
    );

  const blocked = line('parent_missing');
  blockChildren(blocked);
  expect(blocked.fateOf(`p${count - 1}`)).toBe('parent_rejected');
  const order = line(null).order();
  expect(order).toHaveLength(count);
  expect(order.at(-1)).toEqual([`p${count - 1}`]);
});
