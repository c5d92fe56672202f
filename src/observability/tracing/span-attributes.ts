/** What spans may say. Whatever is not in this table never leaves the process. */

/** The attributes that we set ourselves. */
export const ATTRIBUTES = {
  sync: 'partner_sync.sync',
  mapping: 'partner_sync.mapping',
  runId: 'partner_sync.run_id',
  attempt: 'partner_sync.attempt',
  rows: 'partner_sync.rows',
  records: 'partner_sync.records',
  method: 'http.request.method',
  /** The path with `{name}` in place of each id. */
  template: 'url.template',
  status: 'http.response.status_code',
  /** A code of the error catalogue, the status of a response, or `no_response`. */
  error: 'error.type',
} as const;

/** Those that Temporal's interceptors set: names, and ids that Temporal or the trigger of the run has given. */
const OF_TEMPORAL = ['temporalWorkflowId', 'temporalActivityId', 'run_id', 'workflowId', 'runId'] as const;

/** Names of all attributes that are exported. */
export const EXPORTED_ATTRIBUTES: ReadonlySet<string> = new Set([...Object.values(ATTRIBUTES), ...OF_TEMPORAL]);
