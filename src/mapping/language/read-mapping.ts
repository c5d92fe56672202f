/** Turns a mapping file whose form is valid into a `MappingSpec`: short forms written out, defaults filled in. */
import { LONGEST_EXTERNAL_ID } from '../../domain/records/external-id.js';
import { secondsOr } from '../../domain/values/duration.js';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { FeedConfig } from '../../domain/source/change-feed.js';
import type { Relation } from '../../domain/source/source.js';
import type {
  CursorSpec,
  DeletesSpec,
  FieldSpec,
  MappingOptions,
  MappingSpec,
  TransformCall,
} from '../../domain/sync/sync.js';
import type { LanguageFile } from './language-file.js';
import type { Path } from './place.js';
import { didYouMean } from './violation-message.js';
import { readChangedBy, type ChangedByFile } from './read-changed-by.js';
import { readFeed, type FeedFile } from './read-feed.js';
import type { TransformFile } from './read-transform.js';
import { nearest } from '../../domain/values/names.js';
import { optionProblems } from '../transforms/custom/check-definition.js';
import { CUSTOM } from '../transforms/describe-transforms.js';
import { TRANSFORMS } from '../transforms/registry.js';

/** Defaults of `deletes.hold`: more vanished rows than both of these need approval. */
const HOLD = { records: 100, percent: 5 };

/**
 * The file's form, which `mapping.schema.json` has checked. Faulty parts were set aside, so required keys may be
 * absent.
 */
interface MappingFile {
  schema: string;
  source?: Relation;
  key?: string[];
  cursor?: string | { column: string; overlap?: string; zone?: string };
  changes?: ChangesFile;
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

type ChangesFile = 'none' | ((FeedFile | object) & { tables?: ChangedByFile });

type CallFile = string | Record<string, JsonObject>;

/** The custom transforms of the sync, by name. */
export type TransformFiles = ReadonlyMap<string, TransformFile>;
type FieldFile =
  | string
  | { column: string; transforms?: CallFile[]; omitNull?: boolean }
  | { coalesce: string[]; transforms?: CallFile[]; omitNull?: boolean }
  | { constant: JsonValue }
  | { template: string; transforms?: CallFile[]; omitNull?: boolean }
  | {
      ref: string | { mapping: string; form?: 'id' | 'object' };
      column: string;
      transforms?: CallFile[];
      omitNull?: boolean;
    };

/** All of a mapping but its schema definition, which is a file of its own. */
export type MappingDraft = Omit<MappingSpec, 'schema'> & { readonly schemaName: string };

/**
 * Reads a mapping whose form is valid, in a sync with this feed, and reports to `file` what a JSON Schema cannot express: options of transforms
 * that contradict each other, and `deletes` without records in the ledger. For a file with faulty parts, the result can
 * be checked but never run.
 */
export function readMapping(
  name: string,
  file: LanguageFile,
  value: JsonObject,
  transforms: TransformFiles,
  feed: FeedConfig | null,
): MappingDraft {
  const {
    schema,
    source = { table: '' },
    key = [],
    cursor,
    changes,
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
    feed: readOwnFeed(changes, feed, file),
    changedBy: readChangedBy(changes === undefined || changes === 'none' ? undefined : changes.tables, source, key),
    deletes: readDeletes(deletes),
    fields: new Map(Object.entries(fields).map(([field, spec]) => [field, readField(spec, transforms)])),
    options: readOptions(options),
  };
  if (draft.deletes !== null && draft.options.ledger === 'off')
    file.report(
      'bad_option',
      ['options', 'ledger'],
      'deletes need the ledger, which knows what is on the platform; remove "ledger: off" or "deletes"',
    );
  for (const [field, spec] of draft.fields) checkField(file, ['fields', field], spec, transforms);
  return draft;
}

/** The mapping's own feed, or that of sync.yaml. */
function readOwnFeed(
  changes: ChangesFile | undefined,
  ofSync: FeedConfig | null,
  file: LanguageFile,
): FeedConfig | null {
  if (changes === 'none') return null;
  if (changes !== undefined && ('slot' in changes || 'table' in changes)) return readFeed(changes, file);
  if (changes?.tables !== undefined && ofSync === null)
    file.report(
      'bad_option',
      ['changes'],
      'names tables, and no feed that reports their changes; name a slot or a change table here, or in changes of sync.yaml',
    );
  return ofSync;
}

function readCursor(cursor: MappingFile['cursor']): CursorSpec | null {
  if (cursor === undefined) return null;
  const { column, overlap, zone } = typeof cursor === 'string' ? { column: cursor } : cursor;
  return { column, overlap: secondsOr(overlap, 'overlap'), ...(zone === undefined ? {} : { zone }) };
}

function readDeletes(deletes: MappingFile['deletes']): DeletesSpec | null {
  if (deletes === undefined) return null;
  const { column = null, values = null, action, hold } = deletes;
  return {
    column,
    values,
    action: action === 'ignore' ? action : { set: action.set ?? {}, clear: action.clear ?? [] },
    hold: { ...HOLD, ...hold },
  };
}

/** `longestExternalId` is a setting of the sync, and is filled in by `checkSyncFiles`. */
function readOptions(options: NonNullable<MappingFile['options']>): MappingOptions {
  return {
    onConflict: options.onConflict ?? 'upsert',
    ignoreUnknownFields: options.ignoreUnknownFields ?? false,
    dependencyWaitTimeout: secondsOr(options.dependencyWaitTimeout, 'dependencyWait'),
    batchSize: options.batchSize ?? null,
    longestExternalId: LONGEST_EXTERNAL_ID,
    ledger: options.ledger ?? 'full',
  };
}

/** The short forms: a column's name alone, and a mapping's name alone for `ref`. */
function readField(field: FieldFile, custom: TransformFiles): FieldSpec {
  if (typeof field === 'string') return { kind: 'column', column: field, transforms: [], omitNull: false };
  if ('constant' in field) return { kind: 'constant', value: field.constant, omitNull: false };
  const transforms = (field.transforms ?? []).map((call) => readCall(call, custom));
  const omitNull = field.omitNull ?? false;
  if ('template' in field) return { kind: 'template', template: field.template, transforms, omitNull };
  if ('coalesce' in field) return { kind: 'coalesce', columns: field.coalesce, transforms, omitNull };
  if (!('ref' in field)) return { kind: 'column', column: field.column, transforms, omitNull };
  const { mapping, form = 'id' } = typeof field.ref === 'string' ? { mapping: field.ref } : field.ref;
  return { kind: 'ref', mapping, form, column: field.column, transforms, omitNull };
}

function readCall(call: CallFile, custom: TransformFiles): TransformCall {
  if (typeof call === 'string') return { name: call, options: {} };
  const [[name, options]] = Object.entries(call) as [[string, JsonObject | string]];
  if (name !== CUSTOM) return { name, options: options as JsonObject };
  const { name: own, options: given = {} } =
    typeof options === 'string' ? { name: options } : (options as unknown as CustomFile);
  const code = custom.get(own)?.loaded?.code;
  return { name: own, options: given, code: code ?? { name: own, file: '', hash: '', text: '' } };
}

interface CustomFile {
  readonly name: string;
  readonly options?: JsonObject;
}

/** Reports what a JSON Schema cannot express about the transforms of a field: options, and whether custom ones exist. */
function checkField(file: LanguageFile, path: Path, spec: FieldSpec, custom: TransformFiles): void {
  if (spec.kind === 'constant') return;
  for (const [index, call] of spec.transforms.entries()) {
    const at = [...path, 'transforms', index, call.code === undefined ? call.name : CUSTOM];
    if (call.code !== undefined) checkCustom(file, at, call, custom);
    else {
      const problem = TRANSFORMS.get(call.name)?.check?.(call.options);
      if (problem !== undefined) file.report('bad_option', at, problem);
    }
  }
}

function checkCustom(file: LanguageFile, path: Path, { name, options }: TransformCall, custom: TransformFiles): void {
  const found = custom.get(name);
  if (found?.loaded)
    for (const problem of optionProblems(found.loaded.transform, options))
      file.report('bad_option', path, `${name}: ${problem}`);
  // What is wrong with its file is reported there.
  if (found !== undefined) return;
  const { text, secret } = file.show(path, name);
  const near = secret ? undefined : nearest(name, [...custom.keys()]);
  const known = [...custom.keys()].join(', ') || 'none';
  file.report(
    'transform_missing',
    path,
    `there is no custom transform ${text} here.${didYouMean(near)} Custom transforms: ${known}; a new one is a file <name>.transform.js`,
  );
}
