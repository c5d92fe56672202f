/** The test of a field, as SQL over a record's `data`. It is true or false, never null. */
import { parseJsonPath } from '../json-path.js';
import type { Operator } from './operators.js';
import type { Tested } from './numbers.js';
import type { SqlParameters } from './sql-parameters.js';

/** A value that is tested, as an SQL expression of type jsonb. */
type OperandSql = string;
type Build = (operand: OperandSql, value: readonly string[], parameters: SqlParameters, now: Date) => string;

const text = (operand: OperandSql): string => `(${operand} #>> '{}')`;

/** Any of the values, without regard to case. `word` is the value's SQL. */
const anyWord =
  (matches: (found: string, word: string) => string): Build =>
  (operand, value, parameters) =>
    `exists (select from unnest(${parameters.add(value, 'text[]')}) as word(it)
             where ${matches(`lower(${text(operand)})`, 'lower(word.it)')})`;

/** "case" guards the cast: data that is no number is no error, it only does not match. */
const number =
  (matches: (found: string, values: readonly string[]) => string): Build =>
  (operand, value, parameters) => {
    const values = value.map((v) => parameters.add(v, 'numeric'));
    return `case when jsonb_typeof(${operand}) = 'number' then ${matches(`${text(operand)}::numeric`, values)} else false end`;
  };

const time =
  (matches: (found: string, parameters: SqlParameters, value: readonly string[], now: () => string) => string): Build =>
  (operand, value, parameters, now) => {
    const found = text(operand);
    const clock = () => parameters.add(now.toISOString(), 'timestamptz');
    return `case when jsonb_typeof(${operand}) = 'string' and pg_input_is_valid(${found}, 'timestamptz')
            then ${matches(`${found}::timestamptz`, parameters, value, clock)} else false end`;
  };

/** Days begin at midnight UTC. */
const days = (matches: (found: string, days: readonly string[]) => string): Build =>
  time((found, parameters, value) =>
    matches(
      found,
      value.map((day) => parameters.add(`${day}T00:00:00Z`, 'timestamptz')),
    ),
  );

/** So many of the unit; a quarter is three months, which PostgreSQL has no word for. */
const interval = (count: string, unit: string): string =>
  `(case ${unit} when 'quarter' then make_interval(months => 3) else ('1 ' || ${unit})::interval end * ${count})`;

const span = (matches: (found: string, span: string, now: () => string) => string): Build =>
  time((found, parameters, [count, unit], now) =>
    matches(found, interval(parameters.add(count, 'integer'), parameters.add(unit, 'text')), now),
  );

/** Calendar units begin at midnight UTC, weeks on Monday. `shift`: how many units after the present one. */
const calendar = (shift: number): Build =>
  time((found, parameters, [name], now) => {
    const unit = parameters.add(name, 'text');
    const start = `(date_trunc(${unit}, ${now()}, 'UTC') at time zone 'UTC')`;
    const bound = (units: number) => `(${start} + ${interval(`(${units})`, unit)}) at time zone 'UTC'`;
    return `${found} >= ${bound(shift)} and ${found} < ${bound(shift + 1)}`;
  });

const BUILD: Readonly<Record<Operator, Build>> = {
  is: anyWord((found, word) => `${found} = ${word}`),
  contains: anyWord((found, word) => `position(${word} in ${found}) > 0`),
  starts_with: anyWord((found, word) => `starts_with(${found}, ${word})`),
  ends_with: anyWord((found, word) => `right(${found}, length(${word})) = ${word}`),
  is_set: (operand) => `coalesce(${text(operand)}, '') <> ''`,
  equals: number((found, [a]) => `${found} = ${a!}`),
  greater_than: number((found, [a]) => `${found} > ${a!}`),
  at_least: number((found, [a]) => `${found} >= ${a!}`),
  less_than: number((found, [a]) => `${found} < ${a!}`),
  at_most: number((found, [a]) => `${found} <= ${a!}`),
  between: number((found, [a, b]) => `${found} between ${a!} and ${b!}`),
  before: days((found, [day]) => `${found} < ${day!}`),
  since: days((found, [day]) => `${found} >= ${day!}`),
  between_days: days((found, [a, b]) => `${found} >= ${a!} and ${found} < ${b!} + interval '24 hours'`),
  within_last: span((found, length, now) => `${found} > ${now()} - ${length} and ${found} <= ${now()}`),
  longer_ago_than: span((found, length, now) => `${found} <= ${now()} - ${length}`),
  within_next: span((found, length, now) => `${found} > ${now()} and ${found} <= ${now()} + ${length}`),
  in_this: calendar(0),
  in_last: calendar(-1),
  in_next: calendar(1),
};

/** Whether the operator holds for a jsonb value that the SQL `operand` names. */
export function valueTest(operand: OperandSql, tested: Tested, parameters: SqlParameters, now: Date): string {
  const test = BUILD[tested.operator](operand, tested.value, parameters, now);
  return tested.not === true ? `not (${test})` : `(${test})`;
}

/** Whether any value that the path leads to in `data` passes; with `not`, whether none does. */
export function fieldTest(
  data: string,
  jsonPath: string,
  tested: Tested,
  parameters: SqlParameters,
  now: Date,
): string {
  const path = parameters.add(sqlJsonPath(jsonPath), 'jsonpath');
  const test = BUILD[tested.operator]('found.value', tested.value, parameters, now);
  return `${tested.not === true ? 'not ' : ''}exists
    (select from jsonb_path_query(${data}, ${path}) as found(value) where ${test})`;
}

/** PostgreSQL's own path to the same values. In lax mode it goes into lists by itself, and `[*]` takes single values too. */
export function sqlJsonPath(jsonPath: string): string {
  const names = parseJsonPath(jsonPath);
  if (names === undefined) throw new Error(`not a JSON path: ${jsonPath}`);
  return `lax $${names.map((name) => `.${JSON.stringify(name)}`).join('')}[*]`;
}
