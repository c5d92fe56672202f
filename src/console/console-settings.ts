/** What an operator decides about a console when it is started. */
import type { OidcSettings } from './login/oidc-settings.js';

/** How people log in; null if nobody has to, which only a console that this machine alone can reach allows. */
export type LoginSettings =
  | { readonly kind: 'token'; readonly token: string; readonly consoleUrl?: string | undefined }
  | { readonly kind: 'oidc'; readonly oidc: OidcSettings }
  | null;

export interface ConsoleSettings {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Whether people may do something; otherwise they only look. */
  readonly allowActions: boolean;
  /** Whether values of rows and records are shown, and not only their masked shapes. */
  readonly showValues: boolean;
  readonly login: LoginSettings;
  /** Names by which the console may be asked for, besides those of this machine. */
  readonly allowedHosts: readonly string[];
  /** Base URL of Temporal's Web UI, without a trailing slash; null if it is not known. */
  readonly temporalUi: string | null;
  readonly temporalNamespace: string;
}
