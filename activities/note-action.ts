/** Writes an entry of the audit for what was done to a workflow by an Update. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import type { NewAuditEntry } from '../src/domain/audit.js';

export const noteAction = ({ ledger }: Pick<Dependencies, 'ledger'>, entry: NewAuditEntry): Promise<void> =>
  ledger.audit.add(entry);
