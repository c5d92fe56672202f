/**
 * `partner-sync preview`: maps real rows and shows what a run would do with them.
 *
 * Reads the sync's files, the source and, if it exists, the ledger; with a ledger and the platform's variables it also
 * reads changed records from the platform, to show them field by field. Writes nothing but the plan of `--out`. Neither
 * Temporal nor a worker is needed. Exit codes: 0 every row that was read can be sent, 3 some would fail, 1 failed, 2
 * wrong usage.
 */
import { Option, type Command } from 'commander';
import type { Preview } from '../../inspection/preview-mapping.js';
import type { ViewParts } from '../../composition/parts.js';
import { readVariable } from '../../config/environment.js';
import { removesRecords, RUN_MODES, type RunMode, type SyncSpec } from '../../domain/sync/sync.js';
import { allOrCount, allOrNone, choice } from '../arguments.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { announces } from '../announce.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnownPlatform } from '../known-platform.js';
import { assertPlanMode, planOf, writePlan } from '../plan-file.js';
import { previewSync } from '../../inspection/preview-sync.js';
import { masked, plain, previewJson, previewLines } from '../output/preview-lines.js';

interface PreviewFlags {
  json?: boolean;
  mode?: RunMode;
  limit?: 'all' | number;
  examples: 'all' | number;
  showValues?: boolean;
  out?: string;
}

/** Rows of each mapping by default: an answer within seconds. A plan always covers every row. */
const ROWS = 1000;
const EXAMPLES = 3;

/** What a run in this mode does besides, or instead of, sending the rows of a preview. */
function notesOn({ mappings }: SyncSpec, mode: RunMode, chosen: readonly string[]): string[] {
  const shown = mappings.filter(({ name }) => chosen.includes(name));
  const isFed = mode === 'live' || (mode === 'incremental' && shown.some(({ feed }) => feed !== null));
  const marks = shown.some((spec) => removesRecords(spec) && (mode === 'mirror' || (isFed && spec.feed !== null)));
  return [
    ...(isFed
      ? [
          `These are the rows that a run in mode ${mode} reads at its beginning, unless an earlier run has read them with the change feed; then it sends what the feed names.`,
        ]
      : []),
    ...(marks ? ['Records whose rows are gone are not shown: the run marks them as `deletes` says.'] : []),
  ];
}

export function addPreview(program: Command): void {
  program
    .command('preview')
    .description(
      'Reads rows as the next run would, maps them, and compares them with what the platform accepted last: new, changed, unchanged, would fail. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('[mapping]', 'only this mapping')
    .option('--mode <mode>', `${RUN_MODES.join(', ')} (default: as sync.yaml says)`, choice(RUN_MODES))
    .option('--limit <all|N>', `rows of each mapping to read (default: ${ROWS}; all with --out)`, allOrCount)
    .addOption(
      new Option('--examples <N>', 'rows of each prediction to show, side by side')
        .argParser(allOrNone)
        .default(EXAMPLES),
    )
    .option('--show-values', 'show the values of the rows, not only their masked shapes')
    .option('--out <file>', 'write a plan for run --plan: what would be sent, as counts and digests')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync preview online-retail\n  partner-sync preview online-retail customers --limit all --show-values\n\nExit codes: 0 every row that was read can be sent; 1 failed; 2 wrong usage or configuration; 3 some rows would fail',
    )
    .hook(
      'preAction',
      announces((sync) => `reading what a run of ${sync} would send ...`),
    )
    .action(
      withViewParts<[string, string | undefined], PreviewFlags>(async ({ parts, output }, name, mapping, flags) => {
        const sync = await parts.openSync(name);
        const chosen = mappingsInOrder(sync.spec, mapping === undefined ? undefined : [mapping]);
        const mode = flags.mode ?? sync.spec.mode;
        if (flags.out !== undefined) assertPlanMode(sync.spec, mode, chosen);
        const ledger = await parts.ledgerIfAny();
        await assertKnownPlatform(ledger, parts.env, name);
        const platform = ledger === null ? null : await platformIfNamed(parts);
        const limit = flags.limit ?? (flags.out === undefined ? ROWS : 'all');
        if (flags.out !== undefined && limit !== 'all')
          throw new PartnerSyncError('input_invalid', '--out needs --limit all: a plan covers every row');
        const previews = await previewSync(sync, chosen, {
          mode,
          rows: limit === 'all' ? Infinity : limit,
          examples: flags.examples === 'all' ? Infinity : flags.examples,
          ledger,
          platform,
        });
        if (flags.out !== undefined) await writePlan(flags.out, planOf(name, mode, sync.spec.version, previews));
        const show = flags.showValues ? plain : masked;
        const specOf = (preview: Preview) => sync.spec.mappings.find((m) => m.name === preview.mapping)!;
        const compared = ledger === null ? 'nothing: there is no ledger yet, so every record is new' : 'the ledger';
        output.result(
          { sync: name, mode, compared, mappings: previews.map((p) => previewJson(p, specOf(p), show)) },
          () => [
            ...previews.flatMap((p) => previewLines(p, specOf(p), show)),
            `Compared with ${compared}.${flags.showValues ? '' : ' Values are masked; use --show-values to see them.'}`,
            ...notesOn(sync.spec, mode, chosen),
            flags.out === undefined
              ? 'Nothing was sent or written.'
              : `Nothing was sent. The plan is in ${flags.out}; next: partner-sync run ${name} --plan ${flags.out}`,
          ],
        );
        return previews.some((p) => p.counts.fails > 0) ? EXIT.deadLetters : EXIT.done;
      }),
    );
}

/**
 * The platform, which knows field by field what changed; null if it is not configured, since a preview is useful
 * without it. Only whether the variables are set is checked: a wrong value still fails.
 */
async function platformIfNamed(parts: ViewParts) {
  const named = ['PLATFORM_BASE_URL', 'PLATFORM_TOKEN'] as const;
  const values = await Promise.all(named.map((variable) => readVariable(parts.env, variable)));
  return values.includes(undefined) ? null : parts.platform();
}
