/** The options by which the commands of dead letters choose, and the filter that they make. */
import type { Command } from 'commander';
import type { DeadLetterFilter } from '../../../domain/dead-letter.js';
import { ERROR_CATALOGUE } from '../../../domain/errors.js';
import { choice, since } from '../../arguments.js';

export interface FilterFlags {
  json?: boolean;
  mapping?: string[];
  code?: string[];
  field?: string[];
  since?: string;
}

export const withFilter = (command: Command): Command =>
  command
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only those of these mappings')
    .option('--code <code...>', 'only those with these codes: record_invalid, platform_refused ...', eachCode)
    .option('--field <pointer...>', 'only those of these fields: /email')
    .option('--since <time>', 'only those seen at this time or later; 2h is two hours ago', since)
    .option('--json', 'print one JSON document');

const code = choice(Object.keys(ERROR_CATALOGUE));
const eachCode = (value: string, before: readonly string[] = []): string[] => [...before, code(value)];

export const filterOf = ({ mapping, code, field, since: from }: FilterFlags): DeadLetterFilter => ({
  ...(mapping && { mappings: mapping }),
  ...(code && { codes: code }),
  ...(field && { fields: field }),
  ...(from !== undefined && { since: from }),
});

/** The same options as text, for the commands that are suggested. */
export const flagsOf = ({ mappings, codes, fields, since: from }: DeadLetterFilter): string =>
  [
    mappings && ` --mapping ${mappings.join(' ')}`,
    codes && ` --code ${codes.join(' ')}`,
    fields && ` --field ${fields.join(' ')}`,
    from && ` --since ${from}`,
  ]
    .filter(Boolean)
    .join('');
