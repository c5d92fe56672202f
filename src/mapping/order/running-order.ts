/**
 * The order in which a run loads mappings: parents before children. If references form a cycle, one of them is
 * deferred: its mapping is loaded twice, in a first pass without that reference, and in full once the parents have been
 * sent (ADR 0018).
 */
import type { MappingSpec } from '../../domain/sync/sync.js';
import { cycleOf, stagesOf, type MappingNode } from './stages.js';
import { requiredOf } from '../definition/target.js';

/** Mappings that a run loads side by side, by name. */
export interface Stage {
  /** Mappings whose new records are sent without their deferred references. */
  readonly firstPass: readonly string[];
  /** Mappings that are loaded with all references. */
  readonly full: readonly string[];
}

/**
 * The reference fields to leave out in the first pass, by mapping. `cycle` is null, or a cycle that cannot be broken,
 * with its first name repeated at the end.
 */
export type Deferred = { readonly fields: ReadonlyMap<string, readonly string[]>; readonly cycle: string[] | null };

interface Reference {
  readonly from: string;
  readonly to: string;
  readonly field: string;
  /** Whether it can be deferred: the record is valid without it, and a later upsert may add it. */
  readonly canWait: boolean;
}

/** Breaks one cycle after the other by deferring the references of one of its steps, if all of those can wait. */
export function deferredReferences(mappings: readonly MappingSpec[]): Deferred {
  let references = mappings.flatMap(referencesOf);
  const fields = new Map<string, string[]>();
  while (true) {
    const cycle = cycleOf(nodesOf(mappings, references));
    if (cycle === null) return { fields, cycle };
    const steps = cycle.slice(1).map((to, i) => references.filter((r) => r.from === cycle[i] && r.to === to));
    const given = steps.find((step) => step.every((reference) => reference.canWait));
    if (given === undefined) return { fields, cycle };
    const { from } = given[0]!;
    fields.set(from, [...(fields.get(from) ?? []), ...given.map((reference) => reference.field)]);
    references = references.filter((reference) => !given.includes(reference));
  }
}

/**
 * The stages of a run, in order. Mappings on a cycle that cannot be broken, and their children, are in no stage;
 * checking the files has rejected them (`reference_cycle`).
 */
export function runningOrder(mappings: readonly MappingSpec[]): Stage[] {
  const { fields } = deferredReferences(mappings);
  const references = mappings.flatMap(referencesOf);
  const isDeferred = ({ from, field }: Reference): boolean => fields.get(from)?.includes(field) === true;
  const levels = stagesOf(
    nodesOf(
      mappings,
      references.filter((reference) => !isDeferred(reference)),
    ),
  );
  const there = new Set<string>();
  const stages: Stage[] = [];
  let again = [...fields.keys()];
  for (const level of levels) {
    stages.push({
      firstPass: level.filter((name) => fields.has(name)),
      full: level.filter((name) => !fields.has(name)),
    });
    for (const name of level) there.add(name);
    const isReady = (name: string): boolean =>
      there.has(name) && references.every((r) => r.from !== name || !isDeferred(r) || there.has(r.to));
    const ready = again.filter(isReady);
    if (ready.length > 0) stages.push({ firstPass: [], full: ready });
    again = again.filter((name) => !ready.includes(name));
  }
  return stages;
}

function referencesOf({ name, fields, schema, options }: MappingSpec): Reference[] {
  const required = requiredOf(schema.schema);
  return [...fields].flatMap(([field, spec]) =>
    spec.kind === 'ref'
      ? [{ from: name, to: spec.mapping, field, canWait: !required.includes(field) && options.onConflict === 'upsert' }]
      : [],
  );
}

const nodesOf = (mappings: readonly MappingSpec[], references: readonly Reference[]): MappingNode[] =>
  mappings.map(({ name }) => ({ name, refs: references.filter((r) => r.from === name).map((r) => r.to) }));
