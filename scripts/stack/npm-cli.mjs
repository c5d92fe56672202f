/** Finds npm's own program. Plain Node, no dependency. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The path of npm's program, for Node to run. Throws if it is not found. */
export function npmCli() {
  const besideNode = join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  const onWindows = join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js');
  // Set by `npm run`; under yarn or pnpm it names their program.
  const running = process.env.npm_execpath ?? '';
  const found = [...(running.endsWith('npm-cli.js') ? [running] : []), besideNode, onWindows].find((p) =>
    existsSync(p),
  );
  if (found === undefined) throw new Error('npm was not found beside Node. Run "npm ci", then this command again.');
  return found;
}
