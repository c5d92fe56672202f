/**
 * Failed rows in columns, as records are (records.ts): if every row of a table fails, they must not take more memory
 * than the records would. The causes are mostly the same few, so each distinct cause is stored once.
 */
import type { ParentName } from '../domain/records/parent.js';
import type { FailedRow } from '../domain/records/record.js';
import { TextColumn, type PostedTexts } from './text-column.js';

/** What failed rows have in common; a tenant is one of few as well. */
type Cause = Pick<FailedRow, 'code' | 'pointer' | 'rule' | 'reason' | 'tenant'>;

/** The columns as they are posted to another thread. */
export interface PostedFailedRows {
  readonly causes: readonly Cause[];
  /** For each row, the index of its cause. */
  readonly causeOf: readonly number[];
  /** The empty text stands for null; no external id is empty. */
  readonly externalIds: PostedTexts;
  readonly shapes: PostedTexts;
  /** One entry per key column. */
  readonly keys: readonly PostedTexts[];
  /** The missing parents, by the index of the row. */
  readonly missing: ReadonlyMap<number, readonly ParentName[]>;
}

/** Failed rows of one mapping, by index: their source keys have the same number of values. */
export class FailedRowList implements Iterable<FailedRow> {
  readonly #causes: Cause[] = [];
  readonly #indexes = new Map<string, number>();
  #causeOf: number[] = [];
  #externalIds = new TextColumn();
  #shapes = new TextColumn();
  #keys: TextColumn[] = [];
  /** Missing parents by index; few rows have any. */
  #missing = new Map<number, readonly ParentName[]>();

  /** A list of copies. */
  static of(rows: Iterable<FailedRow>): FailedRowList {
    const list = new FailedRowList();
    for (const row of rows) list.add(row);
    return list;
  }

  /** Appends a row. */
  add({ externalId, sourceKey, shape, missing, ...cause }: FailedRow): void {
    if (missing !== undefined) this.#missing.set(this.length, missing);
    if (this.length === 0) this.#keys = sourceKey.map(() => new TextColumn());
    this.#causeOf.push(this.#indexOf(cause));
    this.#externalIds.push(externalId ?? '');
    this.#shapes.push(shape);
    this.#keys.forEach((column, i) => column.push(sourceKey[i]!));
  }

  /** The index of an equal cause, which is added if there is none yet. */
  #indexOf({ code, pointer, rule, reason, tenant }: Cause): number {
    const name = JSON.stringify([code, pointer, rule, reason, tenant]);
    let index = this.#indexes.get(name);
    if (index === undefined)
      this.#indexes.set(name, (index = this.#causes.push({ code, pointer, rule, reason, tenant }) - 1));
    return index;
  }

  get length(): number {
    return this.#causeOf.length;
  }

  /** The row at this index, as a new object. */
  at(index: number): FailedRow {
    const missing = this.#missing.get(index);
    return {
      kind: 'failed',
      ...this.#causes[this.#causeOf[index]!]!,
      externalId: this.#externalIds.at(index) || null,
      sourceKey: this.#keys.map((column) => column.at(index)),
      shape: this.#shapes.at(index),
      ...(missing !== undefined && { missing }),
    };
  }

  *[Symbol.iterator](): Generator<FailedRow> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** The distinct tenants of the rows; rows of an unknown tenant add none. */
  get tenants(): ReadonlySet<string> {
    return new Set(this.#causes.flatMap(({ tenant }) => tenant ?? []));
  }

  /** null if the tenant itself is the problem. */
  tenantAt(index: number): string | null {
    return this.#causes[this.#causeOf[index]!]!.tenant;
  }

  /** What can be posted to another thread; posting copies it. */
  post(): PostedFailedRows {
    return {
      causes: this.#causes,
      causeOf: this.#causeOf,
      externalIds: this.#externalIds.post(),
      shapes: this.#shapes.post(),
      keys: this.#keys.map((column) => column.post()),
      missing: this.#missing,
    };
  }

  /** The list that {@link post} gave in another thread. */
  static received({ causes, causeOf, externalIds, shapes, keys, missing }: PostedFailedRows): FailedRowList {
    const list = new FailedRowList();
    list.#causes.push(...causes);
    list.#causeOf = [...causeOf];
    list.#externalIds = new TextColumn(externalIds);
    list.#shapes = new TextColumn(shapes);
    list.#keys = keys.map((column) => new TextColumn(column));
    list.#missing = new Map(missing);
    return list;
  }
}
