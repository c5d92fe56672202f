/** `partner-sync run` and `backfill`: start a workflow, follow it, print its report. */
import type { Command } from 'commander';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { EXIT_CODES, type RunInput, type RunKind } from '../../domain/run.js';
import { RUN_MODES, type RunMode } from '../../domain/sync.js';
import { action, EXIT, EXIT_HELP, type CommandContext } from '../command-context.js';
import { choice } from '../arguments.js';
import { followRun } from '../follow-run.js';
import { reportLines } from '../output.js';

interface RunOptions {
  json?: boolean;
  mode?: RunMode;
  mapping?: string[];
}
interface BackfillOptions {
  json?: boolean;
  mapping?: string[];
  from?: string;
  to?: string;
  externalId?: string[];
}

export function addRun(program: Command): void {
  program
    .command('run')
    .summary('bring the platform into step with the source, now')
    .description('Starts the sync workflow, follows it and prints its report. Ctrl-C leaves it running.')
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mode <mode>', `${RUN_MODES.join(' or ')} (default: as sync.yaml says)`, choice(RUN_MODES))
    .option('--mapping <name...>', 'only these mappings')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync run online-retail\n  partner-sync run online-retail --mode full --json\n${EXIT_HELP}`,
    )
    .action(
      action<[string], RunOptions>((context, sync, options) =>
        start(context, 'sync', {
          sync,
          ...(options.mode && { mode: options.mode }),
          ...(options.mapping && { mappings: options.mapping }),
        }),
      ),
    );
}

export function addBackfill(program: Command): void {
  program
    .command('backfill')
    .summary('load a range or a list of records again')
    .description('Starts the backfill workflow, beside scheduled runs and without touching their position.')
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only these mappings')
    .option('--from <cursor>', 'from this value of the cursor column on')
    .option('--to <cursor>', 'up to, not including, this value of the cursor column')
    .option('--external-id <id...>', 'only these records of the one mapping')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync backfill online-retail --mapping customers --from 2010-12-01 --to 2010-12-08\n  partner-sync backfill online-retail --mapping customers --external-id 17850 13047\n${EXIT_HELP}`,
    )
    .action(
      action<[string], BackfillOptions>((context, sync, { mapping, from, to, externalId }) =>
        start(context, 'backfill', {
          sync,
          ...(externalId ? { mapping: mapping?.[0] ?? '', externalIds: externalId } : mapping && { mappings: mapping }),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
        }),
      ),
    );
}

async function start({ parts, output }: CommandContext, kind: RunKind, input: RunInput): Promise<number> {
  const temporal = await connectTemporal(parts.env);
  let interrupted = false;
  process.once('SIGINT', () => {
    interrupted = true;
    output.note('left running; follow it with: partner-sync status, or in the Web UI');
    process.exit(EXIT.interrupted);
  });
  try {
    const { workflowId, report } = await followRun(parts, temporal, kind, input, output);
    output.result({ ...report, workflowId }, () => ['', ...reportLines(report)]);
    return EXIT_CODES[report.outcome];
  } finally {
    if (!interrupted) await temporal.close();
  }
}
