/** The options that select dead letters, shared by `list`, `export`, `replay` and `drop`. */
import type { Command } from 'commander';
import type { DeadLetterFilter } from '../../../domain/records/dead-letter.js';
import { ERROR_CATALOGUE } from '../../../domain/errors.js';
import { choice, since } from '../../arguments.js';

/** The options as commander parses them. `since` is already an ISO 8601 timestamp. */
export interface FilterFlags {
  json?: boolean;
  mapping?: string[];
  code?: string[];
  field?: string[];
  tenant?: string[];
  since?: string;
}

/**
 * Adds the argument `<sync>` and the filter's options, so that the same words select the same dead letters everywhere.
 */
export const withFilter = (command: Command): Command =>
  command
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only of these mappings')
    .option('--code <code...>', 'only with these codes: record_invalid, platform_refused ...', eachCode)
    .option('--field <pointer...>', 'only of these fields: /email')
    .option('--tenant <id...>', 'only of these tenants')
    .option('--since <time>', 'only those last seen at this time or later; 2h is two hours ago', since)
    .option('--json', 'print one JSON document');

/** Checked against the catalogue: a misspelled code would select nothing, which looks as if all were well. */
const code = choice(Object.keys(ERROR_CATALOGUE));
const eachCode = (value: string, before: readonly string[] = []): string[] => [...before, code(value)];

/**
 * The filter that the options make. An absent option does not restrict it; several values of one option are
 * alternatives.
 */
export const filterOf = ({ mapping, code, field, tenant, since: from }: FilterFlags): DeadLetterFilter => ({
  ...(mapping && { mappings: mapping }),
  ...(code && { codes: code }),
  ...(field && { fields: field }),
  ...(tenant && { tenants: tenant }),
  ...(from !== undefined && { since: from }),
});

/** The filter as options with a leading space, for commands that are suggested to the reader; empty for no filter. */
export const flagsOf = ({ mappings, codes, fields, tenants, since: from }: DeadLetterFilter): string =>
  [
    mappings && ` --mapping ${mappings.join(' ')}`,
    codes && ` --code ${codes.join(' ')}`,
    fields && ` --field ${fields.join(' ')}`,
    tenants && ` --tenant ${tenants.join(' ')}`,
    from && ` --since ${from}`,
  ]
    .filter(Boolean)
    .join('');
