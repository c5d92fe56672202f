/** Orders mappings by their references, parents before children, and finds cycles. */
import type { MappingSpec } from '../../domain/sync/sync.js';

/** A node of the graph of references. */
export interface MappingNode {
  readonly name: string;
  /** Names of the mappings that it refers to. */
  readonly refs: readonly string[];
}

/** The node of a mapping, with the mappings that its `ref:` fields name. */
export const mappingNode = ({ name, fields }: MappingSpec): MappingNode => ({
  name,
  refs: [...fields.values()].flatMap((field) => (field.kind === 'ref' ? [field.mapping] : [])),
});

/**
 * Groups of mappings that can be loaded side by side, in order, each sorted by name (the levels of Kahn's algorithm).
 * References to mappings that are not in the list are ignored. Mappings on a cycle, or that depend on one, are in no
 * group.
 */
export function stagesOf(mappings: readonly MappingNode[]): string[][] {
  const names = new Set(mappings.map((mapping) => mapping.name));
  const all = mappings.map((m) => ({ name: m.name, refs: m.refs.filter((ref) => names.has(ref)) }));
  const done = new Set<string>();
  const isReady = ({ name, refs }: MappingNode): boolean => !done.has(name) && refs.every((ref) => done.has(ref));
  const stages: string[][] = [];
  let ready = all.filter(isReady);
  while (ready.length > 0) {
    const stage = ready.map((mapping) => mapping.name).sort();
    stages.push(stage);
    for (const name of stage) done.add(name);
    ready = all.filter(isReady);
  }
  return stages;
}

/**
 * One cycle among the mappings, with its first name repeated at the end: `['a', 'b', 'a']`; null if there is none. For
 * the same mappings it is always the same one.
 */
export function cycleOf(mappings: readonly MappingNode[]): string[] | null {
  const placed = new Set(stagesOf(mappings).flat());
  const left = new Map(mappings.filter((m) => !placed.has(m.name)).map((m) => [m.name, m.refs]));
  const first = [...left.keys()].sort()[0];
  if (first === undefined) return null;
  // Every mapping that is left refers to another one that is left, so following these references ends in a cycle.
  const following = (name: string): string => left.get(name)!.find((ref) => left.has(ref))!;
  const trail: string[] = [];
  let next = first;
  while (!trail.includes(next)) {
    trail.push(next);
    next = following(next);
  }
  return [...trail.slice(trail.indexOf(next)), next];
}
