/** Describes conditions in the forms of the grammar: a description, read as a text, gives the same conditions again. */
import { MEASURES, type ConditionGroup, type Draft, type RecordTest } from './condition.js';
import { FORMS, written } from './grammar.js';
import { OPERATORS, phraseOf, type Tested } from './operators.js';
import { dateOf, spendingIn, type RecordKind, type Vocabulary } from './vocabulary.js';

/** The form with its places filled. */
const fill = (form: keyof typeof FORMS, places: Readonly<Record<string, string>>): string =>
  FORMS[form].replaceAll(/\{(\w+)\}/g, (_, place: string) => places[place]!).trim();
const bare = (test: Tested): string => phraseOf(test).replace(/^is /, '');
const fieldAt = (path: string | undefined, { fields }: RecordKind) => fields.find(({ jsonPath }) => jsonPath === path)!;

/** The words after the noun for people, for a condition that a text can state: `whose country is "France"`. */
export function describeCondition(condition: Draft, vocabulary: Vocabulary): string {
  const { operator, value } = condition;
  const Test = phraseOf(condition);
  if (condition.type === 'property') {
    const Field = written(fieldAt(condition.jsonPath, vocabulary.people).name);
    if (operator !== 'is_set' || condition.not === true) return fill('Tested', { Field, Test });
    return fill('Present', { Field }).replace(/ a (?=[aeiou])/i, ' an ');
  }
  const kind = vocabulary.records.find(({ schema }) => schema === condition.path.at(-1)!.schema)!;
  const Narrowing = describeWhere(condition.where, kind, vocabulary);
  const Records = written(kind.many);
  const Amount = bare({ operator, value });
  if (condition.measure === 'count') {
    if (condition.not === true) return fill('None', { Records, Narrowing });
    return fill('Counted', { Amount, Records: value.join() === '1' ? written(kind.one) : Records, Narrowing });
  }
  const field = fieldAt(condition.jsonPath, kind);
  const Measure = MEASURES[condition.measure].words[field.kind]!;
  return condition.measure === 'sum' && spendingIn(vocabulary)?.field === field && condition.not !== true
    ? fill('Spent', { Amount, Narrowing })
    : fill('Measured', { Measure, Field: written(field.name), Records, Test, Narrowing });
}

/** The tests of records. A period that comes first needs no field: it is said of the date of the records. */
function describeWhere(where: readonly RecordTest[], kind: RecordKind, vocabulary: Vocabulary): string {
  const date = dateOf(vocabulary, kind);
  const isPeriod = ({ schema, jsonPath, operator, not }: RecordTest) =>
    schema === date?.schema && jsonPath === date.jsonPath && not !== true && OPERATORS[operator].kinds[0] === 'date';
  const periods = where.slice(0, 1).filter(isPeriod).map(bare);
  const say = (test: RecordTest) => `${written(fieldAt(test.jsonPath, kind).name)} ${phraseOf(test)}`;
  const tests = where.slice(periods.length).map(say);
  return [...periods, ...(tests.length === 0 ? [] : ['where', tests.join(' and ')])].join(' ');
}

/** The suggested title and description of 4.2 for a segment with these groups. */
export function describeSegment(groups: ConditionGroup[], many: string): Record<'title' | 'description', string> {
  const parts = groups.map(({ description, conditions }) =>
    conditions.length > 1 && groups.length > 1 ? `(${description})` : description,
  );
  const words = groups.length === 0 ? `all ${many}` : `${many} ${parts.join(' and ')}`;
  const sentence = words[0]!.toUpperCase() + words.slice(1);
  return { title: sentence.replaceAll('"', ''), description: `${sentence}.` };
}
