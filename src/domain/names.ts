/** Names that become part of addresses, keys and workflow ids, and the characters they may hold. */

/** Schema names (platform-api.md section 8); stricter at the first character, so that `..` can never be one. */
export const SCHEMA_NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$';
/** Syncs and mappings are folder and file names and parts of workflow ids. */
export const SYNC_NAME_PATTERN = '^[a-z0-9][a-z0-9-]{0,62}$';
/** A tenant id travels in a header; fetch would trim blanks, so they are refused here. */
export const TENANT_ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';

export const isTenantId = (text: string): boolean => new RegExp(TENANT_ID_PATTERN).test(text);
export const isSyncName = (text: string): boolean => new RegExp(SYNC_NAME_PATTERN).test(text);

/** The known name nearest to `name` (at most two edits away), for "did you mean". */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    previous = row;
  }
  return previous[b.length]!;
}
