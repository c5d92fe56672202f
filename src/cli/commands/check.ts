/** `partner-sync check`: all findings about a sync's files at once, held against the live source where it answers. */
import type { Command } from 'commander';
import { formatFinding, type Finding } from '../../domain/finding.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { checkColumns } from '../../mapping/check-columns.js';
import { lintSync, type LintResult } from '../../mapping/load-sync.js';
import { openSource } from '../../source/open-source.js';
import type { SyncSpec } from '../../domain/sync.js';
import { EXIT, look } from '../command-context.js';
import { printable } from '../table.js';

export function addCheck(program: Command): void {
  program
    .command('check')
    .summary("find what is wrong in a sync's files")
    .description(
      "Checks a sync's files, and its mappings against the columns of the live source. Sends and writes nothing.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--offline', 'do not connect to the source')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync check online-retail\n  partner-sync check online-retail --offline --json\n\nExit codes: 0 no errors; 1 errors found; 2 wrong usage or configuration',
    )
    .action(
      look<[string], { json?: boolean; offline?: boolean }>(async ({ parts, output }, name, options) => {
        const lint = await lintSync(await parts.mappingsFolder(), name, parts.env);
        const findings = [...lint.findings];
        if (lint.sync !== null && !options.offline) findings.push(...(await checkSource(lint.sync, lint)));
        const errors = findings.filter((f) => f.severity === 'error').length;
        const skipped = options.offline
          ? 'not compared with the source (--offline)'
          : lint.sync === null
            ? 'not compared with the source: correct the files first'
            : null;
        output.result(
          { sync: name, findings, errors, warnings: findings.length - errors, ...(skipped && { skipped }) },
          () => [
            ...findings.map((f) => printable(formatFinding(f))),
            ...(findings.length > 0 ? [''] : []),
            `${errors} errors, ${findings.length - errors} warnings${skipped ? `; ${skipped}` : ''}. Nothing was sent.`,
          ],
        );
        return errors > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

async function checkSource(sync: SyncSpec, { locate }: LintResult): Promise<Finding[]> {
  const source = openSource(sync.source);
  try {
    const findings: Finding[] = [];
    for (const mapping of sync.mappings) {
      try {
        findings.push(...checkColumns(mapping, sync.tenant, await source.describe(mapping.relation), locate));
      } catch (error) {
        if (!(error instanceof PartnerSyncError)) throw error;
        findings.push({
          severity: 'error',
          kind: error.code,
          file: mapping.file,
          ...locate(mapping.file, ['source']),
          path: 'source',
          message: error.message,
        });
        if (error.code === 'source_unreachable') break;
      }
    }
    return findings;
  } finally {
    await source.close();
  }
}
