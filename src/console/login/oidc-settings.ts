/** How people log in through a provider of OpenID Connect. */
export interface OidcSettings {
  /** The provider's address, under which it describes itself. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The console's own address, as browsers know it; the provider sends people back to it. */
  readonly consoleUrl: string;
  /** Who may log in: mail addresses, or `@example.com` for everybody there. At least one. */
  readonly users: readonly string[];
}
