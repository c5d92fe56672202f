/** Commands as people copy them: whatever an argument contains, a shell passes it on and does nothing else with it. */

/** An argument as a POSIX shell takes it. */
const quoted = (argument: string): string =>
  /^[\w./:@%+,=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** `partner-sync run shop --mode full`. */
export const commandLine = (args: readonly string[]): string => ['partner-sync', ...args].map(quoted).join(' ');
