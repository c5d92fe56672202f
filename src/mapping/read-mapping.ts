/** A mapping file, once its form is right, to the words of the domain: shorthands written out, defaults filled in. */
import { LONGEST_EXTERNAL_ID } from '../domain/external-id.js';
import { durationSeconds } from '../domain/duration.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Relation } from '../domain/source.js';
import type { CursorSpec, DeletesSpec, FieldSpec, MappingOptions, MappingSpec, TransformCall } from '../domain/sync.js';
import type { LanguageFile } from './language-file.js';
import type { Path } from './place.js';
import { TRANSFORMS } from './transforms/registry.js';

/** What overlaps by default: commits that were late by less than this are read again. */
const OVERLAP = '10m';

/** Vanished rows beyond both are no everyday's work. */
const HOLD = { records: 100, percent: 5 };

/** The file's form, as `mapping.schema.json` has checked it; faulty parts are set aside and absent. */
interface MappingFile {
  schema: string;
  source?: Relation;
  key?: string[];
  cursor?: string | { column: string; overlap?: string; zone?: string };
  deletes?: {
    column?: string;
    values?: string[];
    action: 'ignore' | { set?: Record<string, JsonValue>; clear?: string[] };
    hold?: { records?: number; percent?: number };
  };
  fields?: Record<string, FieldFile>;
  options?: {
    onConflict?: 'upsert' | 'reject';
    ignoreUnknownFields?: boolean;
    dependencyWaitTimeout?: string;
    ledger?: MappingOptions['ledger'];
    batchSize?: number;
  };
}

type TransformFile = string | Record<string, JsonObject>;
type FieldFile =
  | string
  | { column: string; transforms?: TransformFile[]; omitNull?: boolean }
  | { coalesce: string[]; transforms?: TransformFile[]; omitNull?: boolean }
  | { constant: JsonValue }
  | { template: string; transforms?: TransformFile[]; omitNull?: boolean }
  | {
      ref: string | { mapping: string; form?: 'id' | 'object' };
      column: string;
      transforms?: TransformFile[];
      omitNull?: boolean;
    };

/** All but the schema definition, which is a file of its own. */
export type MappingDraft = Omit<MappingSpec, 'schema'> & { readonly schemaName: string };

export function readMapping(name: string, file: LanguageFile, value: JsonObject): MappingDraft {
  const {
    schema,
    source = { table: '' },
    key = [],
    cursor,
    deletes,
    fields = {},
    options = {},
  } = value as unknown as MappingFile;
  const draft: MappingDraft = {
    name,
    file: file.file,
    schemaName: schema,
    relation: source,
    key,
    cursor: readCursor(cursor),
    deletes: readDeletes(deletes),
    fields: new Map(Object.entries(fields).map(([field, spec]) => [field, readField(spec)])),
    options: readOptions(options),
  };
  if (draft.deletes !== null && draft.options.ledger === 'off')
    file.report(
      'bad_option',
      ['options', 'ledger'],
      'deletes need the ledger, which knows what is on the platform; take "ledger: off" or "deletes" away',
    );
  for (const [field, spec] of draft.fields) checkField(file, ['fields', field], spec);
  return draft;
}

function readCursor(cursor: MappingFile['cursor']): CursorSpec | null {
  if (cursor === undefined) return null;
  const { column, overlap = OVERLAP, zone } = typeof cursor === 'string' ? { column: cursor } : cursor;
  return { column, overlap: durationSeconds(overlap), ...(zone === undefined ? {} : { zone }) };
}

function readDeletes(deletes: MappingFile['deletes']): DeletesSpec | null {
  if (deletes === undefined) return null;
  const { column = null, values = null, action = 'ignore', hold } = deletes;
  return {
    column,
    values,
    action: action === 'ignore' ? action : { set: action.set ?? {}, clear: action.clear ?? [] },
    hold: { ...HOLD, ...hold },
  };
}

function readOptions(options: NonNullable<MappingFile['options']>): MappingOptions {
  return {
    onConflict: options.onConflict ?? 'upsert',
    ignoreUnknownFields: options.ignoreUnknownFields ?? false,
    dependencyWaitTimeout: durationSeconds(options.dependencyWaitTimeout ?? '0s'),
    batchSize: options.batchSize ?? null,
    longestExternalId: LONGEST_EXTERNAL_ID,
    ledger: options.ledger ?? 'full',
  };
}

function readField(field: FieldFile): FieldSpec {
  if (typeof field === 'string') return { kind: 'column', column: field, transforms: [], omitNull: false };
  if ('constant' in field) return { kind: 'constant', value: field.constant, omitNull: false };
  const transforms = (field.transforms ?? []).map(readTransform);
  const omitNull = field.omitNull ?? false;
  if ('template' in field) return { kind: 'template', template: field.template, transforms, omitNull };
  if ('coalesce' in field) return { kind: 'coalesce', columns: field.coalesce, transforms, omitNull };
  if (!('ref' in field)) return { kind: 'column', column: field.column, transforms, omitNull };
  const { mapping, form = 'id' } = typeof field.ref === 'string' ? { mapping: field.ref } : field.ref;
  return { kind: 'ref', mapping, form, column: field.column, transforms, omitNull };
}

function readTransform(transform: TransformFile): TransformCall {
  if (typeof transform === 'string') return { name: transform, options: {} };
  const [[name, options]] = Object.entries(transform) as [[string, JsonObject]];
  return { name, options };
}

/** What a JSON Schema cannot say of a transform's options. */
function checkField(file: LanguageFile, path: Path, spec: FieldSpec): void {
  if (spec.kind === 'constant') return;
  for (const [index, call] of spec.transforms.entries()) {
    const problem = TRANSFORMS.get(call.name)?.check?.(call.options);
    if (problem !== undefined) file.report('bad_option', [...path, 'transforms', index, call.name], problem);
  }
}
