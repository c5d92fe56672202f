/** Names and ids that become part of URLs, keys and workflow ids, and the characters they may have. */
import { distance as distanceBetween } from 'fastest-levenshtein';

/** Schema names (platform-api.md section 8); stricter at the first character, so that `..` can never be one. */
export const SCHEMA_NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$';
/** Names of syncs and mappings are names of folders and files, and parts of workflow ids. */
export const SYNC_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,62}$';
/** A tenant id is sent in a header, where blanks would be trimmed, so they are not allowed. */
export const TENANT_ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isTenantId = (text: string): boolean => new RegExp(TENANT_ID_PATTERN).test(text);
export const isSyncName = (text: string): boolean => new RegExp(SYNC_NAME_PATTERN).test(text);
/** Whether the text is a UUID of any version, in either case, with its hyphens. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** The variable that holds the address of a sync's source unless another one is named: `SHOP_URL` for `shop`. */
export const sourceVariableOf = (sync: string): string => `${sync.toUpperCase().replaceAll('-', '_')}_URL`;

/** The known name nearest to `name` (at most two edits away), for "did you mean"; undefined if none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = distanceBetween(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}
