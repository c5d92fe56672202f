/** Entry point of the command line, which bin/partner-sync.js loads. */
import { runCommandLine } from './run-command-line.js';

await runCommandLine(process.argv.slice(2));
