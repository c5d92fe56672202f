/**
 * The condition structure of a segment (platform-api.md section 2, which shows only `type`, `value` and `description` of
 * a condition). The members that are needed to evaluate it are the sandbox's own, and listed in docs/segments.md.
 */
import { Type, type Static } from 'typebox';
import { parseJsonPath } from '../json-path.js';
import { OPERATOR_NAMES, valueProblem, type FieldKind, type Tested } from './operators.js';

/** `count` counts records; the others aggregate a field of theirs. */
export type Measure = 'count' | 'sum' | 'average' | 'minimum' | 'maximum';
/** The aggregate of SQL for each measure, and the word in a text for each kind of field that it takes. */
export const MEASURES: Readonly<Record<Measure, { aggregate: string; words: Partial<Record<FieldKind, string>> }>> = {
  count: { aggregate: 'count', words: {} },
  sum: { aggregate: 'sum', words: { number: 'total' } },
  average: { aggregate: 'avg', words: { number: 'average' } },
  minimum: { aggregate: 'min', words: { number: 'minimum', date: 'earliest' } },
  maximum: { aggregate: 'max', words: { number: 'maximum', date: 'latest' } },
};
/** The names of all measures. */
export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];

const OneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: values });
const Text = (description: string) => Type.String({ minLength: 1, description });
const closed = { additionalProperties: false };

const TEST = {
  operator: OneOf(OPERATOR_NAMES),
  value: Type.Array(Type.String()),
  not: Type.Optional(Type.Boolean({ description: 'true: holds where the test does not' })),
};
const SAID = { description: Type.String() };
const SCHEMA = { schema: Text('name of the schema definition') };
const FIELD = { ...SCHEMA, jsonPath: Text('the field, such as $.country') };

const RecordTest = Type.Object({ ...FIELD, ...TEST }, closed);
/** A test of a record on the path of a {@link RecordsCondition}, or of the measured one. */
export type RecordTest = Static<typeof RecordTest>;

/** A test of a field of the person's own record. */
const PropertyCondition = Type.Object({ type: Type.Literal('property'), ...SAID, ...FIELD, ...TEST }, closed);
type PropertyCondition = Static<typeof PropertyCondition>;

const Step = Type.Object({ ...SCHEMA, field: Text('the reference'), to: OneOf(['children', 'parent']) }, closed);
/** A step to `children`, the records of `schema` whose `field` refers to this one, or to the `parent` that it names. */
export type Step = Static<typeof Step>;

const RecordsCondition = Type.Object(
  {
    type: Type.Literal('records'),
    ...SAID,
    ...SCHEMA,
    path: Type.Array(Step, { minItems: 1, maxItems: 4 }),
    where: Type.Array(RecordTest, { description: 'all hold for a record that is measured' }),
    measure: OneOf(MEASURE_NAMES),
    jsonPath: Type.Optional(Type.String({ description: 'field that is measured; count has none' })),
    ...TEST,
  },
  closed,
);
/** A test of a measure over the records that a path leads to, such as "the sum of their totals is over 100". */
export type RecordsCondition = Static<typeof RecordsCondition>;

/** A condition of either type. */
export type Condition = PropertyCondition | RecordsCondition;

/** A condition before its description is added. */
export type Draft = Omit<PropertyCondition, 'description'> | Omit<RecordsCondition, 'description'>;

const ConditionGroup = Type.Object(
  {
    type: Type.Literal('group'),
    ...SAID,
    logic: OneOf(['and', 'or']),
    conditions: Type.Array(Type.Union([PropertyCondition, RecordsCondition]), { minItems: 1 }),
  },
  closed,
);
/** A group of conditions (section 2), of which all must hold (`and`) or at least one (`or`). */
export type ConditionGroup = Static<typeof ConditionGroup>;

/** AND-joined groups; an empty list matches everybody. */
export const ConditionGroups = Type.Array(ConditionGroup);

/** What a JSON Schema cannot check of condition groups: for each invalid place a JSON pointer and the reason. */
export function conditionProblems(groups: readonly ConditionGroup[]): string[] {
  return groups.flatMap((group, g) =>
    group.conditions.flatMap((condition, c) => {
      const place = `/${g}/conditions/${c}`;
      const problems = testProblems(place, condition);
      if (condition.type === 'property') return problems;
      if ((condition.measure === 'count') !== (condition.jsonPath === undefined))
        problems.push(`${place} must have a jsonPath, unless it is a count`);
      const known = [condition.schema, ...condition.path.map((step) => step.schema)];
      condition.where.forEach((test, w) => {
        const at = `${place}/where/${w}`;
        if (!known.includes(test.schema)) problems.push(`${at}/schema is not on the path: ${known.join(', ')}`);
        problems.push(...testProblems(at, test));
      });
      return problems;
    }),
  );
}

function testProblems(place: string, test: Tested & { jsonPath?: string | undefined }): string[] {
  const unreadable = test.jsonPath !== undefined && parseJsonPath(test.jsonPath) === undefined;
  const problem = valueProblem(test);
  return [
    ...(unreadable ? [`${place}/jsonPath is no path such as $.country or $.address.city`] : []),
    ...(problem === undefined ? [] : [`${place}/value: ${problem}`]),
  ];
}
