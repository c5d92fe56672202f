/**
 * `partner-sync platform`: a command for each operation of the platform's interface, derived from the contract.
 *
 * A new operation in src/platform/contract/ is a new command without any code here: path parameters become arguments,
 * query and body fields become options. Calls need the platform and a token only; retries are off, see
 * run-operation.ts. Exit codes: 0 done, 1 the platform rejected the call or could not be reached, 2 wrong usage or
 * configuration.
 */
import { Argument, type Command } from 'commander';
import type { Operation } from '../../platform/contract/operation.js';
import { operationEntries, type OperationName } from '../../platform/contract/operations.js';
import { withParts } from '../command-context.js';
import { kebab, optionsOf } from '../platform/flags.js';
import { runOperation, type OperationFlags } from '../platform/run-operation.js';
import { addWait } from '../platform/wait.js';

export function addPlatform(program: Command): void {
  const platform = program
    .command('platform')
    .description(
      "Calls any operation of the platform's interface. The token comes from PLATFORM_TOKEN, or from the file that PLATFORM_TOKEN_FILE names.",
    );
  for (const entry of operationEntries) addOperation(platform, entry);
  addWait(groupOf(platform, 'batches'));
  // As a function: it runs when help is printed, after all operations were added.
  platform.addHelpText('after', () => `\n${operationLines(platform).join('\n')}\n\n${EXAMPLES}`);
}

const EXAMPLES = `Examples:
  partner-sync platform usage list --start-date 2026-03-01 --all
  partner-sync platform segments from-text --text "customers in France who have an email"
  partner-sync platform resources upload customer --data @customers.json --dependency-wait-timeout 60`;

/** All operations with their summaries, since the names of the groups alone would say little. */
function operationLines(platform: Command): string[] {
  const commands = platform.commands.flatMap((group) =>
    group.commands.map((command) => [`${group.name()} ${command.name()}`, command.summary()] as const),
  );
  const width = Math.max(...commands.map(([name]) => name.length));
  return ['Operations:', ...commands.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)];
}

/**
 * One command. `--data` gives the whole body at once; options for single fields override it, so that a stored body can
 * be reused with one field changed.
 */
function addOperation(platform: Command, entry: readonly [OperationName, Operation]): void {
  const [, operation] = entry;
  const [group, verb] = operation.command.split(' ') as [string, string];
  const command = groupOf(platform, group)
    .command(verb)
    .summary(operation.summary)
    .description([operation.summary, operation.description].filter(Boolean).join(' '));
  for (const [name, field] of Object.entries(operation.params.properties))
    command.addArgument(new Argument(`<${kebab(name)}>`, (field as { description?: string }).description));
  for (const option of optionsOf(operation.query)) command.addOption(option);
  if (operation.body !== null) {
    for (const option of optionsOf(operation.body)) command.addOption(option);
    command.option(
      '--data <json>',
      'the whole body: JSON, @file or - for stdin; options for single fields override it',
    );
  }
  if (operation.scope === 'tenant') command.option('--tenant <id>', 'tenant to act for (default: PLATFORM_TENANT)');
  else if (operation.tenantFilter) command.option('--tenant <id>', 'limit the result to this tenant');
  if (operation.pages !== undefined) command.option('--all', 'fetch all pages');
  command
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nplatform-api.md ${operation.section}: ${operation.method} ${operation.path}`)
    .action(
      withParts<string[], OperationFlags>((context, ...given) =>
        runOperation(context, entry, given.slice(0, -1) as string[], given.at(-1) as OperationFlags),
      ),
    );
}

/**
 * The command that holds a group, such as `batches` of `platform batches get`; it is added with its first operation and
 * hidden, because the list of all operations is printed instead.
 */
function groupOf(platform: Command, name: string): Command {
  const found = platform.commands.find((command) => command.name() === name);
  return found ?? platform.command(name, { hidden: true }).description(`Operations of ${name.replaceAll('-', ' ')}.`);
}
