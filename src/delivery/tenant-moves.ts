/** How often rows had come to belong to another tenant, without having changed, when the run began. */
import type { Dependencies, OpenSync } from './dependencies.js';

export async function tenantMoves(
  { ledger }: Pick<Dependencies, 'ledger'>,
  sync: Pick<OpenSync, 'spec' | 'tenantRule'>,
  runId: string,
): Promise<number> {
  return (await ledger.tenantLists.ofRun(runId, sync.spec.name, () => sync.tenantRule())).moves;
}
