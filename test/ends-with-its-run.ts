/** A test file's process ends with the run that it is part of: killed, the run could not end it. */
process.once('disconnect', () => process.exit(1));
