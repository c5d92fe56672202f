/**
 * Rows that cannot be delivered, column by column, as records are (record-list.ts): where every row of a table fails, they
 * must cost no more memory than records would. What was wrong is mostly the same, and is kept once.
 */
import type { ParentName } from './parent.js';
import type { UnmappableRow } from './record.js';
import { TextColumn, type SentTexts } from './texts.js';

type Cause = Pick<UnmappableRow, 'code' | 'pointer' | 'rule' | 'reason' | 'tenant'>;

/** The columns as they go to another thread. */
export interface SentLetters {
  readonly causes: readonly Cause[];
  readonly causeOf: readonly number[];
  /** Empty where there is none: no external id is empty. */
  readonly externalIds: SentTexts;
  readonly shapes: SentTexts;
  readonly keys: readonly SentTexts[];
  readonly missing: ReadonlyMap<number, readonly ParentName[]>;
}

/** All have keys of as many values. */
export class LetterList implements Iterable<UnmappableRow> {
  readonly #causes: Cause[] = [];
  readonly #indexes = new Map<string, number>();
  #causeOf: number[] = [];
  #externalIds = new TextColumn();
  #shapes = new TextColumn();
  #keys: TextColumn[] = [];
  /** Of the few that lack parents, by their index. */
  #missing = new Map<number, readonly ParentName[]>();

  static of(letters: Iterable<UnmappableRow>): LetterList {
    const list = new LetterList();
    for (const letter of letters) list.add(letter);
    return list;
  }

  add({ externalId, sourceKey, shape, missing, ...cause }: UnmappableRow): void {
    if (missing !== undefined) this.#missing.set(this.length, missing);
    if (this.length === 0) this.#keys = sourceKey.map(() => new TextColumn());
    this.#causeOf.push(this.#indexOf(cause));
    this.#externalIds.push(externalId ?? '');
    this.#shapes.push(shape);
    this.#keys.forEach((column, i) => column.push(sourceKey[i]!));
  }

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

  at(index: number): UnmappableRow {
    const missing = this.#missing.get(index);
    return {
      ...{ kind: 'unmappable', ...this.#causes[this.#causeOf[index]!]! },
      externalId: this.#externalIds.at(index) || null,
      sourceKey: this.#keys.map((column) => column.at(index)),
      shape: this.#shapes.at(index),
      ...(missing !== undefined && { missing }),
    };
  }

  *[Symbol.iterator](): Generator<UnmappableRow> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  /** Tenants that the rows name, each once. */
  get tenants(): ReadonlySet<string> {
    return new Set(this.#causes.flatMap(({ tenant }) => tenant ?? []));
  }

  tenantAt(index: number): string | null {
    return this.#causes[this.#causeOf[index]!]!.tenant;
  }

  send(): SentLetters {
    return {
      ...{ causes: this.#causes, causeOf: this.#causeOf },
      ...{ externalIds: this.#externalIds.send(), shapes: this.#shapes.send() },
      ...{ keys: this.#keys.map((column) => column.send()), missing: this.#missing },
    };
  }

  static received({ causes, causeOf, externalIds, shapes, keys, missing }: SentLetters): LetterList {
    const list = new LetterList();
    list.#causes.push(...causes);
    list.#causeOf = [...causeOf];
    list.#externalIds = new TextColumn(externalIds);
    list.#shapes = new TextColumn(shapes);
    list.#keys = keys.map((column) => new TextColumn(column));
    list.#missing = new Map(missing);
    return list;
  }
}
