/** Reads what is said of a field, behind its name: `is over 30`, `does not contain "x"`, `is missing`, `since March`. */
import type { RecordTest } from './condition.js';
import { all, any, type Expression, type Grammar, type PropertyDraft } from './grammar.js';
import {
  AND,
  AUXILIARIES,
  BE,
  NEGATIONS,
  NUMBER_COMPARISONS,
  OR,
  PRESENCE,
  TEXT_COMPARISONS,
  TRUTH,
} from './lexicon.js';
import type { Phrases } from './lexicon.js';
import { negate, readNumberTest, type Tested } from './numbers.js';
import { readPeriod } from './periods.js';
import { readValues } from './values.js';
import type { Field } from './vocabulary.js';

export function readFieldTest(grammar: Grammar, field: Pick<Field, 'kind' | 'choices'>): Tested | undefined {
  const { reader } = grammar;
  return reader.attempt(() => {
    reader.take(AUXILIARIES);
    reader.take(BE);
    // "not more than" is a comparison of its own, so the plain reading comes first.
    const plain = readPlainTest(grammar, field);
    if (plain !== undefined) return plain;
    if (reader.take(NEGATIONS) === undefined) return undefined;
    const negated = readPlainTest(grammar, field);
    return negated && negate(negated, true);
  });
}

function readPlainTest(grammar: Grammar, { kind, choices }: Pick<Field, 'kind' | 'choices'>): Tested | undefined {
  const { reader } = grammar;
  const presence = reader.take(PRESENCE);
  if (presence !== undefined) return { ...presence, value: [] };
  switch (kind) {
    case 'number':
      return readNumberTest(reader, 'equals');
    case 'date':
      return readPeriod(reader, grammar.now);
    case 'boolean': {
      const truth = reader.take(TRUTH);
      return truth === undefined ? undefined : { operator: 'is', value: [String(truth)] };
    }
    case 'text':
      return reader.attempt(() => {
        const { operator } = reader.take(TEXT_COMPARISONS) ?? { operator: 'is' as const };
        const value = readValues(grammar, choices);
        return value && { operator, value };
      });
  }
}

/** `over 30 and under 50`, `ends with ".de" or contains "gmail"`: tests of one field whose name is said once. */
export function readFieldTests(grammar: Grammar, field: Field): Expression | undefined {
  const { reader } = grammar;
  const first = readFieldTest(grammar, field);
  if (first === undefined) return undefined;
  const alternatives: Expression[][] = [[property(field, first)]];
  for (;;) {
    const next = reader.attempt(() => {
      const or = reader.take(OR) !== undefined;
      if (!or && reader.take(AND) === undefined) return undefined;
      // A value alone would be a condition of its own, or a mistake.
      if (!OPENS_A_TEST.some((phrases) => reader.is(phrases))) return undefined;
      const tested = readFieldTest(grammar, field);
      return tested && { or, test: property(field, tested) };
    });
    if (next === undefined) return any(alternatives.map(all));
    if (next.or) alternatives.push([next.test]);
    else alternatives.at(-1)!.push(next.test);
  }
}

const IN: readonly string[] = ['in', 'of'];
const OPENS_A_TEST: readonly Phrases<unknown>[] = [
  TEXT_COMPARISONS.filter(([phrase]) => !IN.includes(phrase)),
  NUMBER_COMPARISONS,
  BE,
];

export const property = (field: Field, tested: Tested): PropertyDraft => ({
  type: 'property',
  ...testOf(field, tested),
});

export const testOf = ({ schema, jsonPath }: Field, tested: Tested): RecordTest => ({
  schema,
  jsonPath,
  ...tested,
  value: [...tested.value],
});

/** What a field means that is named and nothing more: that it is true, or that it has a value. */
export const bareTest = ({ kind }: Pick<Field, 'kind'>): Tested =>
  kind === 'boolean' ? { operator: 'is', value: ['true'] } : { operator: 'is_set', value: [] };
