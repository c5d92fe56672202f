/** What changed in a schema definition since it was pushed, place by place. */
import type { JsonObject, JsonValue } from '../values/json.js';

/** One place that differs between a definition as it was pushed and as it is now. */
export interface DefinitionChange {
  /** `schema.properties.email.format` */
  readonly path: string;
  /** null if it did not exist before, or does not exist any more. */
  readonly before: JsonValue | null;
  readonly now: JsonValue | null;
  /** The platform never changes it, whoever asks (platform-api.md section 2). */
  readonly immutable: boolean;
}

/** The fields that platform-api.md section 2 calls immutable. */
const IMMUTABLE: readonly string[] = ['name', 'pluralName', 'category', 'externalIdField'];

/** In the order of the definitions; empty if they are the same. */
export const definitionChanges = (before: JsonObject, now: JsonObject): DefinitionChange[] =>
  changes('', before, now).map((change) => ({ ...change, immutable: IMMUTABLE.includes(change.path) }));

type Change = Omit<DefinitionChange, 'immutable'>;

function changes(path: string, before: JsonValue | undefined, now: JsonValue | undefined): Change[] {
  if (isMap(before) && isMap(now))
    return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) =>
      changes(path === '' ? key : `${path}.${key}`, before[key], now[key]),
    );
  return JSON.stringify(before) === JSON.stringify(now) ? [] : [{ path, before: before ?? null, now: now ?? null }];
}

const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
