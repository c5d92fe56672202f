/** What the readers of clauses share: the reader, the vocabulary, the clock, and names of fields and records. */
import type { Condition, PropertyCondition, RecordsCondition } from './condition.js';
import { negate } from './numbers.js';
import type { Reader } from './reader.js';
import type { Field, RecordKind, Vocabulary } from './vocabulary.js';
import { wordsOfName } from './word-forms.js';

export interface Grammar {
  readonly reader: Reader;
  readonly vocabulary: Vocabulary;
  readonly now: Date;
}

type WithoutDescription<C> = C extends Condition ? Omit<C, 'description'> : never;
/** A condition before it is described. */
export type Draft = WithoutDescription<Condition>;
export type PropertyDraft = WithoutDescription<PropertyCondition>;
export type RecordsDraft = WithoutDescription<RecordsCondition>;

/** Conditions joined by and, or; a tree as it was read. */
export type Expression =
  | Draft
  | { readonly type: 'all'; readonly of: readonly Expression[] }
  | { readonly type: 'any'; readonly of: readonly Expression[] };

/** Several expressions of which any may hold; one alone stays itself. */
export const any = (of: readonly Expression[]): Expression => (of.length === 1 ? of[0]! : { type: 'any', of });
export const all = (of: readonly Expression[]): Expression => (of.length === 1 ? of[0]! : { type: 'all', of });

/** The opposite, when `negated`: not any of them, or not all of them. */
export function turned(expression: Expression, negated: boolean): Expression {
  if (!negated) return expression;
  switch (expression.type) {
    case 'all':
      return any(expression.of.map((part) => turned(part, true)));
    case 'any':
      return all(expression.of.map((part) => turned(part, true)));
    default:
      return negate(expression, true);
  }
}

/** Takes the longest of the phrases that stands here; the first of several as long. */
function takeNamed<T>(reader: Reader, named: Iterable<readonly [T, readonly (readonly string[])[]]>): T | undefined {
  let best: T | undefined;
  let length = 0;
  for (const [meaning, phrases] of named)
    for (const phrase of phrases) {
      const matched = reader.names(phrase);
      if (matched > length) [best, length] = [meaning, matched];
    }
  reader.at += length;
  return best;
}

export function takeField(reader: Reader, fields: readonly Field[]): Field | undefined {
  return takeNamed(
    reader,
    fields.map((field) => [field, field.phrases] as const),
  );
}

/** A field of any of the records, alone or behind their noun: `date`, `order date`, `order's date`. */
export function takeRecordField(
  reader: Reader,
  records: readonly RecordKind[],
): { kind: RecordKind; field: Field } | undefined {
  const behindNoun = reader.attempt(() => {
    const kind = takeRecordNoun(reader, records);
    const field = kind && takeField(reader, kind.fields);
    return field && { kind: kind, field };
  });
  if (behindNoun !== undefined) return behindNoun;
  return takeNamed(
    reader,
    records.flatMap((kind) => kind.fields.map((field) => [{ kind, field }, field.phrases] as const)),
  );
}

export function takeRecordNoun(reader: Reader, records: readonly RecordKind[]): RecordKind | undefined {
  return takeNamed(
    reader,
    records.map((kind) => [kind, kind.nouns] as const),
  );
}

/** A value that a field's schema lists, said without the field: `gold`, `cancellations`. */
export function takeChoice(reader: Reader, fields: readonly Field[]): { field: Field; value: string } | undefined {
  return takeNamed(
    reader,
    fields.flatMap((field) => field.choices.map((value) => [{ field, value }, [wordsOfName(value)]] as const)),
  );
}
