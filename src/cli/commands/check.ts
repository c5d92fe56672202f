/** `partner-sync check`: all findings about a sync's files at once, held against the live source where it answers. */
import type { Command } from 'commander';
import { formatFinding } from '../../domain/finding.js';
import type { SyncSpec } from '../../domain/sync.js';
import { withoutPasswords } from '../../domain/without-passwords.js';
import { lintSync } from '../../mapping/load-sync.js';
import { deferredReferences, runningOrder } from '../../mapping/running-order.js';
import { allOrNone } from '../arguments.js';
import { checkLive, type LiveCheck } from '../check-live.js';
import { EXIT, look } from '../command-context.js';
import { counted } from '../counted.js';
import { printable } from '../table.js';

interface CheckFlags {
  json?: boolean;
  offline?: boolean;
  probeRows: 'all' | number;
}

const PROBE_ROWS = 10_000;
/** Milliseconds a mapping; a person waits. `--probe-rows all` takes the time that it takes. */
const PROBE_TIME = 20_000;

export function addCheck(program: Command): void {
  program
    .command('check')
    .summary("find what is wrong in a sync's files")
    .description(
      "Checks a sync's files, and holds its mappings against the live source: columns, keys, and real rows, which it counts where they would fail. Sends and writes nothing.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--offline', 'do not connect to the source')
    .option(
      '--probe-rows <all|N>',
      'rows of each mapping to look at, in several places of a large table; 0 looks at none',
      allOrNone,
      PROBE_ROWS,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync check online-retail\n  partner-sync check online-retail --probe-rows all\n  partner-sync check online-retail --offline --json\n\nExit codes: 0 no errors; 1 errors found; 2 wrong usage or configuration`,
    )
    .action(
      look<[string], CheckFlags>(async ({ parts, output }, given, options) => {
        // Somebody may give an address instead; the name of a sync stays as it is.
        const name = withoutPasswords(given);
        const lint = await lintSync(await parts.mappingsFolder(), name, parts.env);
        const budget =
          options.probeRows === 'all'
            ? { rows: Infinity, time: Infinity }
            : { rows: options.probeRows, time: PROBE_TIME };
        const live: LiveCheck =
          lint.sync !== null && !options.offline
            ? await checkLive(lint.sync, lint.locate, budget)
            : { findings: [], probes: [] };
        const findings = [...lint.findings, ...live.findings];
        const order = lint.sync === null ? [] : orderOf(lint.sync);
        const errors = findings.filter((f) => f.severity === 'error').length;
        const skipped = options.offline
          ? 'not compared with the source (--offline)'
          : lint.sync === null
            ? 'not compared with the source: correct the files first'
            : null;
        output.result(
          {
            sync: name,
            findings,
            errors,
            warnings: findings.length - errors,
            probes: live.probes,
            order,
            ...(skipped && { skipped }),
          },
          () => [
            ...findings.map((f) => printable(formatFinding(f))),
            ...(findings.length > 0 ? [''] : []),
            ...live.probes.map(lookedAt),
            ...(order.some(({ ahead }) => ahead.length > 0) ? [orderLine(order)] : []),
            `${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}${skipped ? `; ${skipped}` : ''}. Nothing was sent.`,
          ],
        );
        return errors > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

const lookedAt = ({ mapping, rows, all }: LiveCheck['probes'][number]): string =>
  `${mapping}: looked at ${all ? 'all ' : ''}${rows.toLocaleString('en-GB')} rows${all ? '' : '; --probe-rows looks at more'}`;

/** Stages of a run; in the first of two passes a mapping's new records are sent without some fields. */
function orderOf({ mappings }: SyncSpec) {
  const { fields } = deferredReferences(mappings);
  return runningOrder(mappings).map(({ ahead, full }) => ({
    ahead: ahead.map((mapping) => ({ mapping, without: fields.get(mapping)! })),
    full,
  }));
}

const orderLine = (order: ReturnType<typeof orderOf>): string =>
  `order: ${order
    .map(({ ahead, full }) =>
      [...ahead.map((a) => `${a.mapping} without ${a.without.join(', ')}`), ...full].join(' + '),
    )
    .join(' -> ')}`;
