/** Plans `$ref` fields: the external id of a parent, or a list of them, in the form of references. */
import type { SchemaReference } from '../../domain/records/references.js';
import { encodeJson, type JsonValue } from '../../domain/values/json.js';
import type { FieldSpec } from '../../domain/sync/sync.js';
import { Rejection } from '../encode/rejection.js';
import { isEmptyTextAt, isTextAt, valueAt } from '../encode/written-value.js';
import type { FieldPlan, PlacedColumn, Rule, WriteField } from './field-writer.js';
import { planColumn } from './plan-column.js';

/** A field that names parents, as the mapping declares it. */
type ReferenceSpec = Extract<FieldSpec, { kind: 'ref' }>;

/** `declared`: the reference that the schema definition declares for the field, if it does. */
export function planReference(
  { form, mapping, transforms }: ReferenceSpec,
  declared: SchemaReference | null,
  column: PlacedColumn,
): FieldPlan {
  const type = form === 'id' ? null : (declared?.schemaName ?? mapping);
  if (declared?.list === true)
    return planColumn(column, transforms, { types: ['array'], format: null }, referencesTo(type));
  const plan = planColumn(column, transforms, { types: ['string'], format: null });
  if ('problems' in plan) return plan;
  return { ...plan, writer: (rule) => referenceWriter(plan.writer(null), type, rule), proven: 'reference' };
}

/**
 * Converts a list of external ids to references. `type` is the parents' schema, for the form `{ type, id }`; null for
 * the ids alone (platform-api.md 4.10).
 */
const referencesTo =
  (type: string | null) =>
  (ids: JsonValue): JsonValue | Rejection => {
    const texts = Array.isArray(ids) ? ids.map(referenceId) : [null];
    if (texts.includes(null)) return new Rejection('list of references', 'not a list of external ids', ids);
    return type === null ? texts : texts.map((id) => ({ type, id }));
  };

/** The external id that an element of a JSON list names; null if it is none. Whole numbers are ids, too. */
const referenceId = (id: JsonValue): string | null =>
  typeof id === 'string' && id !== '' ? id : typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : null;

/** Writes one reference; `type` as for {@link referencesTo}. */
function referenceWriter(writeId: WriteField, type: string | null, rule: Rule): WriteField {
  const before = Buffer.from(type === null ? '' : `{"type":${encodeJson(type)},"id":`);
  const after = Buffer.from(type === null ? '' : '}');
  return (row, json) => {
    const began = json.written;
    json.copy(before, 0, before.length);
    const id = json.written;
    const outcome = writeId(row, json);
    if (typeof outcome !== 'boolean') {
      json.undo(began);
      return outcome;
    }
    if (!isTextAt(id, json)) {
      // A JSON column may contain something other than text. Written without the form of a reference, it fails validation.
      json.undo(began);
      writeId(row, json);
      return false;
    }
    const isId = !isEmptyTextAt(id, json);
    json.copy(after, 0, after.length);
    return outcome && isId && (rule === null || rule(valueAt(began, json)));
  };
}
