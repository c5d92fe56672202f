/** TLS settings from URL parameters, under the names that PostgreSQL uses, for drivers that have no such parameters. */
import { readFileSync } from 'node:fs';
import { PartnerSyncError } from '../domain/errors.js';

const MODES = ['disable', 'no-verify', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

/** Options for Node's TLS; files as their contents in PEM. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Whether the certificate must be signed by a known authority. */
  readonly rejectUnauthorized: boolean;
  /** Whether the certificate must name the host. */
  readonly verifyIdentity: boolean;
}

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/**
 * `sslmode` (disable, no-verify, verify-ca, verify-full) and the files `sslrootcert`, `sslcert`, `sslkey`; undefined
 * without TLS. A file without a mode means verify-full. Throws `config_invalid`.
 */
export function tlsOptions(parameters: URLSearchParams): TlsOptions | undefined {
  for (const name of parameters.keys())
    if (!PARAMETERS.includes(name))
      throw invalid(`does not know the parameter ${name}; known: ${PARAMETERS.join(', ')}`);
  const files = PARAMETERS.slice(1).filter((name) => parameters.has(name));
  const mode = parameters.get('sslmode') ?? (files.length > 0 ? 'verify-full' : 'disable');
  if (!isMode(mode)) throw invalid(`has an unknown sslmode; known: ${MODES.join(', ')}`);
  if (mode === 'disable') return undefined;
  return {
    ...contentOf('ca', parameters.get('sslrootcert')),
    ...contentOf('cert', parameters.get('sslcert')),
    ...contentOf('key', parameters.get('sslkey')),
    rejectUnauthorized: mode !== 'no-verify',
    verifyIdentity: mode === 'verify-full',
  };
}

const isMode = (text: string): text is Mode => (MODES as readonly string[]).includes(text);

function contentOf(option: 'ca' | 'cert' | 'key', file: string | null): Partial<Record<typeof option, string>> {
  if (file === null) return {};
  try {
    return { [option]: readFileSync(file, 'utf8') };
  } catch (error) {
    throw invalid(`names a file for TLS that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

const invalid = (what: string): PartnerSyncError =>
  new PartnerSyncError('config_invalid', `the address of the source ${what}`);
