/** Compiles the conditions of segments to SQL over the sandbox's resources. Values travel as parameters, never as text. */
import type { Condition, ConditionGroup, PropertyCondition, RecordsCondition } from './condition.js';
import { fieldTest, sqlJsonPath, valueTest } from './test-sql.js';
import type { SqlParameters } from './sql-parameters.js';

export interface Scope {
  readonly tenantId: string;
  /** Ids of schema definitions by name; one that is not there matches nobody. */
  readonly schemaIds: ReadonlyMap<string, string>;
  /** What relative dates are relative to. */
  readonly now: Date;
  readonly parameters: SqlParameters;
}

/** Whether all groups hold for the contact, a row of sandbox.resources under the alias `contact`. */
export function groupsSql(groups: readonly ConditionGroup[], scope: Scope): string {
  const tests = groups.map(
    ({ logic, conditions }) =>
      `(${conditions.map((c) => conditionSql(c, scope)).join(logic === 'or' ? ' or ' : ' and ')})`,
  );
  return tests.length === 0 ? 'true' : `(${tests.join(' and ')})`;
}

function conditionSql(condition: Condition, scope: Scope): string {
  const schemaId = scope.schemaIds.get(condition.schema);
  if (schemaId === undefined) return 'false';
  const test = condition.type === 'property' ? propertySql(condition, scope) : recordsSql(condition, schemaId, scope);
  return `(contact.schema_id = ${scope.parameters.add(schemaId, 'uuid')} and ${test})`;
}

const propertySql = (condition: PropertyCondition, { parameters, now }: Scope): string =>
  fieldTest('contact.data', condition.jsonPath, condition, parameters, now);

/**
 * The measure is taken once for all people, who are then looked up in the result: one pass over the records, however
 * many people there are. Those without any record are not in it, so where none would do, the opposite is looked for.
 */
function recordsSql(condition: RecordsCondition, schemaId: string, scope: Scope): string {
  const plain = { operator: condition.operator, value: condition.value };
  const forNone = (condition.measure === 'count' || condition.measure === 'sum') && holdsForZero(plain);
  const measure = measureSql(condition);
  const kept = valueTest(measure, forNone ? { ...plain, not: true } : plain, scope.parameters, scope.now);
  const people = peopleSql(condition, schemaId, kept, scope);
  return `contact.external_id ${(condition.not === true) !== forNone ? 'not ' : ''}in (${people})`;
}

function holdsForZero({ operator, value }: Pick<RecordsCondition, 'operator' | 'value'>): boolean {
  const [a = NaN, b = NaN] = value.map(Number);
  switch (operator) {
    case 'equals':
      return a === 0;
    case 'greater_than':
      return 0 > a;
    case 'at_least':
      return 0 >= a;
    case 'less_than':
      return 0 < a;
    case 'at_most':
      return 0 <= a;
    case 'between':
      return a <= 0 && 0 <= b;
    default:
      return false;
  }
}

/** As jsonb, so that the operators of fields serve for measures too. */
function measureSql({ measure, operator }: RecordsCondition): string {
  const amount = `case when jsonb_typeof(record.value) = 'number' then (record.value #>> '{}')::numeric end`;
  switch (measure) {
    case 'count':
      return 'to_jsonb(count(*))';
    case 'sum':
      return `to_jsonb(coalesce(sum(${amount}), 0))`;
    case 'average':
      return `to_jsonb(avg(${amount}))`;
    case 'minimum':
    case 'maximum': {
      const aggregate = measure === 'minimum' ? 'min' : 'max';
      if (isNumeric(operator)) return `to_jsonb(${aggregate}(${amount}))`;
      const time = `(record.value #>> '{}')`;
      return `to_jsonb(${aggregate}(case when pg_input_is_valid(${time}, 'timestamptz') then ${time}::timestamptz end))`;
    }
  }
}

const NUMERIC: readonly string[] = ['equals', 'greater_than', 'at_least', 'less_than', 'at_most', 'between'];
const isNumeric = (operator: string): boolean => NUMERIC.includes(operator);

/** External ids of the people for whose records `kept` holds. r0 is the person, r1 the first step's record, and so on. */
function peopleSql(condition: RecordsCondition, schemaId: string, kept: string, scope: Scope): string {
  const { parameters, schemaIds, tenantId, now } = scope;
  const schemas = [condition.schema, ...condition.path.map((step) => step.schema)];
  const ids = [schemaId, ...condition.path.map((step) => schemaIds.get(step.schema) ?? null)];
  const tenant = parameters.add(tenantId, 'text');
  const from = ids.map((_, i) => `sandbox.resources r${i}`);
  const where = ids.map((id, i) => `r${i}.tenant_id = ${tenant} and r${i}.schema_id = ${parameters.add(id, 'uuid')}`);
  condition.path.forEach(({ field, to }, i) => {
    const [child, parent] = to === 'children' ? [i + 1, i] : [i, i + 1];
    // A reference is stored as an external id or a list of them.
    const value = `r${child}.data -> ${parameters.add(field, 'text')}`;
    from.push(`lateral (select distinct item.id from jsonb_array_elements_text(
      case jsonb_typeof(${value}) when 'array' then ${value} when 'string' then jsonb_build_array(${value}) else '[]' end) item(id)) ref${i + 1}`);
    where.push(`ref${i + 1}.id = r${parent}.external_id`);
  });
  for (const test of condition.where)
    where.push(fieldTest(`r${schemas.lastIndexOf(test.schema)}.data`, test.jsonPath, test, parameters, now));
  const last = `r${condition.path.length}`;
  const value =
    condition.jsonPath === undefined
      ? 'null::jsonb'
      : `jsonb_path_query_first(${last}.data, ${parameters.add(sqlJsonPath(condition.jsonPath), 'jsonpath')})`;
  // Several ways may lead to one record; it is measured once.
  return `select record.person from (
      select distinct on (r0.external_id, ${last}.external_id) r0.external_id as person, ${value} as value
        from ${from.join(', ')} where ${where.join(' and ')}) record
    group by record.person having ${kept}`;
}
