/** What a parsed description means: an Ohm action for each rule of the grammar that has a meaning of its own. */
import type { ActionDict, Node } from 'ohm-js';
import { MEASURE_NAMES, MEASURES, type Draft, type RecordsCondition, type RecordTest } from './condition.js';
import { OPERATORS, valueProblem, type Operator, type Tested } from './operators.js';
import { dateOf, placesIn, spendingIn, type Field, type RecordKind, type Vocabulary } from './vocabulary.js';

/** Words that are grammatical, but mean nothing with the tenant's schema definitions. */
export class Meaningless extends Error {}

function refuse(node: Node, reason: string): never {
  throw new Meaningless(`"${node.sourceString.trim()}" ${reason}`);
}

/** The meaning of a node. The caller knows its type from the grammar. */
export const read = <T>(node: Node): T => (node as unknown as { meaning(): T }).meaning();
const each = <T>(node: Node): T[] => node.children.map((child) => read<T>(child));
const said = (node: Node): string => node.sourceString.toLowerCase().replaceAll(/\s+/g, ' ');

/** A test of records, once their kind is known. */
type Narrowing = (kind: RecordKind) => RecordTest;
type Measured = Tested & Pick<RecordsCondition, 'measure' | 'jsonPath'>;

/** The test whose operator names its rule. Its children are words of the phrase and values. */
function test(rule: Node): Tested {
  const [, prefix, operator] = /^([A-Z][a-z]+)_(.+)$/.exec(rule.ctorName)!;
  const values = rule.children.filter(({ ctorName }) => !['whole', 'With'].includes(ctorName));
  const found: Tested = { operator: operator as Operator, value: values.flatMap((value) => read<string[]>(value)) };
  const problem = valueProblem(found);
  if (problem !== undefined) refuse(rule, `is not a valid test: ${problem}`);
  return prefix === 'Not' ? { ...found, not: true } : found;
}

/** The actions for a vocabulary. They throw {@link Meaningless} for what its schema definitions cannot express. */
export function actionsFor(vocabulary: Vocabulary): ActionDict<unknown> {
  const { people, records } = vocabulary;
  const { schema } = people;
  const kindAt = (node: Node) =>
    records.find(({ one, many }) => [one, many].includes(read(node))) ?? refuse(node, 'are not records of people');
  const fieldAt = (node: Node, { fields, many }: RecordKind) =>
    fields.find(({ name }) => name.toLowerCase() === read(node)) ?? refuse(node, `is not a field of ${many}`);

  /** The test at a node, which the field's kind must allow. */
  function testOf({ name, kind }: Field, node: Node): Tested {
    const found = read<Tested>(node);
    const truths = kind !== 'boolean' || found.value.every((text) => /^(true|false)$/.test(text));
    if (!truths || !OPERATORS[found.operator].kinds.includes(kind))
      refuse(node, `cannot be said of "${name}", a ${kind}`);
    return found;
  }
  const property = ({ jsonPath }: Field, tested: Tested): Draft => ({ type: 'property', schema, jsonPath, ...tested });
  const measured = (kind: RecordKind, narrowing: Node, tested: Measured): Draft => {
    const where = read<Narrowing[]>(narrowing).map((narrow) => narrow(kind));
    return { type: 'records', schema, path: [...kind.path], where, ...tested };
  };

  return {
    Text(noun, groups, _end) {
      each(noun);
      return each<Draft[][]>(groups)[0] ?? [];
    },
    People(_all, noun) {
      if (!vocabulary.nouns.includes(said(noun))) refuse(noun, `is no word for ${people.many}`);
    },
    Groups_one: (alternatives) => [read(alternatives)],
    Groups_all: (first, _and, others) => [read(first), ...each(others)],
    Group_brackets: (_open, alternatives, _close) => read(alternatives),
    Alternatives: (first, _or, others) => [read(first), ...each(others)].flat(),
    Form: (form) => [read<Draft | Draft[]>(form)].flat(),

    Place(_in, texts) {
      const places = placesIn(vocabulary);
      if (places.length === 0) refuse(this, `needs a field that says where ${people.many} are`);
      return places.map((field) => property(field, { operator: 'is', value: read(texts) }));
    },
    Tested(_whose, name, node) {
      const field = fieldAt(name, people);
      return property(field, testOf(field, node));
    },
    Present: (_with, _a, name) => property(fieldAt(name, people), { operator: 'is_set', value: [] }),
    Counted: (_with, amount, noun, narrowing) =>
      measured(kindAt(noun), narrowing, { measure: 'count', ...read<Tested>(amount) }),
    None: (_with, _no, noun, narrowing) =>
      measured(kindAt(noun), narrowing, { measure: 'count', operator: 'at_least', value: ['1'], not: true }),
    Spent(_who, _spent, amount, narrowing) {
      const { kind, field } = spendingIn(vocabulary) ?? refuse(this, 'needs transactions with an amount');
      return measured(kind, narrowing, { measure: 'sum', jsonPath: field.jsonPath, ...read<Tested>(amount) });
    },
    Measured(_whose, word, name, _of, noun, node, narrowing) {
      const kind = kindAt(noun);
      const field = fieldAt(name, kind);
      const measure = MEASURE_NAMES.find((known) => MEASURES[known].words[field.kind] === said(word));
      const tested = testOf(field, node);
      if (measure === undefined || tested.operator === 'is_set')
        refuse(this, `is no measure of "${field.name}", a ${field.kind}`);
      return measured(kind, narrowing, { measure, jsonPath: field.jsonPath, ...tested });
    },

    Narrowing: (period, where) => [...each(period), ...each(where)].flat(),
    Period: (node) => (kind: RecordKind) => {
      const date = dateOf(vocabulary, kind) ?? refuse(node, `needs a date of ${kind.many}`);
      return { schema: date.schema, jsonPath: date.jsonPath, ...test(node) };
    },
    Where: (_where, first, _and, others) => [read(first), ...each(others)],
    Said: (name, node) => (kind: RecordKind) => {
      const field = fieldAt(name, kind);
      return { schema: kind.schema, jsonPath: field.jsonPath, ...testOf(field, node) };
    },

    Test: test,
    Amount: test,
    Texts: (first, _or, others) => [read(first), ...each(others)],
    quoted: (_open, inside, _close) => inside.sourceString,
    truth: said,
    plain: (text) => text.sourceString,
    Name: (name) => said(name).replaceAll('"', ''),
    Number: (number) => [number.sourceString],
    Day: (day) => [day.sourceString],
    Span: (count, unit) => [...read<string[]>(count), ...read<string[]>(unit)],
    Unit: (unit) => [said(unit).replace(/s$/, '')],
  };
}
