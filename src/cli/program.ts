/** The command line's commands, in the groups in which people look for them. */
import { Command } from 'commander';
import { EXIT_HELP } from './command-context.js';
import { packageVersion } from './package-version.js';

type Add = (program: Command) => void;

/** The commands by group, each loaded when it is needed: a worker needs no sandbox, and loading all takes a second. */
const GROUPS: Record<string, Record<string, () => Promise<Add>>> = {
  Start: {
    dev: async () => (await import('./commands/dev.js')).addDev,
    demo: async () => (await import('./commands/demo.js')).addDemo,
  },
  Author: {
    init: async () => (await import('./commands/init.js')).addInit,
    check: async () => (await import('./commands/check.js')).addCheck,
    doctor: async () => (await import('./commands/doctor.js')).addDoctor,
    schema: async () => (await import('./commands/schema.js')).addSchema,
    mapping: async () => (await import('./commands/mapping.js')).addMapping,
    preview: async () => (await import('./commands/preview.js')).addPreview,
  },
  Run: {
    run: async () => (await import('./commands/run.js')).addRun,
    backfill: async () => (await import('./commands/run.js')).addBackfill,
    pause: async () => (await import('./commands/control.js')).addPause,
    resume: async () => (await import('./commands/control.js')).addResume,
    'set-rate': async () => (await import('./commands/set-rate.js')).addSetRate,
    approve: async () => (await import('./commands/approve.js')).addApprove,
    schedules: async () => (await import('./commands/schedules.js')).addSchedules,
  },
  Repair: {
    removals: async () => (await import('./commands/removals.js')).addRemovals,
    'dead-letters': async () => (await import('./commands/dead-letters.js')).addDeadLetters,
    prune: async () => (await import('./commands/prune.js')).addPrune,
    forget: async () => (await import('./commands/forget.js')).addForget,
    explain: async () => (await import('./commands/explain.js')).addExplain,
  },
  Prove: {
    reconcile: async () => (await import('./commands/reconcile.js')).addReconcile,
    status: async () => (await import('./commands/status.js')).addStatus,
    audit: async () => (await import('./commands/audit.js')).addAudit,
  },
  Operate: {
    alerts: async () => (await import('./commands/alerts.js')).addAlerts,
    worker: async () => (await import('./commands/worker.js')).addWorker,
    sandbox: async () => (await import('./commands/sandbox.js')).addSandbox,
    platform: async () => (await import('./commands/platform.js')).addPlatform,
  },
};

/**
 * The program with just the command that `first`, the first argument, names; with all commands for the help and for any
 * other word.
 */
export async function createProgram(first?: string): Promise<Command> {
  const program = new Command('partner-sync')
    .description("Keeps a messaging platform exactly in sync with a partner's own SQL database.")
    .version(packageVersion())
    .showSuggestionAfterError()
    // Options after a subcommand belong to it: `sandbox load --state-url` would otherwise set the option of `sandbox`.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `\nFirst steps: npx partner-sync demo (everything on this machine), then npx partner-sync dev.\n${EXIT_HELP}`,
    );
  if (first === '--version' || first === '-V') return program;
  const named = Object.values(GROUPS).find((commands) => first !== undefined && Object.hasOwn(commands, first));
  if (named !== undefined) {
    (await named[first!]!())(program);
    return program;
  }
  for (const [group, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(`${group}:`);
    for (const load of Object.values(commands)) (await load())(program);
  }
  return program;
}
