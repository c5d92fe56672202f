/**
 * Parents that the platform has accepted and lost since: somebody has deleted them there, or it was restored from a backup. The
 * ledger has them as delivered, so that nothing would send them again, and their children would be rejected for ever.
 */
import { log } from '@temporalio/activity';
import { ERROR_CATALOGUE } from '../../domain/errors.js';
import type { PartitionContext } from '../partition-context.js';
import { acceptedParents, askPlatform, keepsAcceptedHashes, parentMappings, type ParentReference } from './parents.js';

/**
 * Returns those of these parents that the platform has lost, and lets the ledger forget that they were accepted: then they are
 * parents like others that are not delivered yet.
 */
export async function forgetLostParents(
  context: PartitionContext,
  parents: readonly ParentReference[],
): Promise<readonly ParentReference[]> {
  const { deps, sync, partition } = context;
  const { missing } = await askPlatform(context, await acceptedParents(context, parents));
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
