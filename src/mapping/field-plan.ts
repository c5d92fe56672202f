/** How one field is filled from a row: a closure, or everything that keeps it from working. */
import type { SchemaReference } from '../domain/references.js';
import type { RecordTexts } from '../domain/record-texts.js';
import type { ByteRow, SourceColumn, SourceRow } from '../domain/source.js';
import type { JsonValue } from '../domain/json.js';
import type { FieldSpec, TransformCall } from '../domain/sync.js';
import { isEmptyTextAt, isTextAt } from './byte-json.js';
import type { Proven } from './conversion.js';
import { valueInJson } from './json-text.js';
import { textForm } from './kinds.js';
import type { Kind, MappedValue, Step } from './kinds.js';
import { pipelineOf } from './pipeline.js';
import type { Path } from './place.js';
import { Rejection } from './rejection.js';
import type { Target } from './target.js';
import { parseTemplate } from './template.js';

export type ReadField = (row: SourceRow) => MappedValue;

export interface FieldProblem {
  /** Relative to the field. */
  readonly path: Path;
  readonly message: string;
}

/** How a field is filled: as a value for all that may be asked of it, and as JSON text on the shortest way. */
export interface FieldReader {
  readonly read: ReadField;
  /** The JSON text of what `read` gives: null for null, undefined where only `read` can tell. */
  readonly inJson: (row: SourceRow) => string | null | undefined;
  /** Writes the same text from bytes; null where there is no such way. */
  readonly inBytes: CopyField | null;
  readonly proven: Proven | 'reference';
}

/** Writes the JSON text of a field: null for null, false where only `inJson` can tell. */
export type CopyField = (row: ByteRow, json: RecordTexts) => boolean | null;

/** A field that can run. */
export interface PlannedField extends FieldReader {
  readonly omitNull: boolean;
}

export type FieldPlan = FieldReader | { readonly problems: readonly FieldProblem[] };

/** A column of the source and its position in the rows. */
export interface PlacedColumn {
  readonly index: number;
  readonly column: SourceColumn;
}

/**
 * Plans a field whose columns all exist. `declared`: what the schema definition says where the field is a reference.
 * Nothing is looked up by name once a plan is made: rows are read by position.
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
      const plan = planColumn(columnNamed(spec.column), spec.transforms, ids);
      return 'problems' in plan ? plan : list ? referenceList(plan, type) : reference(plan, type);
    }
  }
}

function planConstant(value: JsonValue): FieldReader {
  const text = value === null ? null : valueInJson(value);
  const inBytes: CopyField = (_, json) => {
    if (text === null || text === undefined) return text === null ? null : false;
    json.write(text);
    return true;
  };
  return { read: () => value, inJson: () => text, inBytes, proven: { type: null, format: null } };
}

function planColumn(placed: PlacedColumn, transforms: readonly TransformCall[], target: Target): FieldPlan {
  const { index, column } = placed;
  const pipeline = pipelineOf(column.type, transforms, target);
  if ('problem' in pipeline) return { problems: [problem(pipeline, 'column', column.databaseType)] };
  const { run, inJson, inBytes, proven } = pipeline;
  return {
    read: (row) => {
      const value = row[index];
      return value === null || value === undefined ? null : run(value);
    },
    inJson: (row) => {
      const value = row[index];
      return value === null || value === undefined ? null : inJson(value);
    },
    inBytes:
      inBytes &&
      ((row, json) => {
        const end = row.ends[index]!;
        return end < 0 ? null : inBytes(row.bytes, row.starts[index]!, end, json);
      }),
    proven,
  };
}

/** The problems of a column are told at its place in the list. */
function planCoalesce(plans: readonly FieldPlan[]): FieldPlan {
  const problems = plans.flatMap((plan, index) =>
    'problems' in plan
      ? plan.problems.map(({ path, message }) => ({ path: path[0] === 'column' ? ['coalesce', index] : path, message }))
      : [],
  );
  if (problems.length > 0) return { problems };
  const readers = plans as readonly FieldReader[];
  const read: ReadField = (row) => {
    for (const reader of readers) {
      const value = reader.read(row);
      if (value !== null) return value;
    }
    return null;
  };
  return { read, inJson: inJsonOf(read), inBytes: null, proven: { type: null, format: null } };
}

/** The parents' external ids, from a list that a transform or a JSON column gives. */
function referenceList({ read }: FieldReader, type: string | null): FieldReader {
  const readAll: ReadField = (row) => {
    const ids = read(row);
    if (ids === null || ids instanceof Rejection) return ids;
    const texts = Array.isArray(ids) ? ids.map(referenceId) : [null];
    if (texts.includes(null)) return new Rejection('list of references', 'not a list of external ids', ids);
    return type === null ? texts : texts.map((id) => ({ type, id }));
  };
  return { read: readAll, inJson: inJsonOf(readAll), inBytes: null, proven: 'reference' };
}

const referenceId = (id: JsonValue): string | null =>
  typeof id === 'string' && id !== '' ? id : typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : null;

const inJsonOf =
  (read: ReadField): FieldReader['inJson'] =>
  (row) => {
    const value = read(row);
    return value === null ? null : valueInJson(value);
  };

/** `type`: the parent's schema, for the form `{ type, id }`; null for the id alone. */
function reference({ read, inJson, inBytes }: FieldReader, type: string | null): FieldReader {
  const before = type === null ? '' : `{"type":${JSON.stringify(type)},"id":`;
  const after = type === null ? '' : '}';
  return {
    read: (row) => {
      const id = read(row);
      return typeof id === 'string' && type !== null ? { type, id } : id;
    },
    inJson: (row) => {
      const id = inJson(row);
      if (id === undefined || id === null) return id;
      // Only text that is not empty is sure to be an id (a JSON column may hold anything).
      return id.startsWith('"') && id !== '""' ? before + id + after : undefined;
    },
    inBytes:
      inBytes &&
      ((row, json) => {
        const began = json.written;
        json.write(before);
        const id = json.written;
        const isWritten = inBytes(row, json);
        if (isWritten === null) json.undo(began);
        if (isWritten !== true) return isWritten;
        if (!isTextAt(id, json) || isEmptyTextAt(id, json)) return false;
        json.write(after);
        return true;
      }),
    proven: 'reference',
  };
}

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
  const { run, inJson, proven } = pipeline;
  const joined = (row: SourceRow): string | Rejection | null => {
    let text = '';
    for (const part of parts) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const value = row[part.index];
      // One NULL makes the whole NULL, as || does in SQL: half an id is worse than none.
      if (value === null || value === undefined) return null;
      const piece = part.step === null ? value : part.step(value);
      if (piece instanceof Rejection) return piece;
      text += piece as string;
    }
    return text;
  };
  return {
    read: (row) => {
      const text = joined(row);
      return typeof text === 'string' ? run(text) : text;
    },
    inJson: (row) => {
      const text = joined(row);
      return typeof text === 'string' ? inJson(text) : text === null ? null : undefined;
    },
    inBytes: null,
    proven,
  };
}

function problem(found: { problem: string; transform: number | null }, of: string, subject: string): FieldProblem {
  if (found.transform !== null) return { path: ['transforms', found.transform], message: found.problem };
  return { path: [of], message: `${subject} ${found.problem}` };
}
