/** The command that would do or show the same in a terminal. */
import { commandLine } from '../../domain/values/command-line.js';

export const CommandLine = ({ args }: { readonly args: readonly string[] }) => (
  <p class="command">
    The same in a terminal: <code>{commandLine(args)}</code>
  </p>
);
