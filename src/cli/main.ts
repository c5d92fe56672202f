/** Entry point of the command line: bin/partner-sync.js loads it, and tests load what it runs. */
import { runCommandLine } from './run-command-line.js';

// Whoever reads the output may stop, as `head` does: the command ends its work all the same, and parts are closed.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
await runCommandLine(process.argv.slice(2));
