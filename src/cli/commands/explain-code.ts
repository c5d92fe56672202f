/**
 * `partner-sync explain-code`: what a code means that a command, a log, Temporal or an alert has shown, whether it is
 * retried, and what to do. Needs nothing but the program itself. Exit codes: 0 explained, 2 no such code.
 */
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { explainedCodes, findCode, type ExplainedCode } from '../codes/explained-codes.js';
import { EXIT, reportError } from '../command-context.js';
import { createOutput } from '../output/output.js';
import { table } from '../output/text-table.js';

export function addExplainCode(program: Command): void {
  program
    .command('explain-code')
    .description(
      'Explains a code: of an error, a finding of check, an exit code, the outcome of a run or a row, a problem of status or a status of the platform. Without a code, lists all of them.',
    )
    .argument('[code...]', 'the code, or a line that begins with it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync explain-code source_unreachable\n  partner-sync explain-code 3\n  partner-sync explain-code',
    )
    .action((words: string[], { json }: { json?: boolean }) => {
      const output = createOutput(json === true);
      const all = explainedCodes();
      try {
        const given = words.join(' ');
        const codes = given === '' ? all : findCode(given, all);
        output.result({ codes }, () => (given === '' ? listLines(all) : codes.flatMap(codeLines)));
        process.exitCode = EXIT.done;
      } catch (error) {
        if (!(error instanceof PartnerSyncError)) throw error;
        process.exitCode = reportError(output, error);
      }
    });
}

/** All codes, in their groups. */
function listLines(all: readonly ExplainedCode[]): string[] {
  const groups = [...new Set(all.map(({ group }) => group))];
  return groups.flatMap((group) => [
    `${group}:`,
    ...table(
      ['', ''],
      all.filter((each) => each.group === group).map(({ code, meaning }) => [`  ${code}`, meaning]),
    ).slice(1),
    '',
  ]);
}

const codeLines = ({ code, group, meaning, retry, remedy, page }: ExplainedCode, index: number): string[] => [
  ...(index === 0 ? [] : ['']),
  `${code} (${group})`,
  `  ${meaning}`,
  ...(retry === null ? [] : [`  Retry: ${RETRIES[retry]}`]),
  ...(remedy === null ? [] : [`  What to do: ${remedy}`]),
  `  More: ${page}`,
];

const RETRIES = {
  later: 'automatic; the same call may succeed later',
  never: 'none; something must change first',
} as const;
