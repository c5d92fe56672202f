/**
 * The catalogue of errors: each has a stable code, says whether a retry can help, and what to do.
 * The code is also the failure type in Temporal's history. The table in `docs/errors.md` repeats this one.
 */

import { withoutPasswords } from './values/without-passwords.js';

interface CatalogueEntry {
  /** `never`: the input or the configuration must change first; `later`: the same call may succeed later. */
  readonly retry: 'never' | 'later';
  readonly meaning: string;
  readonly remedy: string;
}

/** Every error by its code. */
export const ERROR_CATALOGUE = {
  config_invalid: {
    retry: 'never',
    meaning: 'A configuration value, a sync.yaml or a mapping file is wrong or missing.',
    remedy: 'Correct what the message names; `partner-sync check <sync>` lists all problems of a sync at once.',
  },
  input_invalid: {
    retry: 'never',
    meaning: 'The input of a workflow, or a command line, is not valid.',
    remedy: 'Correct what the message names; it also says what is allowed.',
  },
  run_in_progress: {
    retry: 'never',
    meaning: 'Another run of the same sync holds its lease.',
    remedy: 'Wait for the run that the message names, or end it with `partner-sync stop <sync>`.',
  },
  run_incomplete: {
    retry: 'never',
    meaning:
      'The run read everything, but some of its records are not on the platform, and `failOn` of sync.yaml counts that as a failure.',
    remedy:
      'The next runs send waiting records again; `partner-sync explain` says what a record waits for, and `partner-sync dead-letters list` what to correct.',
  },
  other_platform: {
    retry: 'never',
    meaning:
      'The sync delivers to one platform, as the ledger knows, and PLATFORM_BASE_URL names another: whatever that one lacks would count as unchanged.',
    remedy:
      'If the platform has a new address: `partner-sync relocate <address before>`. If it is another platform: give it a ledger of its own, or make the sync begin anew with `partner-sync forget <sync> --all`.',
  },
  guard_exceeded: {
    retry: 'never',
    meaning: 'The run would have exceeded a limit of `guard` in sync.yaml, and nobody approved it in time.',
    remedy:
      'Check the mapping in the message, for example with `partner-sync preview`. If its changes are right, start a run and approve it with `partner-sync approve`; nothing beyond the limit was sent.',
  },
  run_stopped: {
    retry: 'never',
    meaning: 'The run was cancelled or terminated in Temporal before it ended.',
    remedy:
      'Start a new run: it continues from the position, and settles the batches that the stopped run left unfinished.',
  },
  worker_missing: {
    retry: 'later',
    meaning: 'No worker answered for a run in time: none is running, or all of them are stuck.',
    remedy: 'Start a worker with `partner-sync worker`, or see `partner-sync doctor`; then enter the command again.',
  },
  fenced_off: {
    // A frozen worker that resumes may begin an attempt that Temporal has given up, and so fence off the current one,
    // which must be retried. The failure of the attempt that was given up is ignored.
    retry: 'later',
    meaning: 'This attempt was superseded by a newer one while its worker was frozen or disconnected.',
    remedy: 'Nothing: the newer attempt continues the partition.',
  },
  driver_missing: {
    retry: 'never',
    meaning: "The driver of the source's database is not installed, or its native part is not built.",
    remedy: 'Run the command in the message wherever partner-sync is installed, also on each worker.',
  },
  package_missing: {
    retry: 'never',
    meaning:
      'An optional package is not installed: one that traces need, which are switched on, or the embedded PostgreSQL of dev and demo.',
    remedy:
      'Run the command in the message wherever partner-sync is installed, for traces also on each worker. dev and demo install PostgreSQL by themselves with --install; traces are switched off with OTEL_TRACES_EXPORTER=none.',
  },
  source_unreachable: {
    retry: 'later',
    meaning: "The partner's database cannot be reached, or closed the connection.",
    remedy: 'Check the connection in sync.yaml; the run resumes automatically once the database answers.',
  },
  source_query_failed: {
    retry: 'later',
    meaning: "The partner's database rejected or cancelled a query; the SQLSTATE is in the message.",
    remedy:
      'For a timeout or a lock: nothing, the page is read again. For a missing privilege or a syntax error: correct the grants or the mapping.',
  },
  source_relation_missing: {
    retry: 'never',
    meaning: 'A table, view or column that a mapping names does not exist in the source.',
    remedy: 'Correct the mapping, or grant SELECT; `partner-sync check <sync>` suggests similar column names.',
  },
  source_changed: {
    retry: 'never',
    meaning:
      'Schema drift: a column that a mapping reads was dropped, or its type changed, since the last run; the mapping was skipped.',
    remedy:
      'Correct the mapping (see `partner-sync check <sync>`). If the new type is right: `partner-sync run <sync> --accept-changes`.',
  },
  changes_lost: {
    retry: 'never',
    meaning:
      'The source no longer has all changes since they were last read: its slot or change table was dropped, invalidated, created anew or advanced by somebody else, or belongs to another database.',
    remedy:
      'If the slot or the change table is gone, run `partner-sync changes install <sync>`; if it is there and cannot be read, run `partner-sync changes remove <sync>` before that. The next run reads every row and finds deleted ones, so nothing is left out.',
  },
  source_key_unusable: {
    retry: 'never',
    meaning:
      'The key of a mapping is NULL in a row, or two rows share it: paging could skip one of them, or either could be sent.',
    remedy: 'Add columns to `key` until it identifies each row, or select one row per key in a query.',
  },
  mapping_failed: {
    retry: 'never',
    meaning: 'A row cannot be mapped: a value does not fit its transform or its target type.',
    remedy: 'Correct the row or the mapping; until then the row is a dead letter.',
  },
  record_invalid: {
    retry: 'never',
    meaning: 'A mapped record does not conform to its schema definition.',
    remedy: 'Correct the row or the mapping; until then the row is a dead letter.',
  },
  tenant_unknown: {
    retry: 'never',
    meaning: "A row's tenant value is NULL, or not in the sync's list of tenants.",
    remedy: 'Add the value to the list of tenants in sync.yaml, or in the table that it names, or correct the row.',
  },
  tenant_list_unusable: {
    retry: 'never',
    meaning:
      'The table that `tenant.from` in sync.yaml names is not a valid list of tenants: it is empty, or has a NULL, a duplicate value or an invalid tenant id.',
    remedy: 'Correct the rows of that table, or select the right ones in a query; nothing is sent until then.',
  },
  value_not_encodable: {
    retry: 'never',
    meaning: 'A value cannot be represented exactly in JSON (NaN, Infinity, a lone surrogate).',
    remedy: 'Map it to something that JSON can represent; nothing is rounded silently.',
  },
  external_id_unusable: {
    retry: 'never',
    meaning: 'The external id of a row is not allowed: it is too long, "." or "..", or contains U+0000.',
    remedy:
      'Correct the row, or derive the external id in another way (`hash`); `upload.longestExternalId` sets the longest that the platform accepts.',
  },
  duplicate_external_id: {
    retry: 'never',
    meaning: 'Two rows map to the same external id.',
    remedy: 'Make the external id unique in the mapping.',
  },
  parent_missing: {
    retry: 'never',
    meaning: 'A record refers to a parent that is not in the source.',
    remedy: 'Correct the reference, or add the parent: the record is sent automatically once its parent is delivered.',
  },
  parent_filtered: {
    retry: 'never',
    meaning: "A record refers to a parent that the query of the parent's mapping does not return.",
    remedy:
      'Make the query return the parent, or exclude the child from its own query; the child is sent automatically once its parent is delivered.',
  },
  parent_rejected: {
    retry: 'never',
    meaning: 'A record refers to a parent that is a dead letter itself.',
    remedy:
      'Fix the parent (see `partner-sync dead-letters list <sync>`); the record is sent automatically once its parent is delivered.',
  },
  parent_in_other_tenant: {
    retry: 'never',
    meaning: 'A record refers to a parent that belongs to another tenant.',
    remedy:
      'Correct the reference, or the tenant of one of the two rows: the platform isolates tenants from each other.',
  },
  parent_unknown: {
    retry: 'never',
    meaning:
      'A record refers to a parent that the platform does not have and that cannot be looked up in the source, because no mapping fills its schema or its external id is transformed.',
    remedy:
      'Correct the reference, or make sure the parent is delivered: the record is sent automatically once the platform has its parent.',
  },
  platform_unreachable: {
    retry: 'later',
    meaning: 'The platform cannot be reached, or closed the connection in the middle of a response.',
    remedy: 'Check PLATFORM_BASE_URL; the run resumes automatically once the platform answers.',
  },
  platform_busy: {
    retry: 'later',
    meaning: 'The platform is busy or limits requests (425, 429 or 503).',
    remedy:
      'Nothing: the request is retried, and Retry-After is honoured. If it is frequent, lower `upload.requestsAtOnce`.',
  },
  platform_failed: {
    retry: 'later',
    meaning: 'The platform responded with a server error (408, 500, 502, 504 and above, except 511).',
    remedy: 'Nothing at first: the request is retried. If it persists, contact the platform.',
  },
  platform_unauthorized: {
    retry: 'never',
    meaning: 'The platform rejected the token (401), or the token lacks the permission (403).',
    remedy:
      'Renew PLATFORM_TOKEN (or the file that holds it) and start a new run: it resumes where this one stopped. Requests wait for a renewed file, see PLATFORM_TOKEN_WAIT.',
  },
  platform_refused: {
    retry: 'never',
    meaning: 'The platform rejected the request (400, 404, 409, 422 ...).',
    remedy: "See the platform's message, which the error quotes.",
  },
  platform_too_large: {
    retry: 'never',
    meaning: 'The platform rejected the request as too large (413).',
    remedy: 'Lower `upload.batchSize` or `upload.batchBytes`.',
  },
  platform_response_invalid: {
    retry: 'later',
    meaning: "The platform's response does not match its interface: HTML, truncated JSON, or a required field missing.",
    remedy: 'Check PLATFORM_BASE_URL (a proxy may be answering). If it persists, contact the platform.',
  },
  batch_stuck: {
    retry: 'later',
    meaning: 'The platform accepted a batch, but did not complete it by `upload.batchDeadline`, or no longer knew it.',
    remedy:
      'For the records, nothing: they are read back one by one and sent again if needed. Contact the platform; if it is merely slow, raise the deadline.',
  },
  batch_inconsistent: {
    retry: 'later',
    meaning: 'The counters of a batch do not add up, or its failures do not name their records.',
    remedy:
      'Nothing: its records are read back one by one, and those that are not stored are sent again, in the end each in a batch of its own.',
  },
  records_lost: {
    retry: 'later',
    meaning: 'The platform does not have parents any more that it had accepted.',
    remedy:
      'For these, nothing: they are sent again, and then their children. Others without children may be missing, too: `partner-sync reconcile SYNC` finds them.',
  },
  redirect_refused: {
    retry: 'later',
    meaning: 'The platform responded with a redirect, which would send data and token to another address.',
    remedy:
      'The request is retried for five minutes. If it persists and you trust the new address, set PLATFORM_BASE_URL to it, and tell the ledger: `partner-sync relocate <address before>`.',
  },
  schema_not_pushed: {
    retry: 'never',
    meaning: 'The schema definition of a mapping has not been pushed to the platform yet.',
    remedy: 'Run `partner-sync schema push <sync>`.',
  },
  state_unreachable: {
    retry: 'later',
    meaning: "The ledger's database (PARTNER_SYNC_STATE_URL) cannot be reached or failed.",
    remedy: 'Bring it back up: nothing is sent without the ledger, and the run resumes from it.',
  },
  state_refused: {
    retry: 'never',
    meaning:
      "The ledger's database rejected a statement, because of its values or because a privilege or a table is missing.",
    remedy:
      'Look up the SQLSTATE in the message; the log of the database has the statement. Start a new run once it is fixed.',
  },
  state_not_ready: {
    retry: 'never',
    meaning: "The ledger's database has no ledger, or one of another version of partner-sync.",
    remedy:
      '`partner-sync schema push <sync>` or a worker creates or upgrades the ledger; a newer ledger needs the newer program.',
  },
  plan_outdated: {
    retry: 'never',
    meaning: 'The run would no longer send what the plan says; nothing was sent.',
    remedy: 'Make a new plan with `partner-sync preview <sync> --out <file>`, review it and run it.',
  },
  alert_undelivered: {
    retry: 'later',
    meaning: 'A notification could not be delivered to a target in `alerts`.',
    remedy:
      'Usually nothing: delivery is retried until it succeeds. If it keeps failing, correct the entry in `alerts`; `partner-sync alerts test <sync>` tries all of them.',
  },
  unexpected: {
    retry: 'later',
    meaning: 'An unexpected error. Its text may contain data, so only its name and place are logged.',
    remedy: "Search the worker's log for the reference in the message.",
  },
} as const satisfies Record<string, CatalogueEntry>;

/** The codes of the catalogue: the `code` of `--json`, the failure type in Temporal, and the code of dead letters. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Structured facts of an error: places, counts, codes. Never row values, tokens or connection strings. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * The one class of expected errors: a code of the catalogue, a message without row values, and structured details. Any
 * other error is unforeseen, and is reported as `unexpected`.
 */
export class PartnerSyncError extends Error {
  override readonly name = 'PartnerSyncError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    // The message may quote an address with a password in it.
    super(withoutPasswords(message), options);
    this.code = code;
    this.details = details;
  }

  /** Whether Temporal retries it; `details.final` overrides the catalogue. */
  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retry === 'later' && this.details['final'] !== true;
  }
}
