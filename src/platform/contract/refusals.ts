/** The kinds of rejections, and their statuses if platform-api.md shows none (7.7). */

/** The status of each kind unless the sandbox's settings choose another one. */
export const REFUSAL_STATUSES = {
  invalid: 400,
  tenantMissing: 400,
  unauthenticated: 401,
  forbidden: 403,
  unknownTenant: 403,
  notFound: 404,
  taken: 409,
  tooLarge: 413,
  notJson: 415,
  busy: 429,
} as const;
export type RefusalKind = keyof typeof REFUSAL_STATUSES;

/** When an operation rejects a request, in words. */
export type Refusals = { readonly [K in RefusalKind]?: string };

/** Rejections that any operation may have. Most of the statuses are "not shown" (7.7): see docs/assumptions.md. */
export const COMMON_REFUSALS = {
  invalid: 'The request is not valid; `errors` names each wrong place.',
  unauthenticated: 'The token is missing, expired or not valid.',
  forbidden: 'The token may not call this operation, or may not act for this tenant.',
} as const satisfies Refusals;

/** The statuses that were chosen for what the document leaves open. */
export type Statuses = Readonly<Record<RefusalKind | 'created', number>>;

/** The status of success: the document's, or if it shows none the chosen one. */
export const successStatus = (
  { status, statusOpen }: { readonly status: number; readonly statusOpen?: true },
  { created }: Pick<Statuses, 'created'>,
): number => (statusOpen === true ? created : status);

/** The status of a rejection: the document's, or if it shows none the chosen one. */
export const refusalStatus = (
  { shownStatuses = [] }: { readonly shownStatuses?: readonly RefusalKind[] },
  kind: RefusalKind,
  statuses: Statuses,
): number => (shownStatuses.includes(kind) ? REFUSAL_STATUSES[kind] : statuses[kind]);
