/** An operation of the platform's interface as data, from which client, sandbox, commands and documents derive. */
import type { Static, TObject, TSchema } from 'typebox';
import type { Pages } from './pagination.js';
import type { RefusalKind, Refusals } from './refusals.js';

/** Names of the three query parameters that platform-api.md leaves unnamed (4.10, 4.14): settings of client and sandbox. */
export interface ParameterNames {
  readonly include: string;
  readonly referenceFormat: string;
  readonly includePendingDetails: string;
}

/** The names that the document's own words suggest. */
export const DEFAULT_PARAMETER_NAMES: ParameterNames = {
  include: 'include',
  referenceFormat: 'referenceFormat',
  includePendingDetails: 'includePendingDetails',
};

/** The groups in which documents list the operations. */
export type Tag = 'Schema definitions' | 'Resources' | 'Segments' | 'Channels' | 'Automations' | 'Library' | 'Reports';

/** One operation. Client, sandbox routes, commands, help texts and the OpenAPI document are made from it. */
export interface Operation {
  /** Section of platform-api.md. */
  readonly section: string;
  readonly tag: Tag;
  /** Its command after `partner-sync platform`: `batches get`. */
  readonly command: string;
  /** One sentence for help texts and the OpenAPI document. */
  readonly summary: string;
  /** Further sentences for callers. */
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
  /** Whether sending it twice has the same effect as once; decides what may be retried without knowing the outcome. */
  readonly idempotent: boolean;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TObject | null;
  readonly status: number;
  /** Whether the document leaves open the status of success (7.7). */
  readonly statusOpen?: true;
  /** `flat`: the response has the fields of `data` beside `success`, without an envelope (4.2). */
  readonly flat?: true;
  /** Schema of `data` inside the success envelope, in camelCase where a field has an alias; see aliases.ts. */
  readonly data: TSchema;
  /**
   * The parameter in the path that names what is read, and where the data repeats it. Data about something else is no
   * response: a proxy may mix responses up.
   */
  readonly repeats?: { readonly param: string; readonly at: readonly string[] };
  /** Only on paginated lists. */
  readonly pages?: Pages;
  /** Its rejections, besides those of every operation, see `COMMON_REFUSALS`. */
  readonly refusals: Refusals;
  /** Refusals whose status the document shows (7.3, 7.4): always that of `REFUSAL_STATUSES`. */
  readonly shownStatuses?: readonly RefusalKind[];
  /** Whether errors may also have the alternative shape (section 1). */
  readonly alternativeErrors?: true;
}

/** Keeps the literal types of an entry while checking its shape. */
export const defineOperation = <const O extends Operation>(operation: O): O => operation;

/** The type of an operation's parameters in the path. */
export type ParamsOf<O extends Operation> = Static<O['params']>;
/** The type of its query; all parameters may be left out. */
export type QueryOf<O extends Operation> = Partial<Static<O['query']>>;
/** The type of its body; undefined if it has none. */
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined;
/** The type of `data` in its response. */
export type DataOf<O extends Operation> = Static<O['data']>;
