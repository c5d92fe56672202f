/** What may be wrong with the value of a variable, said so that it follows the variable's name. No value that may be secret is quoted. */
import { durationProblem } from '../domain/duration.js';
import { isTenantId, nearest, TENANT_ID_PATTERN } from '../domain/names.js';
import { isReadablePostgresAddress } from '../domain/postgres-address.js';

/** Undefined where the value is right. */
export type Check = (value: string) => string | undefined;

export const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) => {
    if (allowed.includes(value)) return undefined;
    const near = nearest(value, allowed);
    const words = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
    return `must be ${words}${near === undefined ? '' : `; did you mean ${near}?`}`;
  };

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

/** Names that a request uses for itself. */
const OWN_HEADERS = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'expect', 'host', 'keep-alive', 'service-tenant-id'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

export const headerName: Check = (value) => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value))
    return 'must be the name of a header: letters, digits and hyphens, such as authorization or x-api-token';
  return OWN_HEADERS.has(value.toLowerCase()) ? `must not be ${value.toLowerCase()}, which requests need` : undefined;
};

export const headerWord: Check = (value) =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be a word that can stand in a header, such as Bearer, or none';

export const parameterName: Check = (value) =>
  /^[\w.~[\]-]+$/.test(value) ? undefined : 'must be the name of a query parameter: letters, digits, "_", "-" and "."';

export const tenant: Check = (value) =>
  isTenantId(value) ? undefined : `must be a tenant id, which matches ${TENANT_ID_PATTERN}`;

export const hostAndPort: Check = (value) =>
  /^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(value)
    ? undefined
    : 'must be a host and a port, such as 127.0.0.1:7233, without scheme, user or path';

export const durationWithin =
  (least: string, longest: string): Check =>
  (value) =>
    durationProblem(value, least, longest);
