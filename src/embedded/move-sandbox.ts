/** Tells the stack's ledger which port its sandbox has: whatever that was before, it is the same platform. */
import { knownAddress } from '../domain/sync/platform-address.js';
import { openLedger } from '../ledger/ledger.js';

/** To be called before anything delivers to `sandboxUrl`; the stack has no other platform. */
export async function moveSandbox(ledgerUrl: string, sandboxUrl: string): Promise<void> {
  const ledger = await openLedger(ledgerUrl);
  try {
    const to = knownAddress(sandboxUrl);
    for (const from of (await ledger.platforms.known()).keys())
      if (from !== to) await ledger.platforms.relocate(from, to, { who: null, origin: 'cli' });
  } finally {
    await ledger.close();
  }
}
