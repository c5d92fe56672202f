/** Plans how one field is filled from a row: as a function that writes its JSON, or as the problems that prevent it. */
import type { SchemaReference } from '../../domain/references.js';
import { RecordTexts } from '../../records/record-texts.js';
import type { ByteRow, SourceColumn } from '../../domain/source.js';
import { encodeJson, type JsonValue } from '../../domain/json.js';
import type { FieldSpec, TransformCall } from '../../domain/sync.js';
import { isEmptyTextAt, isTextAt, valueAt, type CopyValue } from '../encode/byte-json.js';
import type { Proven } from '../encode/conversion.js';
import { textForm, type Kind, type MappedValue, type Step } from '../encode/kinds.js';
import { pipelineOf } from './pipeline.js';
import type { Path } from '../language/place.js';
import { Rejection } from '../encode/rejection.js';
import type { Target } from '../definition/target.js';
import { parseTemplate } from '../language/template.js';
import { writeValue } from '../encode/write-value.js';

/**
 * Appends the JSON of a field's value to the record. Returns
 * - true if the value is written and is as the plan proves;
 * - false if it is written, but the record has to be checked as a whole (record-check.ts);
 * - null for null, for which nothing is written;
 * - a {@link Rejection} if the row has no value for the field; a part of it may have been written then.
 */
export type WriteField = (row: ByteRow, json: RecordTexts) => boolean | null | Rejection;

/** Tests what the plan of a field does not prove about its values; null if nothing is left to test. */
export type Rule = ((value: JsonValue) => boolean) | null;

/** A field that can be written. */
export interface FieldWriter {
  /** The function that writes the field. It also writes a value that breaks `rule`, and returns false for it. */
  readonly writer: (rule: Rule) => WriteField;
  /** What is known of every value of the field; `reference`: the form of a `$ref` field. */
  readonly proven: Proven | 'reference';
  /** Indexes of the columns that are read as bytes; all others are read as texts. */
  readonly copied: readonly number[];
}

/** Why a field cannot work, for `check`. */
export interface FieldProblem {
  /** Relative to the field in the mapping file. */
  readonly path: Path;
  readonly message: string;
}

/** A field that can be written, with what to do about null. */
export interface PlannedField extends FieldWriter {
  /** Whether null leaves the field out instead of sending null, which would delete it (platform-api.md 4.8). */
  readonly omitNull: boolean;
}

/** The result of planning a field. */
export type FieldPlan = FieldWriter | { readonly problems: readonly FieldProblem[] };

/** A column of the source, and the index of its values in the rows. */
export interface PlacedColumn {
  readonly index: number;
  readonly column: SourceColumn;
}

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
    case 'ref': {
      const list = declared?.list === true;
      const type = spec.form === 'id' ? null : (declared?.schemaName ?? spec.mapping);
      const ids = { types: [list ? 'array' : 'string'], format: null };
      const placed = columnNamed(spec.column);
      if (list) return planColumn(placed, spec.transforms, ids, referencesTo(type));
      const plan = planColumn(placed, spec.transforms, ids);
      return 'problems' in plan
        ? plan
        : { ...plan, writer: (rule) => reference(plan.writer(null), type, rule), proven: 'reference' };
    }
  }
}

const NOTHING: Proven = { type: null, format: null };

/** The JSON is the same for every row, so its bytes are made once. */
function planConstant(value: JsonValue): FieldWriter {
  if (value === null) return { writer: () => () => null, proven: NOTHING, copied: [] };
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
  return { writer, proven: NOTHING, copied: [] };
}

/** `listed` turns the list that transforms or a JSON column produce into references, if the field is a list of them. */
function planColumn(
  placed: PlacedColumn,
  transforms: readonly TransformCall[],
  target: Target,
  listed?: (value: JsonValue) => JsonValue | Rejection,
): FieldPlan {
  const { index, column } = placed;
  const pipeline = pipelineOf(column.type, transforms, target);
  if ('problem' in pipeline) return { problems: [problem(pipeline, 'column', column.databaseType)] };
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

/** Writes the result of a field's steps; see {@link WriteField}. */
function writeMapped(value: MappedValue, rule: Rule, json: RecordTexts): boolean | null | Rejection {
  if (value === null || value instanceof Rejection) return value;
  const isSendable = writeValue(value, json);
  return isSendable && (rule === null || rule(value));
}

/**
 * Takes the first column that is not null after its transforms. A rejection ends the search: a bad value in the first
 * column must not hide behind a good one in the second. Problems are reported at the column's index in the list.
 */
function planCoalesce(plans: readonly FieldPlan[]): FieldPlan {
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
  return { writer, proven: NOTHING, copied: columns.flatMap(({ copied }) => copied) };
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
function reference(writeId: WriteField, type: string | null, rule: Rule): WriteField {
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

/** Joins texts and columns, then applies the transforms to the whole. */
function planTemplate(
  template: string,
  transforms: readonly TransformCall[],
  target: Target,
  columnNamed: (name: string) => PlacedColumn,
): FieldPlan {
  const parsed = parseTemplate(template);
  if ('problem' in parsed) return { problems: [{ path: ['template'], message: parsed.problem }] };
  const problems: FieldProblem[] = [];
  const parts = parsed.parts.map((part): string | { index: number; step: Step | null } => {
    if (part.kind === 'text') return part.text;
    const { index, column } = columnNamed(part.column);
    const text = textForm(column.type);
    if (text === undefined)
      problems.push({
        path: ['template'],
        message: `${column.databaseType} has no text form; turn it into text in the query`,
      });
    return { index, step: text?.step ?? null };
  });
  const pipeline = pipelineOf('text' satisfies Kind, transforms, target);
  if ('problem' in pipeline) problems.push(problem(pipeline, 'template', 'the template'));
  if (problems.length > 0 || 'problem' in pipeline) return { problems };
  const { run, proven } = pipeline;
  const writer =
    (rule: Rule): WriteField =>
    (row, json) => {
      let text = '';
      for (const part of parts) {
        if (typeof part === 'string') {
          text += part;
          continue;
        }
        const value = row.text(part.index);
        // One NULL makes the whole NULL, as with || in SQL: an incomplete id is worse than none.
        if (value === null) return null;
        const piece = part.step === null ? value : part.step(value);
        if (piece instanceof Rejection) return piece;
        text += piece as string;
      }
      return writeMapped(run(text), rule, json);
    };
  return { writer, proven, copied: [] };
}

/** At the transform that does not fit, otherwise at the column or template, as the subject of the sentence. */
function problem(found: { problem: string; transform: number | null }, of: string, subject: string): FieldProblem {
  if (found.transform !== null) return { path: ['transforms', found.transform], message: found.problem };
  return { path: [of], message: `${subject} ${found.problem}` };
}
