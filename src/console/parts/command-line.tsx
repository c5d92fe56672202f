/** The command that would do or show the same in a terminal. */

/** An argument as a POSIX shell takes it. */
const quoted = (argument: string): string =>
  /^[\w./:@%+,=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** `partner-sync run shop --mode full`. */
export const commandLine = (args: readonly string[]): string => ['partner-sync', ...args].map(quoted).join(' ');

export const CommandLine = ({ args }: { readonly args: readonly string[] }) => (
  <p class="command">
    The same in a terminal: <code>{commandLine(args)}</code>
  </p>
);
