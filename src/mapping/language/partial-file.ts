/** Which parts of a file with mistakes can still be checked: all but those that contain them. */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { Path } from './place.js';
import { asObject } from '../definition/target.js';

/** A file without its faulty parts. */
export interface PartialFile {
  /** For checking only, never for running. */
  readonly value: JsonObject;
  /** Fields that are written but faulty, so they are not reported as missing on top. */
  readonly fields: ReadonlySet<string>;
}

/** Removes a faulty field, otherwise the faulty top-level key. undefined if the file as a whole is at fault. */
export function withoutFaults(value: JsonValue, faults: readonly Path[]): PartialFile | undefined {
  const whole = asObject(value);
  if (whole === undefined) return undefined;
  const fields = new Set(faults.flatMap((path) => (path[0] === 'fields' && path.length > 1 ? [String(path[1])] : [])));
  const keys = new Set(
    faults.flatMap((path) => (path.length > 0 && !(path[0] === 'fields' && path.length > 1) ? [path[0]] : [])),
  );
  const kept = Object.fromEntries(Object.entries(whole).filter(([key]) => !keys.has(key)));
  const keptFields = asObject(kept['fields']);
  if (keptFields !== undefined)
    kept['fields'] = Object.fromEntries(Object.entries(keptFields).filter(([field]) => !fields.has(field)));
  return { value: kept, fields };
}
