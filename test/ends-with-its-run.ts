/** Ends a test file's process with the test run, since a run that is killed cannot end it. */
process.once('disconnect', () => process.exit(1));
