/**
 * The condition structure of a segment (platform-api.md section 2).
 *
 * Section 2 shows `type`, `value` and `description` of a condition, and no more. What a condition needs beside them
 * to be evaluated is ours, and listed in docs/segments.md: the schema, the field, the operator; the way to other
 * records and what is measured over them.
 */
import { Type, type Static } from 'typebox';
import { parseJsonPath } from '../json-path.js';
import { OPERATOR_NAMES, OPERATORS, type Operator } from './operators.js';

const OperatorName = Type.Unsafe<Operator>({ type: 'string', enum: OPERATOR_NAMES });
const Text = Type.String({ minLength: 1 });

/** A test of one field of one record. */
const Test = {
  schema: Type.String({ minLength: 1, description: 'name of the schema definition' }),
  jsonPath: Type.String({ minLength: 1, description: 'the field, such as $.country' }),
  operator: OperatorName,
  value: Type.Array(Type.String()),
  not: Type.Optional(Type.Boolean({ description: 'true: holds where the test does not' })),
};

/** A test of the person's own record. */
export const PropertyCondition = Type.Object(
  { type: Type.Literal('property'), description: Type.String(), ...Test },
  { additionalProperties: false },
);
export type PropertyCondition = Static<typeof PropertyCondition>;

/** From a record to others: to those of `schema` whose `field` refers to it, or to the one that its own `field` names. */
export const Step = Type.Object(
  {
    schema: Text,
    field: Text,
    to: Type.Unsafe<'children' | 'parent'>({ type: 'string', enum: ['children', 'parent'] }),
  },
  { additionalProperties: false },
);
export type Step = Static<typeof Step>;

export const RecordTest = Type.Object(Test, { additionalProperties: false });
export type RecordTest = Static<typeof RecordTest>;

export const MEASURES = ['count', 'sum', 'average', 'minimum', 'maximum'] as const;
export type Measure = (typeof MEASURES)[number];

/** Something measured over the records that a path leads to: "the sum of their totals is over 100". */
export const RecordsCondition = Type.Object(
  {
    type: Type.Literal('records'),
    description: Type.String(),
    schema: Type.String({ minLength: 1, description: "name of the person's schema definition" }),
    path: Type.Array(Step, { minItems: 1, maxItems: 4 }),
    where: Type.Array(RecordTest, { description: 'all hold for a record that is measured' }),
    measure: Type.Unsafe<Measure>({ type: 'string', enum: [...MEASURES] }),
    jsonPath: Type.Optional(Type.String({ description: 'field that is measured; count has none' })),
    operator: OperatorName,
    value: Type.Array(Type.String()),
    not: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type RecordsCondition = Static<typeof RecordsCondition>;

export type Condition = PropertyCondition | RecordsCondition;

export const ConditionGroup = Type.Object(
  {
    type: Type.Literal('group'),
    description: Type.String(),
    logic: Type.Unsafe<'and' | 'or'>({ type: 'string', enum: ['and', 'or'] }),
    conditions: Type.Array(Type.Union([PropertyCondition, RecordsCondition]), { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type ConditionGroup = Static<typeof ConditionGroup>;

/** AND-joined; none at all means everybody. */
export const ConditionGroups = Type.Array(ConditionGroup);

/** What a JSON Schema cannot say of condition groups: one text for each wrong place, as a JSON pointer and a reason. */
export function conditionProblems(groups: readonly ConditionGroup[]): string[] {
  return groups.flatMap((group, g) =>
    group.conditions.flatMap((condition, c) => {
      const place = `/${g}/conditions/${c}`;
      const own = [...pathProblem(place, condition.jsonPath), ...valueProblem(place, condition)];
      if (condition.type === 'property') return own;
      if ((condition.measure === 'count') !== (condition.jsonPath === undefined))
        own.push(`${place} must have a jsonPath, unless it is a count`);
      const known = [condition.schema, ...condition.path.map((step) => step.schema)];
      return condition.where.reduce((problems, test, w) => {
        const at = `${place}/where/${w}`;
        if (!known.includes(test.schema)) problems.push(`${at}/schema is not on the path: ${known.join(', ')}`);
        return [...problems, ...pathProblem(at, test.jsonPath), ...valueProblem(at, test)];
      }, own);
    }),
  );
}

function pathProblem(place: string, jsonPath: string | undefined): string[] {
  const fine = jsonPath === undefined || parseJsonPath(jsonPath) !== undefined;
  return fine ? [] : [`${place}/jsonPath is no path such as $.country or $.address.city`];
}

function valueProblem(place: string, { operator, value }: Pick<RecordTest, 'operator' | 'value'>): string[] {
  const problem = OPERATORS[operator].problem(value);
  return problem === undefined ? [] : [`${place}/value: "${operator}" ${problem}`];
}
