/** Runs one command line. */
import { CommanderError, type Command } from 'commander';
import { ERROR_CATALOGUE } from '../domain/errors.js';
import { withoutPasswords } from '../domain/values/without-passwords.js';
import { EXIT, reportError } from './command-context.js';
import { createOutput } from './output/output.js';
import { printable } from './output/text-table.js';
import { createProgram } from './program.js';

/**
 * Runs the command that `args` name, without the program's own name, and sets `process.exitCode`. Never rejects:
 * whatever a command throws is reported. Without arguments it prints the help.
 */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  if (args[0] === '--version' || args[0] === '-V') return printVersions(args.includes('--json'));
  const program = strict(await createProgram(args));
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      process.exitCode = reportError(createOutput(args.includes('--json')), error);
      return;
    }
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    // Commander has told people; programs read a document.
    if (error.exitCode !== 0 && args.includes('--json'))
      createOutput(true).result({ error: usageError(error) }, () => []);
  }
}

/** What is wrong with the command line, in the form of other errors. */
function usageError({ message }: CommanderError): object {
  const { remedy } = ERROR_CATALOGUE.input_invalid;
  const said = message === '(outputHelp)' ? 'a command is missing' : message.replace(/^error: /, '');
  return { code: 'input_invalid', message: withoutPasswords(said), remedy };
}

async function printVersions(json: boolean): Promise<void> {
  const { versionLines, versions } = await import('./versions.js');
  const { version, parts } = versions();
  createOutput(json).result({ partnerSync: version, parts }, () => versionLines({ version, parts }));
  process.exitCode = EXIT.done;
}

/**
 * Makes commander throw instead of exiting, so that wrong usage gets our exit code; asking for help or the version is
 * 0.
 */
function strict(command: Command): Command {
  command.exitOverride();
  // Commander quotes what it was given, and that may be an address with a password, or text that a terminal would obey.
  command.configureOutput({
    outputError: (text, write) => write(withoutPasswords(text).split('\n').map(printable).join('\n')),
  });
  for (const sub of command.commands) strict(sub);
  return command;
}
