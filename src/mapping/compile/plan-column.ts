/** Plans fields that take the value of a column, or of the first of several columns that has one. */
import type { JsonValue } from '../../domain/values/json.js';
import type { TransformCall } from '../../domain/sync/sync.js';
import type { CopyValue } from '../encode/copy-value.js';
import { Rejection } from '../encode/rejection.js';
import type { Step } from '../encode/value-kind.js';
import type { Target } from '../definition/target.js';
import {
  NOTHING_PROVEN,
  writeMapped,
  type FieldPlan,
  type FieldWriter,
  type PlacedColumn,
  type Rule,
  type WriteField,
} from './field-writer.js';
import { pipelineOf, pipelineProblem } from './pipeline.js';

/** `listed` turns the list that transforms or a JSON column produce into references, if the field is a list of them. */
export function planColumn(
  placed: PlacedColumn,
  transforms: readonly TransformCall[],
  target: Target,
  listed?: (value: JsonValue) => JsonValue | Rejection,
): FieldPlan {
  const { index, column } = placed;
  const pipeline = pipelineOf(column.type, transforms, target);
  if ('problem' in pipeline) return { problems: [pipelineProblem(pipeline, 'column', column.databaseType)] };
  const { run, copy, proven } = pipeline;
  if (listed === undefined)
    return { writer: columnWriter(index, run, copy), proven, copied: copy === null ? [] : [index] };
  const runList: Step = (text) => {
    const value = run(text);
    return value === null || value instanceof Rejection ? value : listed(value);
  };
  return { writer: columnWriter(index, runList, null), proven: 'reference', copied: [] };
}

/**
 * Copies the bytes of a column if the steps allow it; otherwise, and for values that the copier leaves alone, runs the
 * steps on its text.
 */
const columnWriter =
  (index: number, run: Step, copy: CopyValue | null) =>
  (rule: Rule): WriteField => {
    const fromText: WriteField = (row, json) => {
      const text = row.text(index);
      return text === null ? null : writeMapped(run(text), rule, json);
    };
    if (copy === null) return fromText;
    return (row, json) => {
      const end = row.ends[index]!;
      if (end < 0) return null;
      const began = json.written;
      if (copy(row.bytes, row.starts[index]!, end, json))
        return rule === null || rule(run(row.text(index)!) as JsonValue);
      json.undo(began);
      return fromText(row, json);
    };
  };

/**
 * Takes the first column that is not null after its transforms. A rejection ends the search: a bad value in the first
 * column must not hide behind a good one in the second. Problems are reported at the column's index in the list.
 */
export function planCoalesce(plans: readonly FieldPlan[]): FieldPlan {
  const problems = plans.flatMap((plan, index) =>
    'problems' in plan
      ? plan.problems.map(({ path, message }) => ({ path: path[0] === 'column' ? ['coalesce', index] : path, message }))
      : [],
  );
  if (problems.length > 0) return { problems };
  const columns = plans as readonly FieldWriter[];
  const writer = (rule: Rule): WriteField => {
    const writes = columns.map((column) => column.writer(rule));
    return (row, json) => {
      for (const write of writes) {
        const outcome = write(row, json);
        if (outcome !== null) return outcome;
      }
      return null;
    };
  };
  return { writer, proven: NOTHING_PROVEN, copied: columns.flatMap(({ copied }) => copied) };
}
