/** What the words mean that no catalogue of their own explains: outcomes, problems, rules, and statuses of the platform. */
import type { ErrorCode } from '../../domain/errors.js';
import type { HealthTrigger } from '../../domain/monitoring/sync-health.js';
import type { RunOutcome } from '../../domain/run/run.js';

interface Meaning {
  readonly meaning: string;
  /** null if there is nothing to do. */
  readonly remedy: string | null;
}

type RowOutcome = 'accepted' | 'unchanged' | 'waiting' | 'pending' | 'contended' | 'dead-lettered';

/** How a run, a row or a record ended. */
export const OUTCOME_MEANINGS: Readonly<Record<RunOutcome | 'failed' | 'refused' | RowOutcome, Meaning>> = {
  complete: { meaning: 'Of a run: everything that was read is on the platform.', remedy: null },
  complete_with_dead_letters: {
    meaning: 'Of a run: everything that was read is on the platform, except dead letters.',
    remedy: '`partner-sync dead-letters list <sync>` shows the causes.',
  },
  incomplete: {
    meaning: 'Of a run: records still wait, or a mapping was skipped.',
    remedy: 'The next runs send waiting records again; `partner-sync status <sync> <run>` names what is missing.',
  },
  failed: {
    meaning: 'Of a run: it ended with an error before everything was read.',
    remedy: '`partner-sync status <sync>` shows the error; start a new run once its cause is removed.',
  },
  refused: {
    meaning: 'Of a run: another run of the sync was working, so it has done nothing. It counts as no failure.',
    remedy: null,
  },
  accepted: { meaning: 'Of a row: the platform has accepted its record.', remedy: null },
  unchanged: { meaning: 'Of a row: the platform already had this record, so nothing was sent.', remedy: null },
  waiting: {
    meaning: 'Of a record: it is delivered later, for instance once its parent is.',
    remedy: '`partner-sync explain <sync> <mapping> <external-id>` says what it waits for.',
  },
  pending: {
    meaning: 'Of a waiting record: the platform keeps it until its missing parent arrives.',
    remedy: '`partner-sync explain <sync> <mapping> <external-id>` names the parent.',
  },
  contended: {
    meaning:
      'Of a record: it is not sent now, since its row was read more than once, or older content is in doubt; it is read again a second later.',
    remedy: null,
  },
  'dead-lettered': {
    meaning: 'Of a row: it could not be delivered; its dead letter has the field, the rule and the reason.',
    remedy: '`partner-sync dead-letters show <sync> <id>` says what to do.',
  },
};

/** The problems that `status` names and alerts report. */
export const PROBLEM_MEANINGS: Readonly<Record<HealthTrigger, string>> = {
  failing: 'The latest run failed, or its workflow was terminated.',
  'feed-unreadable': 'A change feed with a limit cannot be read, or not from where it was left.',
  'feed-behind':
    'The source keeps more of its log for a change feed than `changes.maxWal`, or the feed was given up for that.',
  late: 'No run has succeeded for longer than `limits.success`.',
  paused: 'A schedule has been paused for longer than `limits.paused`, so it starts no runs.',
  retrying: 'The steps of a run fail and are retried; it continues by itself once they succeed.',
  stalled: 'An active run has settled nothing for longer than `limits.stalled`.',
  'awaiting-approval': 'A run is on hold, or a removal plan waits, until somebody approves.',
  incomplete:
    'The latest run ended with waiting records, or has skipped a mapping, or a run that works leaves one out.',
  waiting: 'A record has been waiting for longer than `limits.waiting`.',
  lagging: 'No run has read a mapping to the end for longer than `limits.lag`.',
  'dead-letters': 'There are more dead letters than `limits.deadLetters`.',
};

const CORRECT = 'Correct the row or the mapping; a run that reads the row again delivers it.';

/** The `rule` of a dead letter. Those that end with a colon are followed by a value. */
export const RULE_MEANINGS: readonly (readonly [rule: string, Meaning])[] = [
  ['required', { meaning: 'The record lacks a field that the schema definition requires.', remedy: CORRECT }],
  ['type:', { meaning: 'The value is of another type than the schema definition says.', remedy: CORRECT }],
  ['format:', { meaning: 'The text does not have the format of the schema definition.', remedy: CORRECT }],
  ['pattern:', { meaning: 'The text does not match the pattern of the schema definition.', remedy: CORRECT }],
  ['minLength:', { meaning: 'The text is shorter than the schema definition allows.', remedy: CORRECT }],
  ['maxLength:', { meaning: 'The text is longer than the schema definition allows.', remedy: CORRECT }],
  ['minimum:', { meaning: 'The number is smaller than the schema definition allows.', remedy: CORRECT }],
  ['maximum:', { meaning: 'The number is larger than the schema definition allows.', remedy: CORRECT }],
  ['multipleOf:', { meaning: 'The number is no multiple of what the schema definition says.', remedy: CORRECT }],
  ['enum', { meaning: 'The value is none of those that the schema definition lists.', remedy: CORRECT }],
  ['const', { meaning: 'The value is not the one that the schema definition allows.', remedy: CORRECT }],
  ['transform:', { meaning: 'A transform of the mapping does not accept the value.', remedy: CORRECT }],
  ['external id', { meaning: 'The row has no external id that can be used.', remedy: CORRECT }],
  [
    'unique external id',
    {
      meaning: 'Another row has the same external id.',
      remedy: 'Make the external id unique in the mapping.',
    },
  ],
  [
    'reference to',
    {
      meaning: 'A parent that the record refers to is not on the platform.',
      remedy: 'Deliver the parent: the record is then sent automatically.',
    },
  ],
  ['encodable', { meaning: 'The value cannot be represented exactly in JSON.', remedy: CORRECT }],
  [
    'refused by the platform',
    {
      meaning: 'The platform has rejected the record; the reason has its message, masked.',
      remedy: 'Correct the row, the mapping or the schema definition, then replay the dead letter.',
    },
  ],
  [
    'failed without a reason',
    {
      meaning: 'The platform has rejected the record and has not said why.',
      remedy: 'Contact the platform, then replay the dead letter.',
    },
  ],
];

/** The statuses of responses, with the error that each becomes. */
export const STATUS_CODES: Readonly<Record<number, { readonly code: ErrorCode; readonly meaning: string }>> = {
  400: { code: 'platform_refused', meaning: 'The request is not valid.' },
  401: { code: 'platform_unauthorized', meaning: 'The token is missing, expired or not valid.' },
  403: { code: 'platform_unauthorized', meaning: 'The token may not do this, or may not act for this tenant.' },
  404: { code: 'platform_refused', meaning: 'What the request names does not exist.' },
  408: { code: 'platform_failed', meaning: 'The platform waited too long for the request.' },
  409: { code: 'platform_refused', meaning: 'The request contradicts what is there, such as a name that is taken.' },
  413: { code: 'platform_too_large', meaning: 'The request is too large.' },
  422: { code: 'platform_refused', meaning: 'The request is well-formed but cannot be carried out.' },
  425: { code: 'platform_busy', meaning: 'The platform is not ready for the request yet.' },
  429: { code: 'platform_busy', meaning: 'There are too many requests.' },
  500: { code: 'platform_failed', meaning: 'The platform has failed.' },
  502: { code: 'platform_failed', meaning: 'A proxy got no usable response from the platform.' },
  503: { code: 'platform_busy', meaning: 'The platform is overloaded or under maintenance.' },
  504: { code: 'platform_failed', meaning: 'A proxy got no response from the platform in time.' },
};
