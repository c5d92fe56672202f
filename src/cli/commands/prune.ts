/**
 * `partner-sync prune`: removes what is older than the sync's `retention` from the ledger, as its runs do.
 *
 * Reads sync.yaml and writes the ledger; calls nobody else. A sync whose `retention` cannot be read is left as it is, and all others
 * are done. Exit codes: 0 done (also if nothing was old), 1 failed, or one was left, 2 wrong usage or configuration, 130 interrupted;
 * what was removed by then stays removed.
 */
import type { Command } from 'commander';
import type { Parts } from '../../composition/parts.js';
import { quantity } from '../../domain/values/quantity.js';
import type { Prunable, RetentionKind } from '../../domain/sync/retention.js';
import { milliseconds } from '../../domain/timeouts.js';
import { loadRetention } from '../../mapping/load-retention.js';
import { listSyncs } from '../../mapping/sync-folder.js';
import { EXIT, withParts, type CommandContext } from '../command-context.js';
import { table } from '../output/text-table.js';
import { assertKnown } from '../known-sync.js';
import { thisCommand } from '../actor.js';

interface PruneFlags {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

/** What is removed, in the words of the command's table. */
const WORDS: Readonly<Record<RetentionKind, string>> = {
  batches: 'settled batches',
  partitions: 'partitions with their counts',
  removalPlans: 'removal plans',
  runs: 'runs with their reports',
  audit: 'entries of the audit',
};

export function addPrune(program: Command): void {
  program
    .command('prune')
    .description(
      'Removes from the ledger, in small steps, what is older than `retention` of sync.yaml allows; runs do the same at their end. Positions, dead letters, waiting records and accepted hashes stay.',
    )
    .argument('[sync]', 'folder in the mappings folder; all of them if none is named')
    .option('--dry-run', 'only show what would be removed')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync prune --dry-run\n  partner-sync prune online-retail\n\nExit codes: 0 done; 1 failed, or a sync was left as it is; 2 wrong usage or configuration; 130 interrupted',
    )
    .action(
      withParts<[string | undefined], PruneFlags>(async (context, named, { dryRun = false }) => {
        const { parts, output } = context;
        if (named !== undefined) await assertKnown(parts, named);
        const syncs = named === undefined ? await listSyncs(await parts.mappingsFolder()) : [named];
        const interrupt = { heard: false };
        const hear = (): void => void (interrupt.heard = true);
        if (!dryRun) process.once('SIGINT', hear);
        try {
          const results: SyncPruned[] = [];
          for (const sync of syncs)
            if (!interrupt.heard) results.push(await pruneOf(context, sync, dryRun, () => !interrupt.heard));
          output.result({ dryRun, syncs: results }, () => results.flatMap((result) => linesOf(result, dryRun)));
          if (interrupt.heard) return EXIT.interrupted;
          return results.some(({ problem }) => problem !== null) ? EXIT.failed : EXIT.done;
        } finally {
          process.off('SIGINT', hear);
        }
      }),
    );
}

interface SyncPruned {
  readonly sync: string;
  readonly removed: readonly Prunable[];
  /** Whether nothing old is left. */
  readonly done: boolean;
  /** Why the sync was left as it is; null if it was not. */
  readonly problem: string | null;
}

async function pruneOf(
  { parts, output }: CommandContext<Parts>,
  sync: string,
  dryRun: boolean,
  shouldContinue: () => boolean,
): Promise<SyncPruned> {
  const kept = await loadRetention(await parts.mappingsFolder(), sync, parts.env);
  if (kept === null) {
    const problem = `retention of its sync.yaml cannot be read, so nothing was removed; see: partner-sync check ${sync}`;
    return { sync, removed: [], done: false, problem };
  }
  const { retention, audit } = await parts.ledger();
  if (dryRun) return { sync, removed: await retention.prunable(sync, kept), done: false, problem: null };
  let told = performance.now();
  const onStep = (kind: RetentionKind, rows: number): void => {
    if (performance.now() - told < milliseconds('pruneProgress')) return;
    told = performance.now();
    output.note(`${sync}: removed ${rows.toLocaleString('en-GB')} ${WORDS[kind]} so far`);
  };
  const { removed, done } = await retention.prune(sync, kept, { shouldContinue, onStep });
  const gone = removed.filter(({ rows }) => rows > 0);
  if (gone.length > 0) {
    const subject = Object.fromEntries(gone.map(({ kind, rows }) => [kind, rows]));
    await audit.add({ sync, action: 'pruned', actor: thisCommand(), subject });
  }
  return { sync, removed, done, problem: null };
}

function linesOf({ sync, removed, done, problem }: SyncPruned, dryRun: boolean): string[] {
  if (problem !== null) return [`${sync}: ${problem}`];
  const rows = removed.filter((kind) => kind.rows > 0);
  if (rows.length === 0) return [`${sync}: nothing is old enough`];
  return [
    `${sync}: ${quantity(
      rows.reduce((sum, kind) => sum + kind.rows, 0),
      'row',
    )} ${dryRun ? 'would be removed' : 'removed'}`,
    ...table(
      ['rows', '', 'oldest'],
      rows.map((kind) => [kind.rows, WORDS[kind.kind], kind.oldest!.slice(0, 10)]),
    ),
    ...(dryRun || done ? [] : ['interrupted; the next prune or run goes on']),
  ];
}
