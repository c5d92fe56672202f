/** What can be completed after each command, taken from the program itself. */
import type { Command, Option } from 'commander';

/** What the value of an option or argument is taken from: these words, names that are on disk, or anything. */
export type Values = readonly string[] | 'syncs' | 'mappings' | 'files' | null;

/** A command of the program, at any depth. */
export interface CommandWords {
  /** `schema push`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly { readonly name: string; readonly description: string; readonly values: Values }[];
  /** What the arguments are taken from, in order. */
  readonly args: readonly Values[];
}

/** The command and all below it. */
export function wordsOf(command: Command, path: readonly string[] = []): CommandWords[] {
  const own = {
    path: path.join(' '),
    subcommands: command.commands.map((sub) => ({ name: sub.name(), summary: sub.summary() || sub.description() })),
    options: [
      ...command.options.map((option) => ({
        name: option.long ?? option.short!,
        description: option.description,
        values: valuesOf(option),
      })),
      { name: '--help', description: 'display help for command', values: null },
    ],
    args: command.registeredArguments.map((argument) => argument.argChoices ?? VALUES[argument.name()] ?? null),
  };
  return [own, ...command.commands.flatMap((sub) => wordsOf(sub, [...path, sub.name()]))];
}

/** By the name of an argument or of an option's value. */
const VALUES: Readonly<Record<string, Values>> = {
  sync: 'syncs',
  mapping: 'mappings',
  mappings: 'mappings',
  file: 'files',
  folder: 'files',
};

function valuesOf(option: Option): Values {
  if (!option.required && !option.optional) return null;
  if (option.argChoices !== undefined) return option.argChoices;
  return option.attributeName() === 'mapping'
    ? 'mappings'
    : (choicesOf(option) ?? VALUES[/<(\w+)/.exec(option.flags)?.[1] ?? ''] ?? 'files');
}

/** The words that the parser of an option names when it refuses one: it declares them once, for both. */
function choicesOf({ parseArg }: Option): readonly string[] | null {
  try {
    parseArg?.('\0', undefined);
  } catch (error) {
    const listed = /Allowed: ([a-z][\w-]*(?:, [a-z][\w-]*)+)\./.exec((error as Error).message)?.[1];
    if (listed !== undefined) return listed.split(', ');
  }
  return null;
}
