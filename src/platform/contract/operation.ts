/** What an operation of the platform's interface is, as data. Everything else derives from such entries. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Pages } from './pagination.js';
import type { RefusalKind, Refusals } from './refusals.js';

/** Names of the three query parameters that platform-api.md leaves unnamed (4.10, 4.14): settings of client and sandbox. */
export interface ParameterNames {
  readonly include: string;
  readonly referenceFormat: string;
  readonly includePendingDetails: string;
}

export const DEFAULT_PARAMETER_NAMES: ParameterNames = {
  include: 'include',
  referenceFormat: 'referenceFormat',
  includePendingDetails: 'includePendingDetails',
};

/** The groups in which documents list the operations. */
export type Tag = 'Schema definitions' | 'Resources' | 'Segments' | 'Channels' | 'Automations' | 'Library' | 'Reports';

export interface Operation {
  /** Section of platform-api.md. */
  readonly section: string;
  readonly tag: Tag;
  /** Its words after `partner-sync platform`: `batches get`. */
  readonly command: string;
  /** One sentence for help texts and the OpenAPI document. */
  readonly summary: string;
  /** What else a caller should know. */
  readonly description?: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With `{name}` for path parameters. */
  readonly path: string;
  /**
   * Who may call it. `tenant`: a platform token that names a tenant (`service-tenant-id`), or a tenant's own token.
   * `partner`: a platform token. `open`: anybody, "no security requirement" (5.3).
   */
  readonly scope: 'tenant' | 'partner' | 'open';
  /** On an operation that acts for no tenant, `service-tenant-id` limits the result to one (5.2). */
  readonly tenantFilter?: true;
  /** Whether sending it twice has the effect of sending it once; decides what may be retried blindly. */
  readonly idempotent: boolean;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TObject | null;
  readonly status: number;
  /** Whether the document leaves open the status of success (7.7). */
  readonly statusOpen?: true;
  /** `flat`: the answer has the fields of `data` beside `success`, without an envelope (4.2). */
  readonly flat?: true;
  /** Schema of `data` inside the success envelope, in camelCase where a field has twins; see twins.ts. */
  readonly data: TSchema;
  /** Only on paginated lists. */
  readonly pages?: Pages;
  /** What it refuses beside what every operation does, see {@link COMMON_REFUSALS}. */
  readonly refusals: Refusals;
  /** Refusals whose status the document shows (7.3, 7.4): always that of {@link REFUSAL_STATUSES}. */
  readonly shownStatuses?: readonly RefusalKind[];
  /** Whether it may also refuse in the alternative error shape (section 1). */
  readonly alternativeErrors?: true;
}

/** Keeps the literal types of an entry while checking its shape. */
export const defineOperation = <const O extends Operation>(operation: O): O => operation;

/** The static types of an operation's parts. */
export type ParamsOf<O extends Operation> = Static<O['params']>;
export type QueryOf<O extends Operation> = Partial<Static<O['query']>>;
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined;
export type DataOf<O extends Operation> = Static<O['data']>;
