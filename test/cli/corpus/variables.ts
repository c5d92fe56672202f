/** Values of environment variables that are refused, by variable; whoever sets them sees the name, and what is allowed. */
import type { VariableName } from '../../../src/config/environment.js';

const LONG = 'x'.repeat(50_000);
const ADDRESS = [
  'hunter2',
  '/etc/passwd',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'mysql://u:hunter2@h/x',
  'postgres:/u:hunter2@h/x',
  'postgres://u:a#hunter2@h/x',
  'postgres://u:hunter2@h:99999/x',
  `postgres${LONG}`,
];
const WORD = ['', '\n', 'nothing', 'constructor', '__proto__', 'true', LONG].filter((value) => value !== '');
const PORT = ['0', '-1', '65536', '1e3', '0x50', ' 80', '80\n', '８０', '9'.repeat(50_000), 'http'];
const SITE = [
  'site',
  'ftp://h',
  'javascript:alert(1)',
  'https://u:hunter2@h',
  'https://h/',
  'https://h?a',
  'https://[',
  LONG,
];
const PARAMETER = ['a b', 'a&b=c', 'a#b', 'a\r\nx: y', '../a'];

export const VARIABLE_VALUES: Readonly<Partial<Record<VariableName, readonly string[]>>> = {
  PARTNER_SYNC_STATE_URL: ADDRESS,
  SANDBOX_STATE_URL: ADDRESS,
  SOURCE_ADMIN_URL: ADDRESS.filter((address) => !address.startsWith('mysql:')),
  PARTNER_SYNC_TASK_QUEUE: ['a\nb', 'a\u0000', LONG],
  PARTNER_SYNC_LOG_LEVEL: WORD,
  PARTNER_SYNC_METRICS_PORT: PORT,
  PARTNER_SYNC_TEMPORAL_METRICS_PORT: PORT,
  PARTNER_SYNC_METRICS_HOST: ['http://127.0.0.1', '127.0.0.1:9464', 'a b', 'a\nb', '[::1]', '*'],
  PARTNER_SYNC_METRICS_LEDGER: WORD,
  PARTNER_SYNC_METRICS_TENANTS: ['north;south', 'north,,south', 'north,a b', 'ünïcode', '..', LONG],
  PARTNER_SYNC_WORKER_VERSIONING: WORD,
  PARTNER_SYNC_DEPLOYMENT_NAME: ['a.b', 'a:b', '-a', 'a-', 'a b', '../a', LONG],
  PARTNER_SYNC_BUILD_ID: ['.1', 'a b', 'a:b', '1.0\n', LONG],
  PARTNER_SYNC_SMTP_URL: [
    'mail.example.com',
    'http://h',
    'smtp://',
    'smtp://u:hunter2@',
    'smtps://u:hunter2@h:port',
    LONG,
  ],
  PARTNER_SYNC_SMTP_FROM: ['alerts', 'a@b@c', 'a@b\r\nbcc: c@d', '<a@b', 'a <b> <c@d>', `${LONG}`],
  PARTNER_SYNC_TEMPORAL_UI_URL: SITE,
  PARTNER_SYNC_CONSOLE_URL: SITE,
  PARTNER_SYNC_CONSOLE_OIDC_ISSUER: SITE,
  PARTNER_SYNC_ACTOR: ['a\nb', 'a\u0000', '\u001b[31mroot', LONG],
  PARTNER_SYNC_CONSOLE_TOKEN: ['short', 'fifteen-letters'],
  PARTNER_SYNC_CONSOLE_OIDC_USERS: ['anna', 'a@b;c@d', '@', 'a@b,', ',', 'a b@c'],
  PLATFORM_BASE_URL: [
    'platform',
    'ftp://h',
    'file:///etc/passwd',
    'https://u:hunter2@h',
    'https://h?a=b',
    'http://[',
    LONG,
  ],
  PLATFORM_TOKEN_WAIT: ['5', '5 minutes', '-1s', '21m', '1e3s', 'infinity', `${'9'.repeat(50_000)}s`],
  PLATFORM_TOKEN_SCOPE: WORD,
  PLATFORM_TENANT: ['the north', ' north', '..', 'a/b', 'north\r\nx: y', 'nörth', 'x'.repeat(65)],
  PLATFORM_REQUESTS_AT_ONCE: ['0', '-1', '1.5', '1e3', 'many', '1000000', '٣'],
  PLATFORM_REQUESTS_PER_SECOND: ['0', '-1', '1e3', '.5', 'NaN', 'Infinity', '9'.repeat(50_000)],
  PLATFORM_AUTH_HEADER: ['x api', 'x-token:', 'a\r\nb', 'Content-Length', 'service-tenant-id', 'Host', 'ä'],
  PLATFORM_AUTH_SCHEME: ['Bearér', ' Bearer', 'a\r\nx: y', 'a\u0000'],
  PLATFORM_PARAM_INCLUDE: PARAMETER,
  PLATFORM_PARAM_REFERENCE_FORMAT: PARAMETER,
  PLATFORM_PARAM_PENDING_DETAILS: PARAMETER,
  TEMPORAL_ADDRESS: ['https://h:7233', 'h:7233/x', 'u:hunter2@h', 'h:port', 'h:7233 ', '', 'a b'].filter(
    (v) => v !== '',
  ),
  TEMPORAL_NAMESPACE: ['a\nb', 'a\u0000', LONG],
};
