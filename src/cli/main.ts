/** Entry of the command line. */
import { runCommandLine } from './run-command-line.js';

await runCommandLine(process.argv.slice(2));
