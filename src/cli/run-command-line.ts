/** Runs one command line and sets the exit code. */
import { CommanderError, type Command } from 'commander';
import { withoutPasswords } from '../domain/without-passwords.js';
import { EXIT, reportError } from './command-context.js';
import { createOutput } from './output.js';
import { createProgram } from './program.js';

/** `args` without the program's own name; none: help. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const program = strict(await createProgram(args[0]));
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      process.exitCode = reportError(createOutput(args.includes('--json')), error);
      return;
    }
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

/** Commander's own errors are wrong usage; asking for help or the version is not. */
function strict(command: Command): Command {
  command.exitOverride();
  // It quotes what it was given, and somebody may have given an address.
  command.configureOutput({ outputError: (text, write) => write(withoutPasswords(text)) });
  for (const sub of command.commands) strict(sub);
  return command;
}
