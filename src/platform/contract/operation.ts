/** What an operation of the platform's interface is, as data. Everything else derives from such entries. */
import type { Static, TObject, TSchema } from 'typebox';

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

export interface Operation {
  /** Section of platform-api.md. */
  readonly section: string;
  /** One sentence for help texts and the OpenAPI document. */
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** With `{name}` for path parameters. */
  readonly path: string;
  /** `tenant` operations act for one tenant (`service-tenant-id`); `partner` operations for the platform account. */
  readonly scope: 'tenant' | 'partner';
  /** Whether sending it twice has the effect of sending it once; decides what may be retried blindly. */
  readonly idempotent: boolean;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TSchema | null;
  readonly status: number;
  /** Schema of `data` inside the success envelope, in camelCase; see twins.ts for the snake_case halves. */
  readonly data: TSchema;
}

/** Keeps the literal types of an entry while checking its shape. */
export const defineOperation = <const O extends Operation>(operation: O): O => operation;

/** The static types of an operation's parts. */
export type ParamsOf<O extends Operation> = Static<O['params']>;
export type QueryOf<O extends Operation> = Partial<Static<O['query']>>;
export type BodyOf<O extends Operation> = O['body'] extends TSchema ? Static<O['body']> : undefined;
export type DataOf<O extends Operation> = Static<O['data']>;
