/**
 * The catalogue of errors: each has a stable code, says whether trying again can help, and what to do.
 * The code is also the failure type in Temporal's history. `docs/errors.md` is held against this table.
 */

import { withoutPasswords } from './without-passwords.js';

interface CatalogueEntry {
  /** `never`: the input or the configuration must change; `later`: the same call may succeed later. */
  readonly retry: 'never' | 'later';
  readonly meaning: string;
  readonly remedy: string;
}

export const ERROR_CATALOGUE = {
  config_invalid: {
    retry: 'never',
    meaning: 'A configuration value, a sync.yaml or a mapping file is wrong or missing.',
    remedy:
      'Correct the places that the message names; those of a sync are listed all at once by `partner-sync check <sync>`.',
  },
  input_invalid: {
    retry: 'never',
    meaning: 'The JSON object a workflow was started with, or a command line, is not understood.',
    remedy: 'Correct the field that the message names; it also says what is allowed.',
  },
  run_in_progress: {
    retry: 'never',
    meaning: 'Another run of the same sync holds its lease.',
    remedy: 'Wait for the run that the message names, or cancel it in the Temporal Web UI.',
  },
  run_stopped: {
    retry: 'never',
    meaning: 'The run was cancelled or terminated in Temporal before its end.',
    remedy: 'Start it again: it goes on from its position, and settles what the one before left half done.',
  },
  fenced_off: {
    // A worker that thaws may start an attempt that is over already, and so fence off the one that is not: that one
    // must be tried again. An attempt that is over can fail as it likes, Temporal does not listen to it any more.
    retry: 'later',
    meaning: 'This attempt was superseded by another one while it was frozen or cut off.',
    remedy: 'Nothing: the range is carried on.',
  },
  mapping_changed: {
    retry: 'never',
    meaning: "The sync's files changed while a run was going on; a run keeps to the version it began with.",
    remedy: 'Start a new run: it continues from the position, with the new mapping.',
  },
  source_unreachable: {
    retry: 'later',
    meaning: "The partner's database cannot be reached, or cut the connection.",
    remedy: 'Check the connection in sync.yaml; the run continues by itself once the database answers.',
  },
  source_query_failed: {
    retry: 'later',
    meaning: "The partner's database refused or cancelled a query; the SQLSTATE is in the message.",
    remedy:
      'For a timeout or a lock: nothing, the page is read again. For a permission or syntax error: correct the mapping.',
  },
  source_relation_missing: {
    retry: 'never',
    meaning: 'A table, view or column that a mapping names is not in the source.',
    remedy: 'Correct the mapping, or grant SELECT; `partner-sync check <sync>` names the nearest columns.',
  },
  source_changed: {
    retry: 'never',
    meaning: 'A column that a mapping reads is gone or of another type since its last run; the mapping was stopped.',
    remedy:
      'Correct the mapping, see `partner-sync check <sync>`; where a new type is right as it is: `partner-sync run <sync> --accept-changes`.',
  },
  source_key_unusable: {
    retry: 'never',
    meaning: 'The key of a mapping is NULL in a row, or two rows share it, so that pages by key could skip rows.',
    remedy: 'Add columns to `key` until they name each row, or choose one row each in a query.',
  },
  mapping_failed: {
    retry: 'never',
    meaning: 'A row cannot be mapped: a value does not fit its transform or its target type.',
    remedy: 'Correct the row or the mapping; the record is in the dead letters until then.',
  },
  record_invalid: {
    retry: 'never',
    meaning: 'A mapped record breaks its schema definition.',
    remedy: 'Correct the row or the mapping; the record is in the dead letters until then.',
  },
  tenant_unknown: {
    retry: 'never',
    meaning: "A row's tenant value is null or not in the sync's declared list.",
    remedy: 'Add the value to the list of tenants that sync.yaml has or names, or correct the row.',
  },
  tenant_list_unusable: {
    retry: 'never',
    meaning:
      'The table that `tenant.from` in sync.yaml names is no list of tenants: NULL, a value twice, no tenant id, or empty.',
    remedy: 'Correct the rows of that table, or choose the right ones in a query; nothing is sent before.',
  },
  value_not_encodable: {
    retry: 'never',
    meaning: 'A value cannot be carried by JSON exactly (NaN, Infinity, a lone surrogate).',
    remedy: 'Map it to something that JSON can carry; nothing is rounded silently.',
  },
  external_id_unusable: {
    retry: 'never',
    meaning: 'No record can have the external id of a row: it is too long, "." or "..", or holds U+0000.',
    remedy:
      'Correct the row, or form the external id in another way (`hash`); what the platform takes is set by `upload.longestExternalId`.',
  },
  duplicate_external_id: {
    retry: 'never',
    meaning: 'Two rows map to the same external id.',
    remedy: 'Make the external id unique in the mapping.',
  },
  parent_missing: {
    retry: 'never',
    meaning: 'A record refers to a parent that is not in the source.',
    remedy:
      'Correct the reference, or add the parent: the record is sent by itself once a run has delivered its parent.',
  },
  parent_filtered: {
    retry: 'never',
    meaning: "A record refers to a parent that the query of the parent's mapping does not give.",
    remedy:
      "Let the query give the parent, or the child's query leave out the child; it is sent by itself once its parent is delivered.",
  },
  parent_rejected: {
    retry: 'never',
    meaning: 'A record refers to a parent that is a dead letter itself.',
    remedy:
      'Mend the parent, see `partner-sync dead-letters list <sync>`; the record is sent by itself once its parent is delivered.',
  },
  parent_in_other_tenant: {
    retry: 'never',
    meaning: 'A record refers to a parent that belongs to another tenant.',
    remedy: 'Correct the reference or the tenant of one of the two rows: the platform keeps tenants apart.',
  },
  parent_unknown: {
    retry: 'never',
    meaning:
      'A record refers to a parent that the platform does not have, and that cannot be looked up in the source: no mapping fills its schema, or transforms make its external id.',
    remedy:
      'Correct the reference, or see that the parent is delivered: the record is sent by itself once the platform has its parent.',
  },
  platform_unreachable: {
    retry: 'later',
    meaning: 'The platform cannot be reached, or gave up in the middle of an answer.',
    remedy: 'Check PLATFORM_BASE_URL; the run continues by itself once the platform answers.',
  },
  platform_busy: {
    retry: 'later',
    meaning: 'The platform asks for patience (408, 425, 429 or 503).',
    remedy: 'Nothing: Retry-After is obeyed. Lower `upload.requestsAtOnce` if it is frequent.',
  },
  platform_failed: {
    retry: 'later',
    meaning: 'The platform answered with a server error.',
    remedy: 'Nothing at first: it is tried again. Tell the platform if it lasts.',
  },
  platform_unauthorized: {
    retry: 'never',
    meaning: 'The platform refused the token (401) or what it may do (403).',
    remedy:
      'Renew PLATFORM_TOKEN (or the file it is in) and start the run again: it resumes where it stopped. A file is waited for, see PLATFORM_TOKEN_WAIT.',
  },
  platform_refused: {
    retry: 'never',
    meaning: 'The platform refused the request itself (400, 404, 409, 422 ...).',
    remedy: "Read the platform's words in the message.",
  },
  platform_too_large: {
    retry: 'never',
    meaning: 'The platform refused the request for its size (413).',
    remedy: 'Lower `upload.batchSize` or `upload.batchBytes`.',
  },
  platform_answer_invalid: {
    retry: 'later',
    meaning:
      "The platform's answer is not what its interface promises: HTML, truncated JSON, a required field missing.",
    remedy: 'Check PLATFORM_BASE_URL (a proxy may be answering); tell the platform if it lasts.',
  },
  batch_stuck: {
    retry: 'later',
    meaning: 'The platform took a batch, and did not complete it, or did not know it, by `upload.batchDeadline`.',
    remedy:
      'Nothing: its records are read back one by one and sent again. Tell the platform; raise the deadline if it is just slow.',
  },
  batch_inconsistent: {
    retry: 'later',
    meaning: "A batch's counters do not add up, or its failures name no records.",
    remedy:
      'Nothing: its records are read back one by one, and those that are not stored are sent again, alone in the end.',
  },
  redirect_refused: {
    retry: 'later',
    meaning: 'The platform answered with a redirect, which would carry data and token elsewhere.',
    remedy:
      'It is tried again for five minutes. If it lasts: set PLATFORM_BASE_URL to the address it redirects to, if you trust it.',
  },
  schema_not_pushed: {
    retry: 'never',
    meaning: 'The schema definition of a mapping is not known on the platform yet.',
    remedy: 'Run `partner-sync schema push <sync>`.',
  },
  state_unreachable: {
    retry: 'later',
    meaning: 'The state database (PARTNER_SYNC_STATE_URL) cannot be reached or failed.',
    remedy: 'Bring it back; nothing is sent without a committed intent, and the run resumes from the ledger.',
  },
  state_refused: {
    retry: 'never',
    meaning: 'The state database refused a statement for what was in it, or for a right or a table that is missing.',
    remedy:
      'Look up the SQLSTATE that the message names; the statement is in the log of the database. Start the run again once it is mended.',
  },
  state_not_ready: {
    retry: 'never',
    meaning: 'The state database holds no ledger, or one of another version of partner-sync.',
    remedy:
      '`partner-sync schema push <sync>` or a worker creates and updates it; a newer ledger needs the newer program.',
  },
  plan_outdated: {
    retry: 'never',
    meaning: 'What a run would send is not what the plan says any more; nothing was sent.',
    remedy: 'Look at it again with `partner-sync preview <sync> --out <file>`, and run the new plan.',
  },
  unexpected: {
    retry: 'later',
    meaning: 'An error that partner-sync does not know; its text may hold data and stays in the worker log.',
    remedy: 'Look in the worker log for the reference that the message names.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Structured facts of an error: places, counts, codes. Never row values, tokens or connection strings. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export class PartnerSyncError extends Error {
  override readonly name = 'PartnerSyncError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    // Drivers, people and configuration may put an address into it.
    super(withoutPasswords(message), options);
    this.code = code;
    this.details = details;
  }

  get retryable(): boolean {
    return ERROR_CATALOGUE[this.code].retry === 'later' && this.details['lasting'] !== true;
  }
}
