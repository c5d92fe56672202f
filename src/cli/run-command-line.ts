/** Runs one command line. */
import { CommanderError, type Command } from 'commander';
import { withoutPasswords } from '../domain/values/without-passwords.js';
import { EXIT, reportError } from './command-context.js';
import { createOutput } from './output/output.js';
import { createProgram } from './program.js';

/**
 * Runs the command that `args` name, without the program's own name, and sets `process.exitCode`. Never rejects:
 * whatever a command throws is reported. Without arguments it prints the help.
 */
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

/**
 * Makes commander throw instead of exiting, so that wrong usage gets our exit code; asking for help or the version is
 * 0.
 */
function strict(command: Command): Command {
  command.exitOverride();
  // Commander quotes what it was given, and that may be an address with a password.
  command.configureOutput({ outputError: (text, write) => write(withoutPasswords(text)) });
  for (const sub of command.commands) strict(sub);
  return command;
}
