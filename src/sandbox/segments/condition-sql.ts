/** Compiles the conditions of segments to SQL over the sandbox's resources. Values are always bound as parameters. */
import { MEASURES, type Condition, type ConditionGroup, type RecordsCondition } from './condition.js';
import { fieldTest, OPERATORS, sqlJsonPath, valueTest } from './operators.js';
import { numberOrTime, type SqlParameters } from './operator-values.js';

/** What compiling needs besides the conditions. */
export interface Scope {
  readonly tenantId: string;
  /** Ids of schema definitions by name. A condition on a schema that is not listed matches nobody. */
  readonly schemaIds: ReadonlyMap<string, string>;
  readonly parameters: SqlParameters;
}

/** A boolean SQL expression: whether all groups hold for the person, the row `contact` of `sandbox.resources`. */
export function groupsSql(groups: readonly ConditionGroup[], scope: Scope): string {
  const tests = groups.map(({ logic, conditions }) => conditions.map((c) => conditionSql(c, scope)).join(` ${logic} `));
  return `(${['true', ...tests.map((test) => `(${test})`)].join(' and ')})`;
}

function conditionSql(condition: Condition, scope: Scope): string {
  const { parameters, schemaIds } = scope;
  const schemaId = schemaIds.get(condition.schema);
  if (schemaId === undefined) return 'false';
  const test =
    condition.type === 'property'
      ? fieldTest('contact.data', condition.jsonPath, condition, parameters)
      : `contact.external_id in (${peopleSql(condition, schemaId, scope)})`;
  return `(contact.schema_id = ${parameters.add(schemaId, 'uuid')} and ${test})`;
}

/** The aggregate as jsonb, so that the operators of fields apply to measures too. Null values are ignored. */
function measureSql({ measure, operator }: RecordsCondition): string {
  if (measure === 'count') return 'to_jsonb(count(record.id))';
  const { aggregate, words } = MEASURES[measure];
  const isDate = words.date !== undefined && OPERATORS[operator].kinds[0] !== 'number';
  const value = numberOrTime('record.value', isDate ? 'timestamptz' : 'numeric');
  return `to_jsonb(${measure === 'sum' ? `coalesce(sum(${value}), 0)` : `${aggregate}(${value})`})`;
}

/**
 * Selects the external ids of the people for whose records the measure passes, in one pass over the records of all
 * people. `r0` is the person's record, `r1` the record after the first step, and so on.
 */
function peopleSql(condition: RecordsCondition, schemaId: string, scope: Scope): string {
  const { parameters, schemaIds, tenantId } = scope;
  const schemas = [condition.schema, ...condition.path.map((step) => step.schema)];
  const ids = [schemaId, ...condition.path.map((step) => schemaIds.get(step.schema) ?? null)];
  const tenant = parameters.add(tenantId, 'text');
  const from = ids.map((_, i) => `sandbox.resources r${i}`);
  const where = ids.map((id, i) => `r${i}.tenant_id = ${tenant} and r${i}.schema_id = ${parameters.add(id, 'uuid')}`);
  const everybody = `${from[0]!} where ${where[0]!}`;
  condition.path.forEach(({ field, to }, i) => {
    const [child, parent] = to === 'children' ? [i + 1, i] : [i, i + 1];
    // A reference is stored as an external id or a list of them.
    const value = `r${child}.data -> ${parameters.add(field, 'text')}`;
    from.push(`lateral (select distinct item.id from jsonb_array_elements_text(
      case jsonb_typeof(${value}) when 'array' then ${value} when 'string' then jsonb_build_array(${value}) else '[]' end) item(id)) ref${i + 1}`);
    where.push(`ref${i + 1}.id = r${parent}.external_id`);
  });
  for (const test of condition.where)
    where.push(fieldTest(`r${schemas.lastIndexOf(test.schema)}.data`, test.jsonPath, test, parameters));
  const last = `r${condition.path.length}`;
  const value =
    condition.jsonPath === undefined
      ? 'null::jsonb'
      : `jsonb_path_query_first(${last}.data, ${parameters.add(sqlJsonPath(condition.jsonPath), 'jsonpath')})`;
  // Several references may lead to the same record; `distinct on` measures it once. Everybody has a row without a
  // record too, because the count and the sum of no records are 0.
  return `select record.person from (
      (select distinct on (r0.external_id, ${last}.external_id) r0.external_id, ${last}.external_id, ${value}
         from ${from.join(', ')} where ${where.join(' and ')})
      union all select r0.external_id, null, null from ${everybody}) record(person, id, value)
    group by record.person having ${valueTest(measureSql(condition), condition, parameters)}`;
}
