/** Tells the stack's ledger that its sandbox has another port than before: it is the same platform. */
import { openLedger } from '../ledger/ledger.js';

/** To be called before anything delivers to `sandboxUrl`; the stack has no other platform. */
export async function moveSandbox(ledgerUrl: string, sandboxUrl: string): Promise<void> {
  const ledger = await openLedger(ledgerUrl);
  try {
    const to = new URL(sandboxUrl).href;
    for (const from of (await ledger.platforms.known()).keys())
      if (from !== to) await ledger.platforms.relocate(from, to, { who: null, origin: 'cli' });
  } finally {
    await ledger.close();
  }
}
