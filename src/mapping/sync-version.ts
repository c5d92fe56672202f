/** The version of a sync: a hash over everything that decides what is sent, and nothing else. */
import { hash } from 'node:crypto';
import type { JsonValue } from '../domain/json.js';

/** What of sync.yaml is in it. */
export interface SyncFile {
  readonly tenant: JsonValue;
  readonly upload?: { readonly longestExternalId?: number };
}

/**
 * `contents` are the parsed files by name, so that a comment or a blank makes no new version. The tenants are in it,
 * the connection is not: a rotated password or a moved server must not look like a changed mapping.
 */
export function syncVersion({ tenant, upload }: SyncFile, contents: ReadonlyMap<string, JsonValue>): string {
  const files = [...contents].sort(([a], [b]) => (a < b ? -1 : 1));
  const longestExternalId = upload?.longestExternalId;
  return hash('sha256', JSON.stringify({ tenant, longestExternalId, files }), 'hex').slice(0, 16);
}
