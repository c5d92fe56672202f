/** The range of a batch, in its columns `tenant_id`, `low` and `high`: whether it intersects that of some keys, in SQL. */
import { idHex, outermost, type RecordKeys } from '../record-key.js';

/** Whether the range intersects that of {@link outermostKeys}. */
export const INTERSECTS_KEYS = `(tenant_id, high) >= (CAST(:firstTenant AS int), decode(:first, 'hex'))
  AND (tenant_id, low) <= (CAST(:lastTenant AS int), decode(:last, 'hex'))`;

/** The bindings of {@link INTERSECTS_KEYS}; there must be at least one key. */
export function outermostKeys(keys: RecordKeys) {
  const [lowest, highest] = outermost(keys);
  return {
    firstTenant: keys.tenantIds[lowest]!,
    first: idHex(keys.externalIds[lowest]!),
    lastTenant: keys.tenantIds[highest]!,
    last: idHex(keys.externalIds[highest]!),
  };
}
