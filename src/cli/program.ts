/** The command line's commands, in the groups in which people look for them. */
import { Command } from 'commander';
import { EXIT_HELP } from './exit-codes.js';
import { packageVersion } from '../config/package-version.js';

type Add = (program: Command) => void;

/** What the program's help shows of a command, and what adds it. */
interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Add>;
}

/** The commands by group, each loaded when it is needed: a worker needs no sandbox, and loading all takes a second. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Entry>>>> = {
  Start: {
    new: {
      summary: 'lay out a project of your own',
      load: async () => (await import('./commands/new.js')).addNew,
    },
    dev: {
      summary: 'keep ledger, Temporal, sandbox and a worker up for your syncs',
      load: async () => (await import('./commands/dev.js')).addDev,
    },
    demo: {
      summary: 'sync a real shop and verify every record, on this machine',
      load: async () => (await import('./commands/demo.js')).addDemo,
    },
  },
  Author: {
    init: {
      summary: 'write a first sync for a database',
      load: async () => (await import('./commands/init.js')).addInit,
    },
    check: {
      summary: "find what is wrong in a sync's files",
      load: async () => (await import('./commands/check.js')).addCheck,
    },
    doctor: {
      summary: 'check everything that a run needs',
      load: async () => (await import('./commands/doctor.js')).addDoctor,
    },
    schema: {
      summary: 'push and compare schema definitions',
      load: async () => (await import('./commands/schema.js')).addSchema,
    },
    changes: {
      summary: 'install, show and remove the change feeds of a sync',
      load: async () => (await import('./commands/changes.js')).addChanges,
    },
    mapping: {
      summary: 'test mappings',
      load: async () => (await import('./commands/mapping.js')).addMapping,
    },
    preview: {
      summary: 'show what a run would send',
      load: async () => (await import('./commands/preview.js')).addPreview,
    },
  },
  Run: {
    run: {
      summary: 'bring the platform in sync with the source now',
      load: async () => (await import('./commands/run.js')).addRun,
    },
    backfill: {
      summary: 'load a range or a list of records again',
      load: async () => (await import('./commands/run.js')).addBackfill,
    },
    pause: {
      summary: 'pause the active run',
      load: async () => (await import('./commands/control.js')).addPause,
    },
    resume: {
      summary: 'resume a paused run',
      load: async () => (await import('./commands/control.js')).addResume,
    },
    stop: {
      summary: 'cancel the active run',
      load: async () => (await import('./commands/stop.js')).addStop,
    },
    'set-rate': {
      summary: 'change the request rate of the active run',
      load: async () => (await import('./commands/set-rate.js')).addSetRate,
    },
    approve: {
      summary: 'let a run on hold continue',
      load: async () => (await import('./commands/approve.js')).addApprove,
    },
    schedules: {
      summary: 'manage scheduled runs',
      load: async () => (await import('./commands/schedules.js')).addSchedules,
    },
  },
  Repair: {
    removals: {
      summary: 'show removal plans that are awaiting approval',
      load: async () => (await import('./commands/removals.js')).addRemovals,
    },
    'dead-letters': {
      summary: 'rows that could not be delivered',
      load: async () => (await import('./commands/dead-letters.js')).addDeadLetters,
    },
    prune: {
      summary: 'remove old entries from the ledger',
      load: async () => (await import('./commands/prune.js')).addPrune,
    },
    forget: {
      summary: 'remove what the ledger knows about a person, a tenant or a sync',
      load: async () => (await import('./commands/forget.js')).addForget,
    },
    relocate: {
      summary: 'tell the ledger that the platform has a new address',
      load: async () => (await import('./commands/relocate.js')).addRelocate,
    },
    explain: {
      summary: 'explain why a record is, or is not, on the platform',
      load: async () => (await import('./commands/explain.js')).addExplain,
    },
    'explain-code': {
      summary: 'explain an error code, an exit code or any other code',
      load: async () => (await import('./commands/explain-code.js')).addExplainCode,
    },
  },
  Prove: {
    reconcile: {
      summary: 'prove that source and platform agree',
      load: async () => (await import('./commands/reconcile.js')).addReconcile,
    },
    report: {
      summary: 'show what a run did over time, also as an HTML file',
      load: async () => (await import('./commands/report.js')).addReport,
    },
    status: {
      summary: 'show the latest runs and the state of each mapping',
      load: async () => (await import('./commands/status.js')).addStatus,
    },
    audit: {
      summary: 'show who has done what',
      load: async () => (await import('./commands/audit.js')).addAudit,
    },
  },
  Operate: {
    console: {
      summary: 'serve web pages about syncs, runs and records',
      load: async () => (await import('./commands/console.js')).addConsole,
    },
    alerts: {
      summary: 'list alerts, and try out their targets',
      load: async () => (await import('./commands/alerts.js')).addAlerts,
    },
    worker: {
      summary: 'carry out runs',
      load: async () => (await import('./commands/worker.js')).addWorker,
    },
    sandbox: {
      summary: 'serve a stand-in for the platform, for development',
      load: async () => (await import('./commands/sandbox.js')).addSandbox,
    },
    platform: {
      summary: "call the platform's operations",
      load: async () => (await import('./commands/platform.js')).addPlatform,
    },
    completion: {
      summary: 'complete commands with the Tab key',
      load: async () => (await import('./commands/completion.js')).addCompletion(createWholeProgram),
    },
  },
};

/**
 * The program for these arguments: with the one command that they name, or for the help and for an unknown word with the
 * names and summaries of all of them, which need no modules.
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = emptyProgram();
  const named = args.find((word) => word !== 'help' && word !== '--');
  const entry = Object.values(GROUPS)
    .flatMap((commands) => Object.entries(commands))
    .find(([name]) => name === named)?.[1];
  if (entry !== undefined) {
    (await entry.load())(program);
    return program;
  }
  for (const [group, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(`${group}:`);
    for (const [name, { summary }] of Object.entries(commands)) program.command(name).summary(summary);
  }
  return program;
}

/** The program with all of its commands, complete, which takes a second to load. */
export async function createWholeProgram(): Promise<Command> {
  const program = emptyProgram();
  for (const commands of Object.values(GROUPS))
    for (const [name, { summary, load }] of Object.entries(commands)) {
      (await load())(program);
      program.commands.find((command) => command.name() === name)!.summary(summary);
    }
  return program;
}

function emptyProgram(): Command {
  return (
    new Command('partner-sync')
      .description("Keeps a messaging platform exactly in sync with a partner's own SQL database.")
      .version(
        packageVersion(),
        '-V, --version',
        'print the version, and those of what it is made of; also with --json',
      )
      .showSuggestionAfterError()
      // Options after a subcommand belong to it: `sandbox load --state-url` would otherwise set the option of `sandbox`.
      .enablePositionalOptions()
      .addHelpText(
        'after',
        `\nFirst steps: npx partner-sync demo (everything on this machine), then npx partner-sync dev.\n${EXIT_HELP}`,
      )
  );
}
