/**
 * Parents that the platform has accepted and lost since: somebody has deleted them there, or it was restored from a backup. The
 * ledger has them as delivered, so that nothing would send them again, and their children would be rejected for ever.
 */
import { log } from '@temporalio/activity';
import { ERROR_CATALOGUE, PartnerSyncError } from '../../domain/errors.js';
import type { PartitionContext } from '../partition-context.js';
import { acceptedParents, askPlatform, keepsAcceptedHashes, parentMappings, type ParentReference } from './parents.js';

/**
 * Returns those of these parents that the platform certainly does not have any more, and lets the ledger forget that they were accepted: then they are
 * parents like others that are not delivered yet.
 */
export async function forgetLostParents(
  context: PartitionContext,
  parents: readonly ParentReference[],
): Promise<readonly ParentReference[]> {
  const { deps, sync, partition } = context;
  const accepted = await acceptedParents(context, parents);
  const { missing } = await askPlatform(context, accepted).catch(nothingProved);
  for (const schemaName of new Set(missing.map((parent) => parent.schemaName))) {
    const lost = missing.filter((parent) => parent.schemaName === schemaName);
    const tenantIds = await deps.ledger.ids.tenantIds([...new Set(lost.map((parent) => parent.tenant))]);
    const keys = {
      tenantIds: lost.map((parent) => tenantIds.get(parent.tenant)!),
      externalIds: lost.map((parent) => parent.externalId),
    };
    for (const mapping of (await parentMappings(context, schemaName)).filter(keepsAcceptedHashes)) {
      await deps.ledger.knownRecords.doubt(partition, mapping.mappingId, keys);
      const code = 'records_lost';
      log.warn(ERROR_CATALOGUE[code].meaning, {
        code,
        sync: sync.spec.name,
        mapping: mapping.spec.name,
        records: lost.length,
      });
    }
  }
  return missing;
}

/** A platform that does not say is no reason to fail: nothing depends on it but what it has lost. */
function nothingProved(error: unknown): { readonly missing: readonly ParentReference[] } {
  if (error instanceof PartnerSyncError) return { missing: [] };
  throw error;
}
