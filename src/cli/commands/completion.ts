/** `partner-sync completion`: prints a script by which a shell completes commands, options and names. Exit codes: 0, 2. */
import { Argument, type Command } from 'commander';
import { SHELLS, shellScript, type Shell } from '../completion/shell-script.js';
import { wordsOf } from '../completion/words.js';

/** `createWhole` makes the program with all of its commands. */
export const addCompletion =
  (createWhole: () => Promise<Command>) =>
  (program: Command): void => {
    program
      .command('completion')
      .description('Prints a script that lets a shell complete commands, options, syncs and mappings.')
      .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
      .addHelpText(
        'after',
        '\nExamples:\n  partner-sync completion bash >> ~/.bashrc\n  partner-sync completion zsh >> ~/.zshrc\n  partner-sync completion fish > ~/.config/fish/completions/partner-sync.fish',
      )
      .action(async (shell: Shell) => {
        process.stdout.write(shellScript(shell, wordsOf(await createWhole())));
      });
  };
