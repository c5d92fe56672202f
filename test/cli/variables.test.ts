/** A variable with an impossible value makes a command exit with 2, and is named. */
import { expect, it } from 'vitest';
import { runInProcess } from './in-process.js';

const GOOD = {
  PARTNER_SYNC_STATE_URL: 'postgres://u@127.0.0.1:1/x',
  PLATFORM_BASE_URL: 'http://127.0.0.1:1',
  PLATFORM_TOKEN: 'a.b.c',
  PARTNER_SYNC_METRICS_PORT: '9464',
};
const CALL = ['platform', 'usage', 'list'];
const TENANT_CALL = ['platform', 'batches', 'get', 'b'];
const MEASURED = ['worker'];
const SANDBOX = ['sandbox', '--port', '0'];

it.each([
  ['PARTNER_SYNC_STATE_URL', 'mysql://u@127.0.0.1/x', ['status'], 'such as postgres://user@host:5432/database'],
  ['PARTNER_SYNC_STATE_URL', 'postgres://u:p#w@127.0.0.1/x', ['status'], 'are written as %23 for #'],
  [
    'PARTNER_SYNC_LOG_LEVEL',
    'inof',
    ['worker'],
    'must be trace, debug, info, warn, error or silent; did you mean info?',
  ],
  ['PARTNER_SYNC_LOG_LEVEL', 'LOUD', SANDBOX, 'must be trace, debug, info, warn, error or silent'],
  ['PLATFORM_AUTH_HEADER', 'x api token', CALL, 'must be the name of a header'],
  ['PLATFORM_AUTH_HEADER', 'x-token:', CALL, 'must be the name of a header'],
  ['PLATFORM_AUTH_HEADER', 'Content-Length', CALL, 'must not be content-length, which requests need'],
  ['PLATFORM_AUTH_SCHEME', 'Bear\u00e9r', CALL, 'must be a word that can stand in a header'],
  ['PLATFORM_TOKEN_SCOPE', 'tenants', CALL, 'must be platform or tenant; did you mean tenant?'],
  ['PLATFORM_TOKEN_WAIT', '5 minutes', CALL, 'must be a duration with its unit, such as 30s'],
  ['PLATFORM_TOKEN_WAIT', '30d', CALL, 'must be between 0s and 20m'],
  ['PLATFORM_REQUESTS_AT_ONCE', '0', CALL, 'must be a whole number from 1'],
  ['PLATFORM_REQUESTS_PER_SECOND', '-1', CALL, 'must be a number above 0'],
  ['PLATFORM_TENANT', 'the north', TENANT_CALL, 'must be a tenant id'],
  ['PARTNER_SYNC_METRICS_TENANTS', 'north;south', MEASURED, 'must be tenant ids, separated by commas'],
  [
    'PARTNER_SYNC_METRICS_TENANTS',
    Array.from({ length: 21 }, (_, i) => `t${i}`).join(),
    MEASURED,
    'at most 20 tenants, got 21',
  ],
  ['PLATFORM_PARAM_INCLUDE', 'a b', CALL, 'must be the name of a query parameter'],
  ['PLATFORM_BASE_URL', 'platform.example.com', CALL, 'is not a URL'],
  ['TEMPORAL_ADDRESS', 'https://127.0.0.1:7233/', ['schedules', 'list', 'shop'], 'must be a host and a port'],
  ['SANDBOX_STATE_URL', 'mysql://u@127.0.0.1/x', ['sandbox', 'load'], 'must be the address of a PostgreSQL database'],
] as const)('%s=%s', async (name, value, args, words) => {
  const env = { ...GOOD, SANDBOX_JWT_SECRET: 'x'.repeat(40), [name]: value };
  const { code, stderr } = await runInProcess(args, env);
  expect(stderr).toContain(`error config_invalid: ${name} `);
  expect(stderr).toContain(words);
  expect(code).toBe(2);
});

it.each([
  ['PLATFORM_AUTH_HEADER', 'X-Api-Token'],
  ['PLATFORM_AUTH_SCHEME', 'none'],
  ['PLATFORM_TOKEN_WAIT', '0s'],
  ['PLATFORM_REQUESTS_PER_SECOND', '0.5'],
  ['PARTNER_SYNC_STATE_URL', 'postgresql://user:p%23w@/db?host=/tmp'],
] as const)('%s=%s is valid', async (name, value) => {
  const { stderr } = await runInProcess(CALL, { ...GOOD, [name]: value });
  expect(stderr).toContain('error platform_unreachable');
});

it.each([
  [['dead-letters', 'list', 'shop', '--since', '99999999999d']],
  [['dead-letters', 'list', 'shop', '--since', '0000-01-01']],
  [['platform', 'batches', 'wait', 'b', '--for', '30d']],
  [['sandbox', 'token', '--expires-in', '99999999999d']],
])('a duration longer than any timer is wrong usage: %s', async (args) => {
  const { code, stderr } = await runInProcess(args, GOOD);
  expect(stderr).toContain('Allowed: ');
  expect(code).toBe(2);
});
