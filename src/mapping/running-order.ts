/**
 * The running order of mappings, parents before children, also where references lead in a circle: there one of them
 * is left out at first. Its mapping is loaded twice: without the reference, and in full once the parents are there.
 */
import type { MappingSpec } from '../domain/sync.js';
import { cycleOf, stagesOf, type MappingNode } from './stages.js';
import { requiredOf } from './target.js';

/** One stage of a run: what is loaded side by side. */
export interface Stage {
  /** Mappings whose new records are sent without the references that lead in a circle. */
  readonly ahead: readonly string[];
  readonly full: readonly string[];
}

/** Fields that a mapping leaves out at first, by its name; or a circle that cannot be broken so. */
export type Deferred = { readonly fields: ReadonlyMap<string, readonly string[]>; readonly circle: string[] | null };

interface Reference {
  readonly from: string;
  readonly to: string;
  readonly field: string;
  /** The record is valid without it, and may be sent once more with it. */
  readonly canWait: boolean;
}

export function deferredReferences(mappings: readonly MappingSpec[]): Deferred {
  let references = mappings.flatMap(referencesOf);
  const fields = new Map<string, string[]>();
  for (;;) {
    const circle = cycleOf(nodesOf(mappings, references));
    if (circle === null) return { fields, circle };
    const steps = circle.slice(1).map((to, i) => references.filter((r) => r.from === circle[i] && r.to === to));
    const given = steps.find((step) => step.every((reference) => reference.canWait));
    if (given === undefined) return { fields, circle };
    const { from } = given[0]!;
    fields.set(from, [...(fields.get(from) ?? []), ...given.map((reference) => reference.field)]);
    references = references.filter((reference) => !given.includes(reference));
  }
}

/** Mappings on a circle that cannot be broken, and behind it, are in no stage. */
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
    stages.push({ ahead: level.filter((name) => fields.has(name)), full: level.filter((name) => !fields.has(name)) });
    for (const name of level) there.add(name);
    const isReady = (name: string): boolean =>
      there.has(name) && references.every((r) => r.from !== name || !isDeferred(r) || there.has(r.to));
    const ready = again.filter(isReady);
    if (ready.length > 0) stages.push({ ahead: [], full: ready });
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
