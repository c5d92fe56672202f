/**
 * What people may do in the console. Each action is a command of partner-sync: the console asks, runs it as it shows it, and
 * shows what it prints. So an action does what the command does, and is in the audit as the command is.
 */
import { isSyncName } from '../../domain/values/names.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { HOLD_CAUSES } from '../../domain/sync/guard.js';
import { RUN_MODES } from '../../domain/sync/sync.js';

/** Something that a person fills in, or that the link to the action has filled in. */
export interface ActionField {
  readonly label: string;
  /** Filled in by the link and not to be changed. */
  readonly fixed?: true;
  readonly required?: true;
  readonly choices?: readonly string[];
  /** What is wrong with a value, after the label; undefined if nothing is. */
  readonly problem?: (value: string) => string | undefined;
}

/** The values of an action's fields; one that was left empty is absent. */
export type ActionValues = Readonly<Record<string, string>>;

export interface Action {
  readonly title: (values: ActionValues) => string;
  /** What happens, for whoever is asked. */
  readonly question: string;
  readonly fields: Readonly<Record<string, ActionField>>;
  /** The command's arguments. Values of options are attached to them, so that none is taken for another option. */
  readonly args: (values: ActionValues) => string[];
  /** Whether the command itself writes no entry of the audit, so that the console does. */
  readonly audited?: 'reconcile_started';
}

const named = (label: string): ActionField => ({
  label,
  fixed: true,
  problem: (value) => (isSyncName(value) ? undefined : 'is not a name'),
});
const SYNC = { sync: { ...named('Sync'), required: true } } as const;
/** Which run, as the page has shown it. */
const WORKFLOW = { workflow: { label: 'Workflow', fixed: true } } as const;
const REASON = { reason: { label: 'Reason' } } as const;

/** `--name=value`; nothing for a value that is absent. */
const option = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`];

/** Which run is meant, and why it is acted on. */
const ofRun = (values: ActionValues): string[] => ['workflow', 'reason'].flatMap((name) => option(name, values[name]));

const idProblem =
  (what: string) =>
  (value: string): string | undefined =>
    /^\d{1,18}$/.test(value) ? undefined : `is not the id of ${what}`;

/** The sync, which the field makes sure of. */
const syncOf = (values: ActionValues): string => values['sync']!;

export const ACTIONS = {
  run: {
    title: (values) => `Start a run of ${syncOf(values)}`,
    question: 'Rows that are new or changed are read and sent to the platform.',
    fields: { ...SYNC, mode: { label: 'Mode (empty: as sync.yaml says)', choices: RUN_MODES } },
    args: (values) => ['run', syncOf(values), ...option('mode', values['mode']), '--detach'],
  },
  pause: {
    title: (values) => `Pause the run of ${syncOf(values)}`,
    question: 'What the run has begun ends by itself; it begins nothing more until it is resumed. Nothing is lost.',
    fields: { ...SYNC, ...WORKFLOW, ...REASON },
    args: (values) => ['pause', syncOf(values), ...ofRun(values)],
  },
  resume: {
    title: (values) => `Resume the run of ${syncOf(values)}`,
    question: 'The run continues where it was paused.',
    fields: { ...SYNC, ...WORKFLOW, ...REASON },
    args: (values) => ['resume', syncOf(values), ...ofRun(values)],
  },
  stop: {
    title: (values) => `Stop the run of ${syncOf(values)}`,
    question:
      'The run is cancelled. One in mode live delivers what is left, and ends with its report; any other ends as failed, and the next run continues where it stopped.',
    fields: { ...SYNC, ...WORKFLOW, ...REASON },
    args: (values) => ['stop', syncOf(values), ...ofRun(values)],
  },
  approve: {
    title: (values) => `Let run ${values['run']} of ${syncOf(values)} continue with ${values['mapping']}`,
    question:
      'The run was put on hold because it would do more than the guard allows. It does it once you approve, unless it is on hold for something else by then.',
    fields: {
      ...SYNC,
      mapping: { ...named('Mapping'), required: true },
      run: { label: 'Run', fixed: true, required: true, problem: idProblem('a run') },
      cause: { label: 'On hold for', fixed: true, required: true, choices: HOLD_CAUSES },
      ...REASON,
    },
    args: (values) => [
      'approve',
      syncOf(values),
      values['mapping']!,
      ...['run', 'cause', 'reason'].flatMap((name) => option(name, values[name])),
      '--yes',
    ],
  },
  'approve-removals': {
    title: (values) => `Carry out removal plan ${values['plan'] ?? ''} of ${syncOf(values)}`,
    question: 'A run in mode mirror marks the records of the plan on the platform, as `deletes` of the mapping says.',
    fields: {
      ...SYNC,
      plan: {
        label: 'Removal plan',
        fixed: true,
        required: true,
        problem: idProblem('a plan'),
      },
    },
    args: (values) => ['run', syncOf(values), '--mode=mirror', ...option('approve', values['plan']), '--detach'],
  },
  replay: {
    title: (values) => `Replay dead letters of ${syncOf(values)}`,
    question:
      'Their rows are read again, mapped with the files as they are now, and sent. Those that are delivered are closed.',
    fields: {
      ...SYNC,
      mapping: named('Mapping'),
      code: { label: 'Code', fixed: true },
      field: { label: 'Field', fixed: true },
      tenant: { label: 'Tenant', fixed: true },
    },
    args: (values) => [
      'dead-letters',
      'replay',
      syncOf(values),
      ...['mapping', 'code', 'field', 'tenant'].flatMap((name) => option(name, values[name])),
      '--detach',
    ],
  },
  'pause-schedule': {
    title: (values) => `Pause the schedule ${values['name'] ?? ''} of ${syncOf(values)}`,
    question: 'It starts no runs until it is resumed. A run that is active continues.',
    fields: { ...SYNC, name: named('Schedule'), reason: { label: 'Reason', required: true } },
    args: (values) => ['schedules', 'pause', syncOf(values), values['name']!, ...option('reason', values['reason'])],
  },
  'resume-schedule': {
    title: (values) => `Resume the schedule ${values['name'] ?? ''} of ${syncOf(values)}`,
    question: 'It starts runs again.',
    fields: { ...SYNC, name: named('Schedule'), ...REASON },
    args: (values) => ['schedules', 'resume', syncOf(values), values['name']!, ...option('reason', values['reason'])],
  },
  'trigger-schedule': {
    title: (values) => `Start a run of the schedule ${values['name'] ?? ''} of ${syncOf(values)} now`,
    question: 'A run starts as if its time had come.',
    fields: { ...SYNC, name: named('Schedule') },
    args: (values) => ['schedules', 'trigger', syncOf(values), values['name']!],
  },
  reconcile: {
    title: (values) => `Reconcile ${syncOf(values)}`,
    question:
      'Every row is read and compared with what the platform has accepted. This reads the whole source, and may take minutes. Nothing is sent.',
    fields: {
      ...SYNC,
      readBack: {
        label: 'Records of each mapping to read back from the platform (empty: none)',
        problem: (value) => (/^([1-9]\d{0,5}|all)$/.test(value) ? undefined : 'must be a number, or all'),
      },
    },
    args: ({ readBack, ...values }) => [
      'reconcile',
      syncOf(values),
      ...(readBack === undefined ? [] : ['--read-back', ...(readBack === 'all' ? ['all'] : ['sample', readBack])]),
    ],
    audited: 'reconcile_started',
  },
} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

/** The action of the name. Throws `input_invalid` for any other. */
export function actionNamed(name: string): Action {
  if (Object.hasOwn(ACTIONS, name)) return ACTIONS[name as ActionName];
  throw new PartnerSyncError('input_invalid', `the console has no action "${name}"`);
}
