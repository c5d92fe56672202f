/** What an operation of the platform's interface is, as data. Everything else derives from such entries. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Pages } from './pagination.js';

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
  /** `flat`: the answer has the fields of `data` beside `success`, without an envelope (4.2). */
  readonly flat?: true;
  /** Schema of `data` inside the success envelope, in camelCase where a field has twins; see twins.ts. */
  readonly data: TSchema;
  /** Only on paginated lists. */
  readonly pages?: Pages;
  /** Statuses of its own by which it refuses, and when; those of every operation are in {@link COMMON_REFUSALS}. */
  readonly refusals: Readonly<Record<number, string>>;
  /** Whether it may also refuse in the alternative error shape (section 1). */
  readonly alternativeErrors?: true;
}

/** Statuses that any operation may refuse with. Most are "not shown" (7.7): see docs/assumptions.md. */
export const COMMON_REFUSALS = {
  400: 'The request is not valid; `errors` names each wrong place.',
  401: 'The token is missing, expired or not valid.',
  403: 'The token may not call this operation, or may not act for this tenant.',
} as const satisfies Operation['refusals'];

/** Keeps the literal types of an entry while checking its shape. */
export const defineOperation = <const O extends Operation>(operation: O): O => operation;

/** The static types of an operation's parts. */
export type ParamsOf<O extends Operation> = Static<O['params']>;
export type QueryOf<O extends Operation> = Partial<Static<O['query']>>;
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined;
export type DataOf<O extends Operation> = Static<O['data']>;
