/** `partner-sync doctor`: whether everything that a run needs is there and well. */
import type { Command } from 'commander';
import { formatFinding } from '../../domain/finding.js';
import { lintSync } from '../../mapping/load-sync.js';
import { EXIT, look } from '../command-context.js';
import { fail, ok, type Examined } from '../doctor/examination.js';
import { examinePlatform, examineSchemas, examineState, examineTemporal } from '../doctor/examine-services.js';
import { examineSource } from '../doctor/examine-source.js';
import { counted } from '../counted.js';
import { printable } from '../table.js';
import type { LookingParts } from '../../compose.js';
import type { SyncSpec } from '../../domain/sync.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('see whether everything that a run needs is well')
    .description(
      'Looks at source, ledger, platform, Temporal, clocks and privileges, and asks each worker what it lacks: one line each, and what to do where something is wrong. Sends nothing to the platform and writes nothing.',
    )
    .argument('[sync]', 'folder in the mappings folder; without it the source is not looked at')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync doctor online-retail\n  partner-sync doctor\n\nExit codes: 0 nothing failed; 1 something did; 2 wrong usage or configuration',
    )
    .action(
      look<[string | undefined], { json?: boolean }>(async ({ parts, output }, name) => {
        const files = name === undefined ? null : await examineFiles(parts, name);
        const sync = files?.sync ?? null;
        const examined = [
          ok('node', process.versions.node),
          ...(files?.examined ?? []),
          ...(sync === null ? [] : await examineSource(sync)),
          ...(await examineState(parts)),
          ...(await examinePlatform(parts, sync)),
          ...(sync === null ? [] : await examineSchemas(parts, sync)),
          ...(await examineTemporal(parts, sync, name ?? null)),
        ];
        const failed = examined.filter((e) => e.health === 'FAIL').length;
        const warned = examined.filter((e) => e.health === 'warn').length;
        output.result({ ...(name !== undefined && { sync: name }), failed, warned, examined }, () => [
          ...examined.flatMap(examinedLines),
          '',
          `${failed} of ${examined.length} failed, ${warned} to look at. Nothing was changed.`,
        ]);
        return failed > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

async function examineFiles(
  parts: LookingParts,
  name: string,
): Promise<{ examined: Examined[]; sync: SyncSpec | null }> {
  const { sync, findings } = await lintSync(await parts.mappingsFolder(), name, parts.env);
  const errors = findings.filter((f) => f.severity === 'error');
  const examined =
    errors.length === 0
      ? ok('files', `${sync?.mappings.length ?? 0} mappings, version ${sync?.version.slice(0, 12)}`)
      : fail(
          'files',
          `${counted(errors.length, 'error')}, the first: ${formatFinding(errors[0]!)}`,
          `partner-sync check ${name}`,
        );
  return { examined: [examined], sync };
}

const examinedLines = ({ name, health, what, remedy }: Examined): string[] => [
  `  ${health.padEnd(4)}  ${name.padEnd(12)}  ${printable(what)}`,
  ...(remedy === undefined ? [] : [`        ${'do:'.padStart(12)}  ${printable(remedy)}`]),
];
