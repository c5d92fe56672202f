/** Plans how one field is filled from a row: as a function that writes its JSON, or as the problems that prevent it. */
import type { SchemaReference } from '../../domain/records/references.js';
import { RecordTexts } from '../../records/record-texts.js';
import type { JsonValue } from '../../domain/values/json.js';
import type { FieldSpec } from '../../domain/sync/sync.js';
import type { Target } from '../definition/target.js';
import { writeValue } from '../encode/write-value.js';
import {
  NOTHING_PROVEN,
  type FieldPlan,
  type FieldWriter,
  type PlacedColumn,
  type Rule,
  type WriteField,
} from './field-writer.js';
import { planCoalesce, planColumn } from './plan-column.js';
import { planReference } from './plan-reference.js';
import { planTemplate } from './plan-template.js';

/**
 * Plans a field whose columns all exist. `target` is what the schema definition asks of its values; `declared` is the
 * reference that it declares for the field, if it does. `columnNamed` is called only here: a finished plan reads rows
 * by index.
 */
export function planField(
  spec: FieldSpec,
  target: Target,
  declared: SchemaReference | null,
  columnNamed: (name: string) => PlacedColumn,
): FieldPlan {
  switch (spec.kind) {
    case 'constant':
      return planConstant(spec.value);
    case 'template':
      return planTemplate(spec.template, spec.transforms, target, columnNamed);
    case 'column':
      return planColumn(columnNamed(spec.column), spec.transforms, target);
    case 'coalesce':
      return planCoalesce(spec.columns.map((name) => planColumn(columnNamed(name), spec.transforms, target)));
    case 'ref':
      return planReference(spec, declared, columnNamed(spec.column));
  }
}

/** The JSON is the same for every row, so its bytes are made once. */
function planConstant(value: JsonValue): FieldWriter {
  if (value === null) return { writer: () => () => null, proven: NOTHING_PROVEN, copied: [] };
  const written = new RecordTexts();
  const isSendable = writeValue(value, written);
  const bytes = Buffer.from(written.bytes.subarray(written.start, written.at));
  const writer = (rule: Rule): WriteField => {
    const isProven = isSendable && (rule === null || rule(value));
    return (_, json) => {
      json.copy(bytes, 0, bytes.length);
      return isProven;
    };
  };
  return { writer, proven: NOTHING_PROVEN, copied: [] };
}
