/** Concludes from source, ledger and platform what state a record is in, why it is in it, and what to do next. */
import type { ExplainedRecord, Explanation } from '../../../inspection/explain-record.js';
import { commandLine } from '../../../domain/values/command-line.js';
import { PARENT_REASONS } from '../../../domain/records/parent.js';
import { holdLine } from '../../../domain/sync/guard.js';
import { removesRecords, type SyncSpec } from '../../../domain/sync/sync.js';
import { pausedRunLine } from '../../output/paused-run-line.js';
import { removalLines } from '../../output/removal-lines.js';
import type { Obstacles } from './obstacles.js';

/** The conclusion on one record. `why` is a sentence, `next` are lines with commands to copy. */
export interface Conclusion {
  /** Whether the platform has the record as its row says, or has accepted its removal if the row is gone. */
  readonly delivered: boolean;
  /** For programs (`--json`). `altered_on_platform`: accepted from us, but something else is stored there now. */
  readonly state:
    | 'delivered'
    | 'being_sent'
    | 'waiting'
    | 'dead_letter'
    | 'unmappable'
    | 'changed_since'
    | 'altered_on_platform'
    | 'not_sent_yet'
    | 'removed'
    | 'row_gone'
    | 'never_seen';
  readonly why: string;
  readonly next: readonly string[];
}

/** What the rules conclude from. */
interface Known extends ExplainedRecord, Omit<Explanation, 'records'>, Obstacles {
  readonly sync: string;
  readonly spec: SyncSpec;
}

/** What a rule concludes; null if it does not apply. */
type Rule = (known: Known) => (Pick<Conclusion, 'state' | 'why'> & { readonly next?: readonly string[] }) | null;

/** The conclusion of the first rule that applies. */
export function concludeOn(
  sync: string,
  spec: SyncSpec,
  obstacles: Obstacles,
  about: Explanation,
  record: ExplainedRecord,
): Conclusion {
  const known: Known = { sync, spec, ...obstacles, ...about, ...record };
  for (const rule of RULES) {
    const found = rule(known);
    if (found === null) continue;
    const { state, why, next = [] } = found;
    return { delivered: state === 'delivered' || state === 'removed', state, why, next };
  }
  throw new Error('the last rule always applies');
}

/** Waiting records are polled and sent again, so nothing else that is known of the record is final. */
const waits: Rule = ({ waiting, ...known }) =>
  waiting && {
    state: 'waiting',
    why:
      (WAITING[waiting.reason] ?? `it waits (${waiting.reason})`) +
      (waiting.rejection === null ? '' : `; the platform said: ${waiting.rejection}`),
    next: [
      ...(halted(known).length > 0
        ? halted(known)
        : [`the first run after ${waiting.dueAt} tries again${scheduled(known.spec)}`]),
      ...waiting.missing.map(
        (m) =>
          `explain the parent: ${commandLine(['explain', known.sync, parentMapping(known.spec, m.schemaName), ...positional(m.externalId)])}`,
      ),
    ],
  };

const isBeingSent: Rule = ({ batch, ...known }) =>
  batch && {
    state: 'being_sent',
    why: 'it is in a batch in flight, whose outcome is not known yet',
    next: [...halted(known), `watch it: partner-sync status ${known.sync}`],
  };

const cannotBeMapped: Rule = ({ row, ...known }) =>
  row?.unmappable == null
    ? null
    : {
        state: 'unmappable',
        why: `its row cannot be mapped: ${row.unmappable.pointer} ${row.unmappable.reason}`,
        next: [...halted(known), replay(known)],
      };

const isRemoved: Rule = ({ row, acceptedHash }) =>
  row === null && acceptedHash === 'removed'
    ? {
        state: 'removed',
        why: 'its row is no longer in the source, and the platform has accepted what `deletes` says',
      }
    : null;

/** A row that is marked as deleted, in a column or by the mapping's query, and of which nothing more will be sent. */
const isMarked: Rule = ({ row, acceptedHash, platform }) => {
  if (row?.deletion == null) return null;
  if (row.deletion === 'ignore')
    return { state: 'removed', why: 'its row is marked as deleted, and the mapping ignores deleted rows' };
  if (acceptedHash === 'equal')
    return { state: 'removed', why: 'its row is marked as deleted, and the platform has accepted what `deletes` says' };
  if (acceptedHash === 'none' && platform.kind === 'absent')
    return { state: 'removed', why: 'its row is marked as deleted, and the platform never had it: nothing is sent' };
  return null;
};

const hasLostItsRow: Rule = ({ row, acceptedHash, deadLetters, platform, ...known }) => {
  const isThere = platform.kind === 'there';
  const isKnown = acceptedHash === 'equal' || acceptedHash === 'different' || deadLetters.length > 0 || isThere;
  if (row !== null || !isKnown) return null;
  const { sync, spec, mapping, certain, activeRuns, hasUnknownRow } = known;
  if (hasUnknownRow)
    return {
      state: 'row_gone',
      why: 'no row of this tenant has this external id, but one exists whose tenant or id cannot be told: so nothing is removed',
      next: [...halted(known), `see its dead letter: ${commandLine(['dead-letters', 'list', sync])}`],
    };
  const plan = known.plans.find(({ plan: id }) => id === known.removalPlan);
  const why =
    plan === undefined ? unmarked(spec, mapping) : `its removal is in plan ${plan.plan}, which awaits approval`;
  return {
    state: 'row_gone',
    why: isThere
      ? `it is on the platform, and its row is no longer in the source: ${why}`
      : 'its row is no longer in the source',
    next: [
      ...halted(known),
      ...(plan === undefined ? [] : removalLines(sync, [plan], activeRuns).map((line) => line.trim())),
      ...unsure(certain),
      ...(deadLetters.length > 0 ? [`its dead letter closes with: partner-sync dead-letters replay ${sync}`] : []),
    ],
  };
};

const isUnknown: Rule = ({ row, certain, mapping, externalId, platform, tenantsNotAsked }) =>
  row === null
    ? {
        state: 'never_seen',
        why:
          platform.kind === 'unknown'
            ? 'it is unknown: no row of the source has this external id, the ledger does not know it, and the platform could not be asked'
            : 'it is unknown: no row of the source has this external id, and neither the ledger nor the platform knows it',
        next: [
          ...(tenantsNotAsked === 0 ? [] : [`the platform was not asked for it in ${tenantsNotAsked} more tenants`]),
          `check that "${externalId}" is spelled as the mapping ${mapping} makes it, including blanks and capital letters`,
          'check that its row exists, and that the query of the mapping does not exclude it',
          ...unsure(certain),
        ],
      }
    : null;

const isDeadLetter: Rule = ({ deadLetters: [deadLetter], acceptedHash, ...known }) =>
  deadLetter === undefined || acceptedHash === 'equal'
    ? null
    : {
        state: 'dead_letter',
        why: `it is a dead letter: ${deadLetter.code} ${deadLetter.reason}`,
        next: [...halted(known), replay(known)],
      };

const isAccepted: Rule = ({ acceptedHash, platform, ...known }) => {
  if (acceptedHash !== 'equal') return null;
  if (platform.kind === 'equal' || platform.kind === 'unknown')
    return { state: 'delivered', why: 'the platform has accepted it' };
  return {
    state: 'altered_on_platform',
    why: 'the platform accepted it, but has something else now: it was changed or removed there by somebody else',
    next: [
      'runs do not send it again while its row is unchanged; change the row, or ask whoever else writes to the platform',
      `to have it sent again, let the ledger forget it: ${commandLine(['forget', known.sync, '--mapping', known.mapping, `--external-id=${known.externalId}`])}`,
      `then ${sendNow(known)}`,
    ],
  };
};

const isOnPlatform: Rule = ({ platform }) =>
  platform.kind === 'equal'
    ? {
        state: 'delivered',
        why: 'the platform has it as its row says, though the ledger has no accepted hash for it',
      }
    : null;

const hasChanged: Rule = ({ acceptedHash, ...known }) =>
  acceptedHash === 'different'
    ? { state: 'changed_since', ...unsent(known, 'its row has changed since the record was accepted') }
    : null;

const isNotSentYet: Rule = ({ acceptedHash, platform, ...known }) => ({
  state: 'not_sent_yet',
  ...unsent(
    known,
    acceptedHash === 'none'
      ? 'no run has delivered it yet'
      : platform.kind === 'unknown'
        ? 'whether it was sent is not known, since the ledger keeps no records of the mapping, and the platform could not be asked'
        : 'the current content of its row was never sent',
  ),
});

/**
 * Several states may apply at once. The first that applies is what a person should know first: what is still under way
 * comes before what is certain, since it may change the rest. From `isDeadLetter` on, the row is there.
 */
const RULES: readonly Rule[] = [
  waits,
  isBeingSent,
  cannotBeMapped,
  isRemoved,
  isMarked,
  hasLostItsRow,
  isUnknown,
  isDeadLetter,
  isAccepted,
  isOnPlatform,
  hasChanged,
  isNotSentYet,
];

/** A run that is paused or on hold keeps its lease, so a backfill would be refused. */
const unsent = (known: Omit<Known, 'acceptedHash' | 'platform'>, why: string): Pick<Conclusion, 'why' | 'next'> =>
  halted(known).length > 0
    ? {
        why: `${why}, and a run of the sync is ${known.pausedRuns.length > 0 ? 'paused' : 'on hold'}`,
        next: halted(known),
      }
    : {
        why: `${why}; the next run that reads its row sends it${scheduled(known.spec)}`,
        next: [sendNow(known)],
      };

/** The runs that a person has to let go on, with the commands that do. */
const halted = ({ sync, pausedRuns, holds }: Pick<Known, 'sync' | 'pausedRuns' | 'holds'>): string[] => [
  ...pausedRuns.map((run) => pausedRunLine(sync, run)),
  ...holds.map((hold) => `run ${hold.run} is on hold: ${holdLine(hold)}; partner-sync approve ${sync} lets it go on`),
];

/** An id may begin like an option. */
const positional = (id: string): string[] => (id.startsWith('-') ? ['--', id] : [id]);

const sendNow = ({ sync, mapping, externalId }: Pick<Known, 'sync' | 'mapping' | 'externalId'>): string =>
  `send it now: ${commandLine(['backfill', sync, '--mapping', mapping, `--external-id=${externalId}`])}`;

const replay = ({ sync, mapping }: Pick<Known, 'sync' | 'mapping'>): string =>
  `once it is fixed: partner-sync dead-letters replay ${sync} --mapping ${mapping}`;

/**
 * `certain` is false if the mapping transforms the external id, so that the row cannot be looked up by it with
 * certainty.
 */
const unsure = (certain: boolean): string[] =>
  certain ? [] : ['the mapping transforms the external id, so a row with another spelling may exist'];

/** Why a record whose row is gone is still on the platform unchanged. */
function unmarked({ mappings }: SyncSpec, mapping: string): string {
  const spec = mappings.find((m) => m.name === mapping);
  if (spec === undefined || !removesRecords(spec))
    return 'the mapping does not declare `deletes`, or ignores deleted rows';
  return spec.feed === null
    ? 'a mirror run applies what `deletes` says'
    : 'a run that is told of it by the change feed, or a mirror run, applies what `deletes` says';
}

/**
 * Sentences for the reasons that the ledger stores with waiting records; those about parents are declared with the
 * domain.
 */
const WAITING: Readonly<Record<string, string>> = {
  ...PARENT_REASONS,
  dependency: 'it is pending on the platform until its parent arrives',
  lacks_parent: 'its parent did not arrive in time; it will be sent again',
  contended: 'another reading of its row was being sent, may be newer, or is in doubt; it will be read again',
  unknown: 'its outcome on the platform is unknown; it will be read and sent again',
};

const scheduled = ({ schedules }: SyncSpec): string =>
  schedules.length === 0 ? '' : ` (scheduled: ${schedules.map((s) => s.name).join(', ')})`;

/**
 * The mapping that fills a schema, for the suggested command; if none does, the schema's own name, which at least tells
 * the reader what to look for.
 */
const parentMapping = (spec: SyncSpec, schemaName: string): string =>
  spec.mappings.find((m) => m.schema.name === schemaName)?.name ?? schemaName;
