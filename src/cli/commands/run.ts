/** `partner-sync run` and `backfill`: start a workflow, follow it, print its report. */
import type { Command } from 'commander';
import { connectTemporal } from '../../worker/temporal-connection.js';
import { checkRunInput, EXIT_CODES, type RunInput, type RunKind } from '../../domain/run.js';
import { RUN_MODES, type RunMode } from '../../domain/sync.js';
import { begins } from '../begins.js';
import { action, EXIT, EXIT_HELP, type CommandContext } from '../command-context.js';
import type { Parts } from '../../compose.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { choice, sampleSize } from '../arguments.js';
import { chosenMappings } from '../chosen-mappings.js';
import { assertHolds, planOf, readPlan } from '../plan-file.js';
import { previewSync } from '../preview-sync.js';
import { assertKnown } from '../known-sync.js';
import { followRun } from '../follow-run.js';
import { reportLines } from '../output.js';

interface RunOptions {
  plan?: string;
  json?: boolean;
  mode?: RunMode;
  mapping?: string[];
  approve?: string[];
  limit?: number;
  acceptChanges?: boolean;
}
interface BackfillOptions {
  json?: boolean;
  mapping?: string[];
  from?: string;
  to?: string;
  externalId?: string[];
  afterKey?: string[];
  throughKey?: string[];
}

export function addRun(program: Command): void {
  program
    .command('run')
    .summary('bring the platform into step with the source, now')
    .description('Starts the sync workflow, follows it and prints its report. Ctrl-C leaves it running.')
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mode <mode>', `${RUN_MODES.join(', ')} (default: as sync.yaml says)`, choice(RUN_MODES))
    .option('--mapping <name...>', 'only these mappings')
    .option('--approve <plan...>', 'carry these removal plans out; goes with --mode mirror')
    .option('--limit <N>', 'a sample: N rows of each mapping at most, and their parents; moves no position', sampleSize)
    .option('--accept-changes', 'take changed types of columns as they are, which otherwise stop a mapping')
    .option('--plan <file>', 'only if what would be sent is still what preview --out wrote')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync run online-retail\n  partner-sync run online-retail --limit 10\n  partner-sync run online-retail --mode full --json\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      begins((sync) => `starting a run of ${sync} ...`),
    )
    .action(
      action<[string], RunOptions>(async (context, sync, options) => {
        if (
          options.plan !== undefined &&
          (options.mode ?? options.mapping ?? options.approve ?? options.limit) !== undefined
        )
          throw new PartnerSyncError('input_invalid', '--plan says mode and mappings itself; leave them out');
        const planned = options.plan === undefined ? {} : await plannedInput(context.parts, sync, options.plan);
        return start(context, 'sync', {
          sync,
          ...planned,
          ...(options.mode && { mode: options.mode }),
          ...(options.mapping && { mappings: options.mapping }),
          ...(options.approve && { approve: options.approve }),
          ...(options.limit !== undefined && { limit: options.limit }),
          ...(options.acceptChanges && { acceptChanges: true }),
        });
      }),
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
    .option('--after-key <value...>', 'only rows of the one mapping behind this key: a value for each key column')
    .option('--through-key <value...>', 'only rows of the one mapping up to this key, and its own')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync backfill online-retail --mapping customers --from 2010-12-01 --to 2010-12-08\n  partner-sync backfill online-retail --mapping customers --external-id 17850 13047\n  partner-sync backfill online-retail --mapping customers --after-key 13000 --through-key 14000\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      begins((sync) => `starting a backfill of ${sync} ...`),
    )
    .action(
      action<[string], BackfillOptions>((context, sync, { mapping, from, to, externalId, afterKey, throughKey }) =>
        start(context, 'backfill', {
          sync,
          ...(externalId || afterKey || throughKey ? theMapping(mapping) : mapping && { mappings: mapping }),
          ...(externalId !== undefined && { externalIds: externalId }),
          ...(afterKey !== undefined && { afterKey }),
          ...(throughKey !== undefined && { throughKey }),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
        }),
      ),
    );
}

function theMapping(mappings: readonly string[] = []): Pick<RunInput, 'mapping'> {
  if (mappings.length !== 1)
    throw new PartnerSyncError(
      'input_invalid',
      `--external-id, --after-key and --through-key need --mapping with one mapping; got ${mappings.length}`,
    );
  return { mapping: mappings[0]! };
}

/** Looks at every row once more; throws `plan_outdated`, and then nothing was sent. */
async function plannedInput(parts: Parts, name: string, file: string): Promise<Pick<RunInput, 'mode' | 'mappings'>> {
  const plan = await readPlan(file);
  if (plan.sync !== name)
    throw new PartnerSyncError('input_invalid', `the plan ${file} is of the sync ${plan.sync}, not of ${name}`);
  const sync = await parts.openSync(name);
  const mappings = chosenMappings(
    sync.spec,
    plan.mappings.map((m) => m.mapping),
  );
  const looking = { mode: plan.mode, rows: Infinity, examples: 0, ledger: await parts.ledger(), platform: null };
  assertHolds(plan, planOf(name, plan.mode, sync.spec.version, await previewSync(sync, mappings, looking)));
  return { mode: plan.mode, mappings };
}

async function start({ parts, output }: CommandContext, kind: RunKind, input: RunInput): Promise<number> {
  // A worker says the same, once there is one: this is sooner.
  checkRunInput(kind, input);
  await assertKnown(parts, input.sync, input.mapping === undefined ? input.mappings : [input.mapping]);
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
