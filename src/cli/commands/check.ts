/**
 * `partner-sync check`: lists everything that is wrong in a sync's files, and what in the live source contradicts them.
 *
 * Reads the sync's folder and, unless `--offline`, the source; needs neither ledger, platform nor Temporal. Writes
 * nothing. Exit codes: 0 without errors (warnings do not count), 1 with errors, 2 for wrong usage or configuration.
 */
import type { Command } from 'commander';
import type { Env } from '../../config/environment.js';
import { formatFinding, type Finding } from '../../domain/sync/finding.js';
import type { ProbeBudget } from '../../domain/records/probe.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { withoutPasswords } from '../../domain/values/without-passwords.js';
import { checkSyncFiles, listSyncs } from '../../mapping/load-sync.js';
import { deferredReferences, runningOrder } from '../../mapping/order/running-order.js';
import { allOrNone } from '../arguments.js';
import { checkLive, type LiveCheck } from '../../inspection/check-live.js';
import { EXIT, explainCommand, withViewParts } from '../command-context.js';
import { quantity } from '../../domain/values/quantity.js';
import { printable } from '../output/text-table.js';
import { milliseconds } from '../../domain/timeouts.js';

interface CheckFlags {
  json?: boolean;
  offline?: boolean;
  probeRows: 'all' | number;
}

/**
 * Rows of each mapping by default, from several places of a large table. The time for them is limited as well
 * (`probeMapping` in the table of timeouts), so a check ends even on a slow source.
 */
const PROBE_ROWS = 10_000;

export function addCheck(program: Command): void {
  program
    .command('check')
    .description(
      "Checks a sync's files, and compares its mappings with the live source: columns, keys, and real rows, counting those that would fail. Sends and writes nothing.",
    )
    .argument('[sync]', 'folder in the mappings folder; by default each')
    .option('--offline', 'do not connect to the source; variables that are not set are only warned of')
    .option(
      '--probe-rows <all|N>',
      'rows of each mapping to read, from several places of a large table; 0 reads none',
      allOrNone,
      PROBE_ROWS,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync check online-retail\n  partner-sync check online-retail --probe-rows all\n  partner-sync check online-retail --offline --json\n\nExit codes: 0 no errors; 1 errors found; 2 wrong usage or configuration`,
    )
    .action(
      withViewParts<[string | undefined], CheckFlags>(async ({ parts, output }, given, options) => {
        const folder = await parts.mappingsFolder();
        // Somebody may pass an address by mistake, and the name is printed. The name of a sync is not affected.
        const names = given === undefined ? await listSyncs(folder) : [withoutPasswords(given)];
        const checked: CheckedSync[] = [];
        for (const name of names) checked.push(await checkOne(folder, name, parts.env, options));
        output.result(given === undefined ? { syncs: checked } : checked[0]!, () =>
          checked.length === 0
            ? [`There is no sync in ${folder} yet; draft one with partner-sync init.`]
            : [...checked.flatMap((each) => linesOf(each, given === undefined)), ...moreLines(checked)],
        );
        return checked.some(({ errors }) => errors > 0) ? EXIT.failed : EXIT.done;
      }),
    );
}

/** What `--json` prints of one sync. */
type CheckedSync = Awaited<ReturnType<typeof checkOne>>;

async function checkOne(folder: string, name: string, env: Env, options: CheckFlags) {
  const lint = await checkSyncFiles(folder, name, env);
  const skipped = skippedOf(lint.sync, options);
  const live: LiveCheck =
    lint.sync === null || skipped !== null
      ? { findings: [], probes: [] }
      : await checkLive(lint.sync, lint.locate, budgetOf(options));
  const findings = [...(options.offline === true ? lint.findings.map(offline) : lint.findings), ...live.findings];
  const order = lint.sync === null ? [] : orderOf(lint.sync);
  const errors = findings.filter((f) => f.severity === 'error').length;
  const warnings = findings.length - errors;
  return { sync: name, findings, errors, warnings, probes: live.probes, order, ...(skipped && { skipped }) };
}

/** The variables of a sync are set where it runs, which is not where its files are checked offline. */
const offline = (finding: Finding): Finding =>
  finding.kind === 'env_missing' ? { ...finding, severity: 'warning' } : finding;

const linesOf = ({ sync, findings, errors, warnings, probes, order, skipped }: CheckedSync, named: boolean) => [
  ...findings.map((f) => printable(formatFinding(f))),
  ...(findings.length > 0 ? [''] : []),
  ...probes.map(probeLine),
  ...(order.some(({ firstPass }) => firstPass.length > 0) ? [...cycleLines(order), orderLine(order)] : []),
  `${named ? `${sync}: ` : ''}${quantity(errors, 'error')}, ${quantity(warnings, 'warning')}${skipped ? `; ${skipped}` : ''}. Nothing was sent.`,
];

/** The command that explains the most severe finding: the first error, otherwise the first warning. */
function moreLines(checked: readonly CheckedSync[]): string[] {
  const findings = checked.flatMap((each) => each.findings);
  const gravest = findings.find(({ severity }) => severity === 'error') ?? findings[0];
  return gravest === undefined ? [] : [`more: ${explainCommand(gravest.kind)}`];
}

/** Why the live source is left out; null if it is not. */
function skippedOf(sync: SyncSpec | null, { offline }: CheckFlags): string | null {
  if (offline) return 'not compared with the source (--offline)';
  return sync === null ? 'not compared with the source: correct the files first' : null;
}

const budgetOf = ({ probeRows }: CheckFlags): ProbeBudget =>
  probeRows === 'all' ? { rows: Infinity, time: Infinity } : { rows: probeRows, time: milliseconds('probeMapping') };

const probeLine = ({ mapping, rows, all }: LiveCheck['probes'][number]): string =>
  `${mapping}: read ${all ? 'all ' : ''}${quantity(rows, 'row')}${all ? '' : '; use --probe-rows for more'}`;

/** The stages of a run. In the first of two passes, a mapping's new records are sent without the references listed. */
function orderOf({ mappings }: SyncSpec) {
  const { fields } = deferredReferences(mappings);
  return runningOrder(mappings).map(({ firstPass, full }) => ({
    firstPass: firstPass.map((mapping) => ({ mapping, without: fields.get(mapping)! })),
    full,
  }));
}

/** Which mappings refer to themselves or to each other in a cycle, and how they are loaded. */
const cycleLines = (order: ReturnType<typeof orderOf>): string[] =>
  order
    .flatMap(({ firstPass }) => firstPass)
    .map(
      ({ mapping, without }) =>
        `cycle: ${mapping} refers to itself, or to mappings that refer to it, by ${without.join(', ')}; its new records are sent in two passes, first without ${without.length === 1 ? 'it' : 'them'}`,
    );

const orderLine = (order: ReturnType<typeof orderOf>): string =>
  `order: ${order
    .map(({ firstPass, full }) =>
      [...firstPass.map((a) => `${a.mapping} without ${a.without.join(', ')}`), ...full].join(' + '),
    )
    .join(' -> ')}`;
