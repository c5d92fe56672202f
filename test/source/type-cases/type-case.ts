/** A column type with its boundary values, and what must arrive. */
import type { JsonValue } from '../../../src/domain/values/json.js';
import type { SourceType } from '../../../src/domain/source/source.js';

/** What a value ends as where it is no record: the rule that it breaks. */
export interface DeadLetter {
  readonly deadLetter: string;
}
export const deadLetter = (rule: string): DeadLetter => ({ deadLetter: rule });

export interface TypeCase {
  /** Where a name is part of the guess. */
  readonly name?: string;
  /** As in CREATE TABLE. */
  readonly ddl: string;
  /** What is in a column of this type, where that decides how it is drafted. */
  readonly holding?: string;
  readonly kind: SourceType;
  /** The field that `init` makes of a column with these values; null where it makes none. */
  readonly drafted: string | null;
  /** Literals, the texts that must be read, and what the platform must have; undefined where nothing is sent. */
  readonly values: readonly (readonly [literal: string, text: string, record?: JsonValue | DeadLetter])[];
  readonly note?: string;
}

export const MB = 1024 * 1024;

export const NO_TEXT = 'no conversion: cast it in the query';
