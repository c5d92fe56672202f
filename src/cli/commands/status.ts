/** `partner-sync status`: the latest runs, and where each mapping of a sync stands. */
import type { Command } from 'commander';
import { EXIT, look } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { removalLines } from '../removal-lines.js';
import { table } from '../table.js';

const RUNS_SHOWN = 10;

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('latest runs and where each mapping stands')
    .description(
      'Shows the latest runs from the ledger; with a sync also the position, waiting records and dead letters of its mappings.',
    )
    .argument('[sync]', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExample:\n  partner-sync status online-retail')
    .action(
      look<[string | undefined], { json?: boolean }>(async ({ parts, output }, sync) => {
        const ledger = await parts.ledger();
        const runs = (await ledger.runs.latest(sync, RUNS_SHOWN)).map((run) => ({
          run: run.id,
          sync: run.sync,
          mode: run.mode,
          outcome: run.outcome ?? 'running',
          startedAt: run.started_at.toISOString(),
          endedAt: run.ended_at?.toISOString() ?? null,
          workflowId: run.workflow_id,
        }));
        if (sync !== undefined && runs.length === 0) await assertKnown(parts, sync);
        const mappings = sync === undefined ? [] : await ledger.books.positions(sync);
        const removals = sync === undefined ? [] : await ledger.removals.waiting(sync);
        output.result({ runs, mappings, removals }, () => [
          ...(runs.length === 0
            ? [`no runs${sync === undefined ? '' : ` of ${sync}`} yet`]
            : table(
                ['run', 'sync', 'mode', 'outcome', 'started', 'workflow'],
                runs.map((r) => [r.run, r.sync, r.mode, r.outcome, r.startedAt, r.workflowId]),
              )),
          ...(mappings.length === 0
            ? []
            : [
                '',
                ...table(
                  ['mapping', 'accepted', 'waiting', 'dead-lettered', 'position'],
                  mappings.map((m) => [m.mapping, m.accepted, m.waiting, m.deadLettered, m.cursor ?? '-']),
                ),
              ]),
          ...(removals.length === 0 ? [] : ['', ...removalLines(sync!, removals)]),
        ]);
        return EXIT.done;
      }),
    );
}
