/** Counts rows that cannot be mapped by the cause of their failure. */
import { NO_ROWS, withRow, type ProbeFailure } from '../domain/records/probe.js';
import type { FailedRow } from '../domain/records/record.js';

/** The causes of one mapping's failures, while its rows are read. */
export interface FailureCauses {
  add(row: FailedRow): void;
  mostFrequentFirst(): ProbeFailure[];
}

/** Rows that fail at the same field by the same rule have one cause: its reason is the last one's, its shape the first. */
export function openFailureCauses(): FailureCauses {
  const causes = new Map<string, ProbeFailure>();
  return {
    add({ code, pointer, rule, reason, shape, sourceKey }) {
      const cause = JSON.stringify([code, pointer, rule]);
      const known = causes.get(cause);
      const counted = withRow(known ?? NO_ROWS, sourceKey);
      causes.set(cause, { code, pointer, rule, reason, shape: known?.shape ?? shape, ...counted });
    },
    mostFrequentFirst: () => [...causes.values()].sort((a, b) => b.rows - a.rows),
  };
}
