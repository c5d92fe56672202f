/** `partner-sync platform`: every operation of the platform's interface, made from the contract. */
import { Argument, type Command } from 'commander';
import type { Operation } from '../../platform/contract/operation.js';
import { operationEntries, type OperationName } from '../../platform/contract/operations.js';
import { action } from '../command-context.js';
import { kebab, optionsOf } from '../platform/flags.js';
import { runOperation, type OperationFlags } from '../platform/run-operation.js';
import { addWait } from '../platform/wait.js';

export function addPlatform(program: Command): void {
  const platform = program
    .command('platform')
    .summary("calls the platform's operations")
    .description(
      "Calls any operation of the platform's interface. The token comes from PLATFORM_TOKEN, or from the file that PLATFORM_TOKEN_FILE names.",
    );
  for (const entry of operationEntries) addOperation(platform, entry);
  addWait(groupOf(platform, 'batches'));
  platform.addHelpText('after', () => `\n${operationLines(platform).join('\n')}\n\n${EXAMPLES}`);
}

const EXAMPLES = `Examples:
  partner-sync platform usage list --start-date 2026-03-01 --all
  partner-sync platform segments from-text --text "customers in France who have an email"
  partner-sync platform resources upload customer --data @customers.json --dependency-wait-timeout 60`;

/** The commands with what they do; the groups alone would say little. */
function operationLines(platform: Command): string[] {
  const commands = platform.commands.flatMap((group) =>
    group.commands.map((command) => [`${group.name()} ${command.name()}`, command.summary()] as const),
  );
  const width = Math.max(...commands.map(([name]) => name.length));
  return ['Operations:', ...commands.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)];
}

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
    command.option('--data <json>', 'the whole body: JSON, @file or - for stdin; flags of fields go before it');
  }
  if (operation.scope === 'tenant') command.option('--tenant <id>', 'tenant to act for (default: PLATFORM_TENANT)');
  else if (operation.tenantFilter) command.option('--tenant <id>', 'limits the result to this tenant');
  if (operation.pages !== undefined) command.option('--all', 'fetch all pages');
  command
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nplatform-api.md ${operation.section}: ${operation.method} ${operation.path}`)
    .action(
      action<string[], OperationFlags>((context, ...given) =>
        runOperation(context, entry, given.slice(0, -1) as string[], given.at(-1) as OperationFlags),
      ),
    );
}

/** `batches` of `platform batches get`; made when its first operation comes. */
function groupOf(platform: Command, name: string): Command {
  const found = platform.commands.find((command) => command.name() === name);
  return found ?? platform.command(name, { hidden: true }).description(`Operations of ${name.replaceAll('-', ' ')}.`);
}
