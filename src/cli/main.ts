/** Entry of the command line. */
import { CommanderError, type Command } from 'commander';
import { EXIT } from './command-context.js';
import { createProgram } from './program.js';

/** Commander's own errors are wrong usage; asking for help or the version is not. */
function strict(command: Command): Command {
  command.exitOverride();
  for (const sub of command.commands) strict(sub);
  return command;
}

const program = strict(createProgram());
try {
  if (process.argv.length <= 2) program.outputHelp();
  else await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}
