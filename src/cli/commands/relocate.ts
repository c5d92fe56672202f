/**
 * `partner-sync relocate`: tells the ledger that the platform has a new address, so that what it knows of the records there still holds.
 *
 * Writes the ledger only. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, or no sync delivers to that address.
 */
import { InvalidArgumentError, type Command } from 'commander';
import { platformAddress } from '../../config/platform-address.js';
import { knownAddress, platformAddressProblem } from '../../domain/sync/platform-address.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { PlatformsView } from '../../ledger/mappings/platforms.js';
import { thisCommand } from '../actor.js';
import { EXIT, withParts } from '../command-context.js';

interface RelocateFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

export function addRelocate(program: Command): void {
  program
    .command('relocate')
    .description(
      'Tells the ledger that the platform has a new address, which PLATFORM_BASE_URL names: all syncs that deliver to the address before go on there, and what the ledger knows of their records still holds. If it is another platform, give it a ledger of its own, or see `forget --all`.',
    )
    .argument('<from>', "the platform's address before", address)
    .option('--dry-run', 'only show which syncs deliver to it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  PLATFORM_BASE_URL=https://eu.platform.example.com partner-sync relocate https://platform.example.com\n\nExit codes: 0 done; 1 failed; 2 wrong usage or configuration, or no sync delivers to that address',
    )
    .action(
      withParts<[string], RelocateFlags>(async ({ parts, output }, from, { dryRun = false }) => {
        const to = await platformAddress(parts.env);
        if (from === to)
          throw new PartnerSyncError('input_invalid', `${to} is PLATFORM_BASE_URL: set that to the new address first`);
        const { platforms } = await parts.ledger();
        const found = await deliveringTo(platforms, from);
        const syncs = dryRun ? found : await platforms.relocate(from, to, thisCommand());
        output.result({ from, to, dryRun, syncs }, () => [
          ...syncs.map((sync) => `${sync}: ${from} -> ${to}`),
          ...(dryRun ? ['nothing was changed (--dry-run)'] : []),
        ]);
        return EXIT.done;
      }),
    );
}

function address(text: string): string {
  const wrong = platformAddressProblem(text);
  if (wrong !== undefined) throw new InvalidArgumentError(`It ${wrong}`);
  return knownAddress(text);
}

async function deliveringTo(platforms: PlatformsView, from: string): Promise<readonly string[]> {
  const known = await platforms.known();
  const syncs = known.get(from);
  if (syncs !== undefined) return syncs;
  const others = [...known].map(([address, names]) => `${address} (${names.join(', ')})`);
  throw new PartnerSyncError(
    'input_invalid',
    `no sync delivers to ${from}, as the ledger knows; known: ${others.join(', ') || 'none, since no run has begun yet'}`,
  );
}
