/**
 * `partner-sync doctor`: checks everything that a run needs, and reports all of it at once.
 *
 * Looks at the sync's files, the source, the ledger, the platform (by GET only), Temporal and each worker. Nothing
 * needs to be running: what cannot be reached is a line of the report. Writes nothing except, in Temporal, a short-lived
 * workflow that asks the workers, and with --fix the search attributes. Exit codes: 0 if nothing failed (warnings do not
 * count), 1 if something did, 2 for wrong usage.
 */
import type { Command } from 'commander';
import { formatFinding } from '../../domain/sync/finding.js';
import { namedVariables } from '../../mapping/kept-files.js';
import { checkSyncFiles } from '../../mapping/load-sync.js';
import { EXIT, withViewParts } from '../command-context.js';
import { fail, ok, type Examined } from '../doctor/examination.js';
import {
  examinePlatform,
  examineSchemas,
  examineState,
  examineTenants,
  examineTemporal,
} from '../doctor/examine-services.js';
import { examineSource } from '../doctor/examine-source.js';
import { quantity } from '../../domain/values/quantity.js';
import { printable } from '../output/text-table.js';
import type { ViewParts } from '../../composition/parts.js';
import type { SyncSpec } from '../../domain/sync/sync.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'Checks source, ledger, platform, Temporal, clocks and privileges, and asks each worker whether it has what it needs: one line each, with a remedy where something is wrong. Sends nothing to the platform; writes nothing, unless --fix asks for it.',
    )
    .argument('[sync]', 'folder in the mappings folder; without it the source is not checked')
    .option('--fix', "register missing search attributes in Temporal's namespace")
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync doctor online-retail\n  partner-sync doctor\n\nExit codes: 0 nothing failed; 1 something did; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string | undefined], { json?: boolean; fix?: boolean }>(
        async ({ parts, output }, name, { fix = false }) => {
          const files = name === undefined ? null : await examineFiles(parts, name);
          const sync = files?.sync ?? null;
          const examined = [
            ok('node', process.versions.node),
            ...(files?.examined ?? []),
            ...(sync === null ? [] : await examineSource(parts, sync)),
            ...(await examineState(parts)),
            ...(await examinePlatform(parts, sync)),
            ...(sync === null ? [] : await examineTenants(parts, sync)),
            ...(sync === null ? [] : await examineSchemas(parts, sync)),
            ...(await examineTemporal(parts, {
              asked: name ?? null,
              sync,
              variables: files?.variables ?? [],
              env: parts.env,
              note: (line) => output.note(line),
              fix,
            })),
          ];
          const failed = examined.filter((e) => e.health === 'FAIL').length;
          const warned = examined.filter((e) => e.health === 'warn').length;
          output.result({ ...(name !== undefined && { sync: name }), failed, warned, examined }, () => [
            ...examined.flatMap(examinedLines),
            '',
            `${failed} of ${quantity(examined.length, 'check')} failed, ${quantity(warned, 'warning')}.${fix ? '' : ' Nothing was changed.'}`,
          ]);
          return failed > 0 ? EXIT.failed : EXIT.done;
        },
      ),
    );
}

interface ExaminedFiles {
  readonly examined: readonly Examined[];
  readonly sync: SyncSpec | null;
  /** The variables that the files name. */
  readonly variables: readonly string[];
}

/**
 * The sync as loaded from its files, or null if they have errors; the checks of the source are then skipped, as they
 * cannot be made without them.
 */
async function examineFiles(parts: ViewParts, name: string): Promise<ExaminedFiles> {
  const { sync, files, findings } = await checkSyncFiles(await parts.mappingsFolder(), name, parts.env);
  const errors = findings.filter((f) => f.severity === 'error');
  const examined =
    errors.length === 0
      ? ok('files', `${quantity(sync?.mappings.length ?? 0, 'mapping')}, version ${sync?.version.slice(0, 12)}`)
      : fail(
          'files',
          `${quantity(errors.length, 'error')}, first:  ${formatFinding(errors[0]!)}`,
          `partner-sync check ${name}`,
        );
  return { examined: [examined], sync, variables: files === null ? [] : namedVariables(files) };
}

const examinedLines = ({ name, health, what, remedy }: Examined): string[] => [
  `  ${health.padEnd(4)}  ${name.padEnd(12)}  ${printable(what)}`,
  ...(remedy === undefined ? [] : [`        ${'do:'.padStart(12)}  ${printable(remedy)}`]),
];
