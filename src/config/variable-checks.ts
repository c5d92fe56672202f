/**
 * Validates the values of environment variables. Messages follow the variable's name, and never quote a value that may
 * be secret.
 */
import { isIP } from 'node:net';
import { durationProblem } from '../domain/values/duration.js';
import { isTenantId, nearest, TENANT_ID_PATTERN } from '../domain/values/names.js';
import { dialectOf, isReadablePostgresAddress, SOURCE_ADDRESSES } from '../domain/source/source-address.js';

/** Describes what is wrong with a value, or undefined if it is valid. */
export type Check = (value: string) => string | undefined;

/** Accepts exactly these words. */
export const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) => {
    if (allowed.includes(value)) return undefined;
    const near = nearest(value, allowed);
    const words = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
    return `must be ${words}${near === undefined ? '' : `; did you mean ${near}?`}`;
  };

/**
 * Accepts the URL of a PostgreSQL database. The value may contain a password, so the message names at most its scheme.
 */
export const postgresAddress: Check = (value) => {
  const example = 'postgres://user@host:5432/database';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1]?.toLowerCase();
  if (scheme !== 'postgres' && scheme !== 'postgresql')
    return `must be the address of a PostgreSQL database, such as ${example}; ${
      scheme === undefined ? 'it is no URL' : `it begins with ${scheme}://`
    }`;
  return isReadablePostgresAddress(value)
    ? undefined
    : `is no URL such as ${example}; special characters of a user or password are written as %23 for # and so on`;
};

/** Accepts the address of a source. The value may contain a password, so the message does not quote it. */
export const sourceAddress: Check = (value) => {
  const dialect = dialectOf(value);
  if (dialect === undefined) return `must be one of: ${SOURCE_ADDRESSES}`;
  return dialect === 'postgres' ? postgresAddress(value) : undefined;
};

/** Accepts the address of a mail server. It may contain a password, so the message names at most its scheme. */
export const mailServerAddress: Check = (value) => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(value)?.[1]?.toLowerCase();
  return (scheme === 'smtp' || scheme === 'smtps') && URL.canParse(value) && new URL(value).hostname !== ''
    ? undefined
    : 'must be the address of a mail server, such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com';
};

/** Accepts one mail address, with or without a name before it. */
export const mailAddress: Check = (value) =>
  /^([^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value)
    ? undefined
    : 'must be a mail address, such as alerts@example.com or partner-sync <alerts@example.com>';

/** Headers that requests set themselves. */
const OWN_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'service-tenant-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Accepts the name of an HTTP header that requests do not set themselves. */
export const headerName: Check = (value) => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value))
    return 'must be the name of a header: letters, digits and hyphens, such as authorization or x-api-token';
  return OWN_HEADERS.has(value.toLowerCase()) ? `must not be ${value.toLowerCase()}, which requests need` : undefined;
};

/** Accepts printable ASCII without surrounding spaces. */
export const headerWord: Check = (value) =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be a word that can stand in a header, such as Bearer, or none';

/** Accepts a query parameter's name that needs no encoding. */
export const parameterName: Check = (value) =>
  /^[\w.~[\]-]+$/.test(value) ? undefined : 'must be the name of a query parameter: letters, digits, "_", "-" and "."';

/** Accepts a tenant id. */
export const tenant: Check = (value) =>
  isTenantId(value) ? undefined : `must be a tenant id, which matches ${TENANT_ID_PATTERN}`;

/** Each is a label of metrics, and costs a look into the ledger for each mapping. */
const MOST_TENANTS = 20;

/** The tenants in a list that {@link tenants} accepts, each once. */
export const tenantsIn = (list: string): string[] => [...new Set(list.split(',').map((id) => id.trim()))];

/** Accepts a list of tenant ids. */
export const tenants: Check = (value) => {
  const ids = tenantsIn(value);
  if (ids.length > MOST_TENANTS) return `must name at most ${MOST_TENANTS} tenants, got ${ids.length}`;
  return ids.every(isTenantId)
    ? undefined
    : `must be tenant ids, separated by commas, such as north,south; each matches ${TENANT_ID_PATTERN}`;
};

/** Accepts a host, with or without a port. */
export const hostAndPort: Check = (value) =>
  /^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(value)
    ? undefined
    : 'must be a host and a port, such as 127.0.0.1:7233, without scheme, user or path';

/** Accepts the name of a Worker Deployment. Temporal writes it before the build id, with a dot or a colon between them. */
export const deploymentName: Check = (value) =>
  /^[A-Za-z0-9](?:[\w-]{0,198}[A-Za-z0-9])?$/.test(value)
    ? undefined
    : 'must be the name of a Worker Deployment: letters, digits, "_" and "-", beginning and ending with a letter or digit';

/** Accepts a build id. */
export const buildId: Check = (value) =>
  /^[A-Za-z0-9][\w.+-]{0,199}$/.test(value)
    ? undefined
    : 'must be a version such as 0.1.0 or 2026-11-23.2: letters, digits, ".", "_", "+" and "-"';

/** Accepts the number of a TCP port. */
export const portNumber: Check = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65536
    ? undefined
    : 'must be the number of a port, from 1 to 65535';

/** Accepts a whole number from 1. */
export const wholeNumber: Check = (value) =>
  /^[1-9]\d{0,5}$/.test(value) ? undefined : 'must be a whole number from 1, such as 16';

/** Accepts a number above 0, with or without a fraction. */
export const positiveNumber: Check = (value) =>
  /^\d{1,6}(\.\d{1,3})?$/.test(value) && Number(value) > 0 ? undefined : 'must be a number above 0, such as 20 or 0.5';

/** Accepts the IP address, or the name, of an interface of this machine. */
export const networkHost: Check = (value) =>
  isIP(value) !== 0 || /^[\w.-]+$/.test(value)
    ? undefined
    : 'must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, without scheme and port';

/** Accepts a duration such as `5m` within these inclusive bounds. */
export const durationWithin =
  (least: string, longest: string): Check =>
  (value) =>
    durationProblem(value, least, longest);

/** Accepts the address of a web site, http or https, without a slash at its end, query or login. */
export const webAddress: Check = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const fits =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    !/[/?#]$|[?#]/.test(value);
  return fits
    ? undefined
    : 'must be the address of a web site, such as https://host.example.com, without a slash at its end';
};

/** Accepts a line of up to 100 characters. */
export const shortText: Check = (value) =>
  value.length <= 100 && !/\p{Cc}/u.test(value) ? undefined : 'must be one line of at most 100 characters';

/** Accepts a token that cannot be guessed. */
export const consoleToken: Check = (value) => (value.length >= 16 ? undefined : 'must have at least 16 characters');

/** Accepts mail addresses, and domains that begin with `@`, separated by commas. */
export const users: Check = (value) =>
  value.split(',').every((user) => /^\s*[^\s@,]*@[^\s@,]+\s*$/.test(user))
    ? undefined
    : 'must be mail addresses, or domains such as @example.com, separated by commas';
