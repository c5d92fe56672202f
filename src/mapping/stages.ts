/** The running order of mappings, from their references: parents before children. */
import type { MappingSpec } from '../domain/sync.js';

export interface MappingNode {
  readonly name: string;
  /** Names of the mappings that it refers to. */
  readonly refs: readonly string[];
}

/** A mapping with the mappings that its `ref:` fields name. */
export const mappingNode = ({ name, fields }: MappingSpec): MappingNode => ({
  name,
  refs: [...fields.values()].flatMap((field) => (field.kind === 'ref' ? [field.mapping] : [])),
});

/**
 * Groups of mappings that may run side by side, in order; alphabetical inside a group (Kahn's levels).
 * Mappings on or behind a cycle are in no group: {@link cycleOf} names one.
 */
export function stagesOf(mappings: readonly MappingNode[]): string[][] {
  const names = new Set(mappings.map((mapping) => mapping.name));
  let waiting = mappings.map((m) => ({ name: m.name, refs: m.refs.filter((ref) => names.has(ref)) }));
  const done = new Set<string>();
  const stages: string[][] = [];
  for (;;) {
    const ready = waiting.filter((mapping) => mapping.refs.every((ref) => done.has(ref)));
    if (ready.length === 0) return stages;
    for (const { name } of ready) done.add(name);
    stages.push(ready.map((mapping) => mapping.name).sort());
    waiting = waiting.filter((mapping) => !done.has(mapping.name));
  }
}

/** One cycle among the mappings, closed: `['a', 'b', 'a']`; null where there is none. */
export function cycleOf(mappings: readonly MappingNode[]): string[] | null {
  const placed = new Set(stagesOf(mappings).flat());
  const left = new Map(mappings.filter((m) => !placed.has(m.name)).map((m) => [m.name, m.refs]));
  const first = [...left.keys()].sort()[0];
  if (first === undefined) return null;
  // Whoever is left refers to somebody who is left: following those references must come back to a name seen.
  const trail = [first];
  for (;;) {
    const next = left.get(trail[trail.length - 1]!)!.find((ref) => left.has(ref))!;
    const seen = trail.indexOf(next);
    if (seen >= 0) return [...trail.slice(seen), next];
    trail.push(next);
  }
}
