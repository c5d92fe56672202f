/** Ends a test file's process with the test run, since a run that is killed cannot end it. */
const end = (): never => process.exit(1);

// Several files run one after the other in a process, and this one is loaded for each.
if (!process.listeners('disconnect').some(({ name }) => name === end.name)) process.once('disconnect', end);
