/**
 * Finds among previewed rows those that would have to wait: for a parent whose row fails, for one that is nowhere, or for
 * one that waits itself. It knows nothing but the rows that were read, so there may be more.
 */
import { acceptedHashesOf } from '../delivery/accepted-hashes-of.js';
import type { OpenMapping, OpenSync } from '../delivery/dependencies.js';
import { parentKey, parentMappings, parentsOf, type ParentReference } from '../delivery/parents/parents.js';
import type { FailedRow, MapResult } from '../domain/records/record.js';
import { referencesOf } from '../domain/records/references.js';
import { groupBy } from '../domain/values/group-by.js';
import type { LedgerView } from '../ledger/ledger-view.js';

/** Rows of one mapping that would wait; null if none of its rows was read. */
export interface WaitingRows {
  readonly mapping: string;
  readonly rows: number | null;
}

/** Parents that are neither on the platform nor among the rows that a run would read. */
export interface MissingParents {
  readonly schema: string;
  /** How many parents are missing. */
  readonly parents: number;
  /** The rows that would wait for them, of the mapping itself and of those that refer to it. */
  readonly waiting: readonly WaitingRows[];
}

/** Names of records are kept up to this number, some 200 MB; beyond it no parent is called missing. */
const MOST_NAMES = 1_000_000;

/** A row or a missing parent that others wait for. */
interface Obstacle {
  /** The mapping of the row that fails, or the one that refers to the missing parent. */
  readonly mapping: string;
  /** The schema of a missing parent; null for a row that fails. */
  readonly missing: string | null;
  /** Rows that wait for it, by their mapping. */
  readonly waiting: Map<string, number>;
}

/** Takes the rows of mappings, parents before children, and then says what would wait. */
export class WaitingChildren {
  readonly #sync: OpenSync;
  readonly #ledger: LedgerView | null;
  /** What a record waits for, or is, by {@link parentKey}. A row with several such parents counts for the first. */
  readonly #obstacles = new Map<string, Obstacle>();
  /** Names of records that a run would send. */
  readonly #sent = new Set<string>();
  readonly #read = new Set<string>();
  /** Mappings of which every row that a run would read was read. */
  readonly #complete = new Set<string>();

  constructor(sync: OpenSync, ledger: LedgerView | null) {
    this.#sync = sync;
    this.#ledger = ledger;
  }

  /** Takes rows of a page: those that fail, and those that a run would send. */
  async add(mapping: OpenMapping, results: readonly MapResult[]): Promise<void> {
    const { name, schema } = mapping.spec;
    this.#read.add(name);
    const keyOf = (tenant: string, externalId: string): string =>
      parentKey({ tenant, field: '', schemaName: schema.name, externalId });
    for (const { tenant, externalId } of await this.#absent(mapping, results.filter(hasName)))
      this.#obstacles.set(keyOf(tenant, externalId), { mapping: name, missing: null, waiting: new Map() });
    const children = results.flatMap((result) =>
      result.kind === 'record' && result.deletion === undefined
        ? [{ key: keyOf(result.tenant, result.externalId), parents: parentsOf(mapping, result) }]
        : [],
    );
    if (this.#sent.size < MOST_NAMES) for (const { key } of children) this.#sent.add(key);
    await this.#addMissing(
      mapping,
      children.flatMap(({ parents }) => parents),
    );
    for (const { key, parents } of children) {
      const obstacle = parents
        .map((parent) => this.#obstacles.get(parentKey(parent)))
        .find((each) => each !== undefined);
      if (obstacle === undefined) continue;
      obstacle.waiting.set(name, (obstacle.waiting.get(name) ?? 0) + 1);
      this.#obstacles.set(key, obstacle);
    }
  }

  /** To be called after the last page of a mapping, if these were all rows that a run would read. */
  complete({ spec }: OpenMapping): void {
    if (this.#sent.size < MOST_NAMES) this.#complete.add(spec.name);
  }

  /** What would wait for this row. */
  of({ spec }: OpenMapping, { tenant, externalId }: Pick<MapResult, 'tenant' | 'externalId'>): WaitingRows[] {
    if (tenant === null || externalId === null) return [];
    const obstacle = this.#obstacles.get(parentKey({ tenant, field: '', schemaName: spec.schema.name, externalId }));
    return obstacle === undefined ? [] : summed([obstacle]);
  }

  /** What would wait for all rows of the mapping that fail; with null, the mappings that refer to it and were not read. */
  ofFailures({ spec }: OpenMapping): WaitingRows[] {
    const failing = this.#distinct().filter(({ mapping, missing }) => mapping === spec.name && missing === null);
    if (failing.length === 0) return [];
    const unread = this.#sync.spec.mappings.filter(
      ({ name, schema }) =>
        !this.#read.has(name) && referencesOf(schema.schema).some(({ schemaName }) => schemaName === spec.schema.name),
    );
    return [...summed(failing), ...unread.map(({ name }) => ({ mapping: name, rows: null }))];
  }

  /** The parents that rows of the mapping refer to and that are missing, by their schema. */
  missingParents({ spec }: OpenMapping): MissingParents[] {
    const missing = this.#distinct().filter((each) => each.mapping === spec.name && each.missing !== null);
    return [...groupBy(missing, (each) => each.missing!)].map(([schema, same]) => ({
      schema,
      parents: same.length,
      waiting: summed(same),
    }));
  }

  #distinct(): Obstacle[] {
    return [...new Set(this.#obstacles.values())];
  }

  /** Notes the parents that are neither on the platform nor sent, as far as all rows that may become them were read. */
  async #addMissing(mapping: OpenMapping, parents: readonly ParentReference[]): Promise<void> {
    const open = parents.filter(
      (parent) => !this.#sent.has(parentKey(parent)) && !this.#obstacles.has(parentKey(parent)),
    );
    for (const schemaName of new Set(open.map((parent) => parent.schemaName))) {
      const makers = await parentMappings({ sync: this.#sync, mapping }, schemaName);
      const isKnown = ({ spec }: OpenMapping): boolean =>
        this.#complete.has(spec.name) && spec.options.ledger === 'full';
      if (makers.length === 0 || !makers.every(isKnown)) continue;
      let absent = open.filter((parent) => parent.schemaName === schemaName);
      for (const maker of makers) absent = await this.#absent(maker, absent);
      for (const parent of absent)
        if (!this.#obstacles.has(parentKey(parent)))
          this.#obstacles.set(parentKey(parent), {
            mapping: mapping.spec.name,
            missing: schemaName,
            waiting: new Map(),
          });
    }
  }

  /** Those that the platform does not have: children of a record that it has do not wait, even if its new row fails. */
  async #absent<R extends { readonly tenant: string; readonly externalId: string }>(
    mapping: OpenMapping,
    records: readonly R[],
  ): Promise<R[]> {
    if (this.#ledger === null || records.length === 0) return [...records];
    const accepted = await acceptedHashesOf({ ledger: this.#ledger }, mapping, records);
    return records.filter((record) => !accepted.has(record));
  }
}

const hasName = (result: MapResult): result is FailedRow & { readonly tenant: string; readonly externalId: string } =>
  result.kind === 'failed' && result.tenant !== null && result.externalId !== null;

/** The waiting rows of several obstacles, by mapping. */
function summed(obstacles: readonly Obstacle[]): WaitingRows[] {
  const rows = new Map<string, number>();
  for (const { waiting } of obstacles)
    for (const [mapping, count] of waiting) rows.set(mapping, (rows.get(mapping) ?? 0) + count);
  return [...rows].map(([mapping, count]) => ({ mapping, rows: count }));
}
