/** `partner-sync dead-letters replay`: reads the rows of dead letters again and maps them with today's mapping. */
import type { Command } from 'commander';
import { EXIT_CODES } from '../../../domain/run.js';
import { connectTemporal } from '../../../worker/temporal-connection.js';
import { begins } from '../../begins.js';
import { action, EXIT, EXIT_HELP } from '../../command-context.js';
import { assertKnown } from '../../known-sync.js';
import { followRun } from '../../follow-run.js';
import { reportLines } from '../../output.js';
import { filterOf, flagsOf, withFilter, type FilterFlags } from './filter.js';

export function addReplay(parent: Command): void {
  withFilter(parent.command('replay'))
    .summary('read the rows again and deliver them')
    .description(
      "Starts a run that reads the letters' rows again by their keys, maps them with today's mapping and delivers them. Letters of rows that are delivered or gone close.",
    )
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync dead-letters replay online-retail\n  partner-sync dead-letters replay online-retail --mapping customers --field /email\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      begins((sync) => `starting a replay of dead letters of ${sync} ...`),
    )
    .action(
      action<[string], FilterFlags>(async ({ parts, output }, sync, flags) => {
        const { deadLetters } = await parts.ledger();
        const { mappings, ...filter } = filterOf(flags);
        const before = await deadLetters.count(sync, { ...filter, ...(mappings && { mappings }) });
        if (before === 0) {
          await assertKnown(parts, sync, mappings);
          output.result({ sync, replayed: 0 }, () => [`no dead letters of ${sync} to replay`]);
          return EXIT.done;
        }
        const temporal = await connectTemporal(parts.env);
        try {
          const input = { sync, ...(mappings && { mappings }), replay: filter };
          const { workflowId, report } = await followRun(parts, temporal, 'backfill', input, output);
          const { read, waiting, deadLettered } = report.total;
          // Nothing is known of the rows of a mapping that was stopped.
          const stopped = (report.stopped ?? []).map(({ mapping }) => mapping);
          const leftAlone = stopped.length === 0 ? 0 : await deadLetters.count(sync, { ...filter, mappings: stopped });
          const replayed = before - leftAlone;
          const gone = Math.max(0, replayed - read);
          const counts = { replayed, gone, waiting, stillDead: deadLettered, leftAlone };
          output.result({ ...report, workflowId, ...counts }, () => [
            '',
            ...reportLines(report),
            '',
            `${replayed} replayed: ${read - waiting - deadLettered} delivered, ${gone} whose rows are gone, ${waiting} waiting, ${deadLettered} dead letters again`,
            ...(leftAlone > 0 ? [`${leftAlone} left as they are: their mappings were stopped`] : []),
            ...(deadLettered > 0 ? [`see: partner-sync dead-letters list ${sync}${flagsOf(filterOf(flags))}`] : []),
          ]);
          return EXIT_CODES[report.outcome];
        } finally {
          await temporal.close();
        }
      }),
    );
}
