/**
 * Computes the version of a sync: a hash over everything that decides what is sent, and over nothing else. A run keeps
 * to the files that it began with (kept-files.ts).
 */
import { hash } from 'node:crypto';
import type { JsonValue } from '../domain/values/json.js';

/** The parts of sync.yaml that are hashed. */
export interface VersionedSettings {
  readonly tenant: JsonValue;
  readonly upload?: { readonly longestExternalId?: number };
}

/**
 * 16 hex digits. `contents` are the parsed mapping and definition files by name: parsed, so that a comment or a blank
 * does not change the version. Of sync.yaml, the tenants and the longest external id count; the connection does not, so
 * a password can be rotated during a run.
 */
export function syncVersion({ tenant, upload }: VersionedSettings, contents: ReadonlyMap<string, JsonValue>): string {
  const files = [...contents].sort(([a], [b]) => (a < b ? -1 : 1));
  const longestExternalId = upload?.longestExternalId;
  return hash('sha256', JSON.stringify({ tenant, longestExternalId, files }), 'hex').slice(0, 16);
}
