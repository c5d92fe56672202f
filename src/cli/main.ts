/** Entry point of the command line: bin/partner-sync.js loads it, and tests load what it runs. */
import { runCommandLine } from './run-command-line.js';

await runCommandLine(process.argv.slice(2));
