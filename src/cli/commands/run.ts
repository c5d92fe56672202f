/**
 * `partner-sync run` and `backfill`: start a workflow, show its progress and print its report.
 *
 * Both need Temporal and a worker; the ledger is read for the progress if this machine has its address, otherwise the
 * workflow is queried. `run --plan` also reads the source here, to compare it with the plan before anything is sent.
 * Nothing is written on this machine. Exit codes: 0 complete, 3 complete with dead letters, 1 incomplete or failed, 2
 * wrong usage or configuration (here or at the worker, or no Temporal server), 130 interrupted, which leaves the run
 * going.
 */
import type { Command } from 'commander';
import { checkNewRunInput } from '../../domain/run/check-range.js';
import type { RunInput, RunKind } from '../../domain/run/run.js';
import { RUN_MODES, type RunMode } from '../../domain/sync/sync.js';
import { earlierFilesLines, hasRecordsOfEarlierFiles } from '../runs/earlier-files.js';
import { formerTenants, formerTenantsLines } from '../runs/former-tenants.js';
import { detachedRun, runToEnd, type ReportAddition } from '../runs/run-to-end.js';
import { announces } from '../announce.js';
import { withParts, EXIT_HELP, type CommandContext } from '../command-context.js';
import type { Parts } from '../../composition/parts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { choice, sampleSize } from '../arguments.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { assertPlanMode, assertHolds, planOf, readPlan } from '../plan-file.js';
import { previewSync } from '../../inspection/preview-sync.js';
import { modeOf, validatedMappings } from '../../delivery/run/run-request.js';
import { knownSpec } from '../known-files.js';
import { assertKnown } from '../known-sync.js';

interface RunOptions {
  plan?: string;
  detach?: boolean;
  json?: boolean;
  mode?: RunMode;
  mapping?: string[];
  approve?: string[];
  formerTenant?: string[];
  limit?: number;
  acceptChanges?: boolean;
}
/**
 * What a backfill reads: a range of the cursor, a range of keys, or a list of records. The workflow's own check of the
 * input decides which combinations are allowed.
 */
interface BackfillOptions {
  detach?: boolean;
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
    .description(
      'Starts the sync workflow, shows its progress and prints its report. Ctrl-C leaves it running. In mode live it follows the change feeds of the sync until partner-sync stop ends it.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mode <mode>', `${RUN_MODES.join(', ')} (default: as sync.yaml says)`, choice(RUN_MODES))
    .option('--mapping <name...>', 'only these mappings')
    .option('--approve <plan...>', 'carry out these removal plans; needs --mode mirror')
    .option(
      '--former-tenant <id...>',
      'also mark the records of these tenants, which no row belongs to any more; needs --mode mirror',
    )
    .option(
      '--limit <N>',
      'load a sample: at most N rows of each mapping, and their parents; moves no position',
      sampleSize,
    )
    .option('--accept-changes', 'accept changed column types, which otherwise stop a mapping')
    .option('--plan <file>', 'run only if what would be sent still matches this plan of preview --out')
    .option('--detach', 'start it and leave; status shows how it goes')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync run online-retail\n  partner-sync run online-retail --limit 10\n  partner-sync run online-retail --mode full --json\n  partner-sync run online-retail --mode live --detach\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      announces((sync) => `starting a run of ${sync} ...`),
    )
    .action(
      withParts<[string], RunOptions>(async (context, sync, options) => {
        if (
          options.plan !== undefined &&
          (options.mode ?? options.mapping ?? options.approve ?? options.formerTenant ?? options.limit) !== undefined
        )
          throw new PartnerSyncError(
            'input_invalid',
            '--plan cannot be combined with --mode, --mapping, --approve, --former-tenant or --limit: the plan determines them',
          );
        const planned = options.plan === undefined ? {} : await plannedInput(context.parts, sync, options.plan);
        return start(context, options, 'sync', {
          sync,
          ...planned,
          ...(options.mode && { mode: options.mode }),
          ...(options.mapping && { mappings: options.mapping }),
          ...(options.approve && { approve: options.approve }),
          ...(options.formerTenant && { formerTenants: options.formerTenant }),
          ...(options.limit !== undefined && { limit: options.limit }),
          ...(options.acceptChanges && { acceptChanges: true }),
        });
      }),
    );
}

export function addBackfill(program: Command): void {
  program
    .command('backfill')
    .description('Starts the backfill workflow, which runs beside scheduled runs and does not move their position.')
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only these mappings')
    .option('--from <cursor>', 'from this value of the cursor column (inclusive)')
    .option('--to <cursor>', 'up to this value of the cursor column (exclusive)')
    .option('--external-id <id...>', 'only these records of one mapping')
    .option('--after-key <value...>', 'only rows of one mapping after this key: a value for each key column')
    .option('--through-key <value...>', 'only rows of one mapping up to and including this key')
    .option('--detach', 'start it and leave; status shows how it goes')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync backfill online-retail --mapping customers --from 2010-12-01 --to 2010-12-08\n  partner-sync backfill online-retail --mapping customers --external-id 17850 13047\n  partner-sync backfill online-retail --mapping customers --after-key 13000 --through-key 14000\n${EXIT_HELP}`,
    )
    .hook(
      'preAction',
      announces((sync) => `starting a backfill of ${sync} ...`),
    )
    .action(
      withParts<[string], BackfillOptions>((context, sync, options) => {
        const { mapping, from, to, externalId, afterKey, throughKey } = options;
        return start(context, options, 'backfill', {
          sync,
          ...(externalId || afterKey || throughKey ? theMapping(mapping) : mapping && { mappings: mapping }),
          ...(externalId !== undefined && { externalIds: externalId }),
          ...(afterKey !== undefined && { afterKey }),
          ...(throughKey !== undefined && { throughKey }),
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
        });
      }),
    );
}

/** External ids and keys mean something within one mapping only. */
function theMapping(mappings: readonly string[] = []): Pick<RunInput, 'mapping'> {
  if (mappings.length !== 1)
    throw new PartnerSyncError(
      'input_invalid',
      `--external-id, --after-key and --through-key need exactly one --mapping; got ${mappings.length}`,
    );
  return { mapping: mappings[0]! };
}

/**
 * The input of a run that does what the plan says. Reads and maps every row once more, so it takes as long as the
 * preview did. Throws `plan_outdated` with all differences before anything is sent, and `input_invalid` for a file that
 * is not a plan of this sync.
 */
async function plannedInput(parts: Parts, name: string, file: string): Promise<Pick<RunInput, 'mode' | 'mappings'>> {
  const plan = await readPlan(file);
  if (plan.sync !== name)
    throw new PartnerSyncError('input_invalid', `the plan ${file} is for the sync ${plan.sync}, not ${name}`);
  const sync = await parts.openSync(name);
  const mappings = mappingsInOrder(
    sync.spec,
    plan.mappings.map((m) => m.mapping),
  );
  assertPlanMode(sync.spec, plan.mode, mappings);
  const options = { mode: plan.mode, rows: Infinity, examples: 0, ledger: await parts.ledger(), platform: null };
  assertHolds(plan, planOf(name, plan.mode, sync.spec.version, await previewSync(sync, mappings, options)));
  return { mode: plan.mode, mappings };
}

/** Checks the input here, then runs it. A worker would find the same errors, but later, or never if none is running. */
async function start(
  context: CommandContext,
  { detach }: { readonly detach?: boolean },
  kind: RunKind,
  input: RunInput,
): Promise<number> {
  checkNewRunInput(kind, input);
  await assertKnown(context.parts, input.sync, input.mapping === undefined ? input.mappings : [input.mapping]);
  const spec = await knownSpec(context.parts, input.sync);
  if (spec !== null) validatedMappings(spec, modeOf(kind, input, spec), input);
  return detach ? detachedRun(context, kind, input) : runToEnd(context, kind, input, () => noteOnFiles(context, input));
}

async function noteOnFiles({ parts }: CommandContext, { sync }: RunInput): Promise<ReportAddition> {
  const ledger = await parts.ledger();
  const hasEarlier = await hasRecordsOfEarlierFiles(parts, ledger, sync);
  const former = await formerTenants(parts, ledger, sync);
  return {
    fields: { recordsOfEarlierFiles: hasEarlier, formerTenants: former },
    lines: [...(hasEarlier ? ['', ...earlierFilesLines(sync)] : []), ...formerTenantsLines(sync, former)],
  };
}
