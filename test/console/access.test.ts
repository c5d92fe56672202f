/** Who may see the console, and which requests it turns away. */
import { request as send } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { composeView } from '../../src/composition/compose.js';
import { openJobs } from '../../src/console/actions/jobs.js';
import type { ConsoleSettings } from '../../src/console/console-settings.js';
import { serveConsole } from '../../src/console/server.js';
import { runInProcess } from '../cli/in-process.js';
import { CLIENT, startIdentityProvider } from './identity-provider.js';
import { SETTINGS } from './settings.js';

const TOKEN = 'a token of sixteen characters and more';

/** A console without a ledger, whose actions are recorded and not carried out. */
async function consoleWith(settings: Partial<ConsoleSettings> = {}): Promise<string> {
  const views = composeView({});
  const jobs = openJobs(['/bin/true'], {});
  const audit = () => Promise.resolve();
  const console = await serveConsole(
    { ...SETTINGS, ...settings },
    { views, actions: { jobs, audit, operator: 'ana' } },
  );
  onTestFinished(async () => {
    await console.close();
    await views.close();
  });
  return console.url;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookie: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A request with exactly these headers: `fetch` would set some by itself. */
const ask = (
  url: string,
  {
    method = 'GET',
    form,
    ...headers
  }: { method?: string; form?: Record<string, string>; [name: string]: unknown } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = send(url, { method, headers: { ...type, ...(headers as Record<string, string>) } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.once('end', () =>
        resolve({
          status: response.statusCode!,
          location: response.headers.location,
          cookie: response.headers['set-cookie']?.[0],
          headers: response.headers,
          body,
        }),
      );
    });
    sent.once('error', reject);
    sent.end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });

/** What a browser would send of the cookie. */
const cookieOf = ({ cookie }: Answer): string => cookie!.split(';')[0]!;

it('forbids browsers to run anything of others, to show it in a frame and to keep what it shows', async () => {
  const { headers } = await ask(await consoleWith());
  expect(headers).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
});

it('answers only those who ask for it by its own name, so that no page reaches it by DNS rebinding', async () => {
  const url = await consoleWith({ allowedHosts: ['console.example.com'] });
  expect(await ask(url, { host: 'evil.example.com' })).toMatchObject({ status: 403 });
  for (const host of ['localhost:1', '127.0.0.1', 'CONSOLE.example.com:443'])
    expect(await ask(url, { host }), host).toMatchObject({ status: 200 });
});

it('carries nothing out for a form of another site', async () => {
  const url = await consoleWith({ allowActions: true });
  const post = (headers: Record<string, string>) =>
    ask(`${url}/actions/run`, { method: 'POST', form: { sync: 'shop' }, ...headers });
  for (const headers of [
    {},
    { origin: 'null' },
    { origin: 'http://evil.example.com' },
    { origin: `${url}0` },
    { origin: url, 'sec-fetch-site': 'cross-site' },
  ])
    expect(await post(headers as Record<string, string>), JSON.stringify(headers)).toMatchObject({ status: 403 });
  expect(await post({ origin: url })).toMatchObject({ status: 303 });
});

it('takes what somebody types for a value, never for an option of the command or a second one', async () => {
  const url = await consoleWith({ allowActions: true });
  const post = (action: string, form: Record<string, string>) =>
    ask(`${url}/actions/${action}`, { method: 'POST', form, origin: url });
  for (const [action, form, says] of [
    ['run', { sync: '--json' }, 'Sync is not a name'],
    ['run', {}, 'Sync is missing'],
    ['run', { sync: 'shop', mode: 'wild' }, 'must be incremental, full, mirror'],
    ['pause', { sync: 'shop', reason: 'a\nb' }, 'Reason has a control character'],
    ['pause', { sync: 'shop', reason: 'x'.repeat(501) }, 'Reason has more than 500 characters'],
    ['pause-schedule', { sync: 'shop', name: 'nightly' }, 'Reason is missing'],
    ['reconcile', { sync: 'shop', readBack: '5 --out /etc/passwd' }, 'must be a number, or all'],
    ['approve', { sync: 'shop', mapping: '-y' }, 'Mapping is not a name'],
    ['approve', { sync: 'shop', mapping: 'orders', cause: 'gone' }, 'Run is missing'],
    ['approve', { sync: 'shop', mapping: 'orders', run: '7', cause: '--yes' }, 'On hold for must be changed'],
  ] as const) {
    const answer = await post(action, form);
    expect(answer.status, action).toBe(400);
    expect(answer.body, action).toContain(says);
  }
  const { location } = await post('pause', { sync: 'shop', reason: `--yes; $(rm) "'` });
  const { body } = await ask(`${url}${location!}`);
  expect(body).toContain(`partner-sync pause shop '--reason=--yes; $(rm) &quot;'\\'''`);
});

it('lets nobody in who does not know its token, and asks again once the login was ended', async () => {
  const url = await consoleWith({ login: { kind: 'token', token: TOKEN } });
  expect(await ask(`${url}/syncs/shop?a=b`)).toMatchObject({
    status: 303,
    location: '/login?next=%2Fsyncs%2Fshop%3Fa%3Db',
  });
  expect(await ask(`${url}/assets/console.css`)).toMatchObject({ status: 200 });
  const login = (form: Record<string, string>) => ask(`${url}/login`, { method: 'POST', form, origin: url });
  expect(await login({ token: 'something else', next: '/' })).toMatchObject({ status: 401, cookie: undefined });
  expect(await login({})).toMatchObject({ status: 401, cookie: undefined });
  const known = await login({ token: TOKEN, next: '/syncs/shop?a=b' });
  expect(known).toMatchObject({ status: 303, location: '/syncs/shop?a=b' });
  expect(known.cookie).toContain('HttpOnly; SameSite=Lax');
  const page = await ask(url, { cookie: cookieOf(known) });
  expect(page.status).toBe(200);
  expect(page.body).toContain('somebody with the token');
  expect(page.body).not.toContain(TOKEN);
  expect(await ask(url, { cookie: `${cookieOf(known)}x` })).toMatchObject({ status: 303 });
  const out = await ask(`${url}/logout`, { method: 'POST', form: {}, origin: url, cookie: cookieOf(known) });
  expect(out.cookie).toContain('Max-Age=0');
});

it('sends the cookie over https only where it is reached by that', async () => {
  const url = await consoleWith({ login: { kind: 'token', token: TOKEN, consoleUrl: 'https://console.example.com' } });
  const known = await ask(`${url}/login`, { method: 'POST', form: { token: TOKEN, next: '/' }, origin: url });
  expect(known.cookie).toContain('; Secure');
});

it.each(['//evil.example.com', 'https://evil.example.com', '/\\evil.example.com', '/login?next=/', 'x', '/a b'])(
  'leads from the login to its own pages only, not to %s',
  async (next) => {
    const url = await consoleWith({ login: { kind: 'token', token: TOKEN } });
    const known = await ask(`${url}/login`, { method: 'POST', form: { token: TOKEN, next }, origin: url });
    expect(known).toMatchObject({ status: 303, location: '/' });
  },
);

it('lets in by OpenID Connect those whom the operator names, by their verified mail address', async () => {
  const provider = await startIdentityProvider();
  onTestFinished(() => provider.close());
  const consoleUrl = 'http://127.0.0.1';
  const oidc = { ...CLIENT, issuer: provider.issuer, consoleUrl, users: ['ana@example.com', '@example.org'] };
  const url = await consoleWith({ login: { kind: 'oidc', oidc } });
  /** Goes to the provider and back, as a browser does. */
  const login = async (claims: object): Promise<Answer> => {
    provider.claims = { ...claims };
    const away = await ask(`${url}/login?next=/syncs/shop`);
    const back = await ask(away.location!);
    return ask(back.location!.replace(consoleUrl, url), { cookie: `another=1; ${cookieOf(away)}` });
  };
  const known = await login({ email: 'Ana@example.com', email_verified: true });
  expect(known).toMatchObject({ status: 303, location: '/syncs/shop' });
  expect((await ask(url, { cookie: cookieOf(known) })).body).toContain('Ana@example.com');
  expect(await login({ email: 'ben@example.org', email_verified: true })).toMatchObject({ status: 303 });
  for (const claims of [
    { email: 'eve@example.com', email_verified: true },
    { email: 'ana@example.com', email_verified: false },
    { email: 'ana@example.com' },
    { email: 'ana@example.com.evil.net', email_verified: true },
    {},
    { email: 'ana@example.com', email_verified: true, nonce: 'of another login' },
  ])
    expect(await login(claims), JSON.stringify(claims)).toMatchObject({ status: 403, cookie: undefined });
  // A link to the end of a login that somebody else has begun.
  provider.claims = { email: 'ana@example.com', email_verified: true };
  const begun = await ask((await ask(`${url}/login`)).location!);
  expect(await ask(begun.location!.replace(consoleUrl, url))).toMatchObject({ status: 403, cookie: undefined });
  expect(await ask(`${url}/login/callback?code=1&state=made-up`)).toMatchObject({ status: 403, cookie: undefined });
});

it.each([
  [['--host', '0.0.0.0'], {}, 'lets others reach the console, so people have to log in'],
  [[], { PARTNER_SYNC_CONSOLE_TOKEN: 'short' }, 'PARTNER_SYNC_CONSOLE_TOKEN must have at least 16 characters'],
  [[], { PARTNER_SYNC_CONSOLE_OIDC_ISSUER: 'https://login.example.com' }, 'PARTNER_SYNC_CONSOLE_OIDC_USERS is not set'],
  [
    [],
    { PARTNER_SYNC_CONSOLE_OIDC_ISSUER: 'https://login.example.com', PARTNER_SYNC_CONSOLE_TOKEN: TOKEN },
    'cannot both be set',
  ],
  [[], { PARTNER_SYNC_TEMPORAL_UI_URL: 'temporal:8233' }, 'PARTNER_SYNC_TEMPORAL_UI_URL must be the address'],
])('does not start with %j and %j', async (args, env, says) => {
  const { code, stderr } = await runInProcess(['console', ...args], env);
  expect(code).toBe(2);
  expect(stderr).toContain(says);
});
