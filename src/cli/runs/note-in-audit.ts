/** Writes to the audit what a command has done outside the ledger, such as to a schedule. */
import type { Parts } from '../../compose.js';
import type { AuditAction } from '../../domain/audit.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Output } from '../output/output.js';
import { thisCommand } from './described-start.js';

/**
 * Never throws what the ledger throws: the thing is done, and an emergency such as pausing schedules must not need the
 * ledger. Says so on stderr instead.
 */
export async function noteInAudit(
  parts: Parts,
  output: Output,
  sync: string,
  action: AuditAction,
  subject: JsonObject,
): Promise<void> {
  try {
    await (await parts.ledger()).audit.add({ sync, action, actor: thisCommand(), subject });
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    output.note(`not in the audit: ${error.message}`);
  }
}
