/** The files of the live demo: those of the demo's sync, with some lines more. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_SYNC } from './demo.js';
import { SHIPPED_MAPPINGS } from './stack-environment.js';

/** What each file has more: where changes come from, and what becomes of the records of deleted rows. */
export const LIVE_LINES: Readonly<Record<string, string>> = {
  'sync.yaml': 'changes: { slot: partner_sync_demo, publication: partner_sync_demo }',
  'customers.mapping.yaml': 'deletes: { action: { clear: [firstName, lastName, email, phone] } }',
  'transactions.mapping.yaml': 'deletes: { action: { set: { transactionTotal: 0 } } }',
  'order-lines.mapping.yaml': 'deletes: { action: { set: { quantity: 0, lineTotal: 0 } } }',
};

/** Writes the files anew, and returns the mappings folder. */
export function writeLiveFiles(folder: string): string {
  const mappings = join(folder, 'mappings');
  rmSync(mappings, { recursive: true, force: true });
  cpSync(SHIPPED_MAPPINGS, mappings, {
    recursive: true,
    filter: (path) => path === SHIPPED_MAPPINGS || path.endsWith('.schema.json') || path.includes(DEMO_SYNC),
  });
  for (const [name, line] of Object.entries(LIVE_LINES)) {
    const file = join(mappings, DEMO_SYNC, name);
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n# For the live demo:\n${line}\n`);
  }
  return mappings;
}
