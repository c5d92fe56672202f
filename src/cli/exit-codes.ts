/**
 * The exit codes. `--help`, `explain-code` and docs/commands.md list them, and tests compare the help and the page with
 * this table.
 */

/**
 * - `failed` covers every error that is not wrong usage, and results that a script must not take for success: findings
 *   of `check`, differences of `reconcile`, a run that ended incomplete.
 * - `deadLetters` is a run in which everything but dead letters was delivered, or a preview with rows that would fail.
 * - `interrupted` is 128 + SIGINT, as shells report it.
 */
export const EXIT = { done: 0, failed: 1, usage: 2, deadLetters: 3, interrupted: 130 } as const;

/** What each means, as docs/commands.md has it. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done and complete',
  failed: 'failed, wrong, or incomplete (records wait); `reconcile`: there are differences',
  usage: 'wrong usage or configuration',
  deadLetters: 'complete with dead letters',
  interrupted: 'interrupted; a run that was started continues in Temporal',
};

/** The paragraph on exit codes at the end of the help of commands that start runs. */
export const EXIT_HELP = `
Exit codes: 0 done and complete; 1 failed, wrong, or incomplete; 2 wrong usage or configuration;
            3 complete with dead letters; 130 interrupted`;
