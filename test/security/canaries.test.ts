/**
 * Canaries in every input, searched for in every output. All kinds of commands and runs work, and fail, with passwords, tokens,
 * addresses and rows that nothing else contains; whatever the processes then have written, sent or stored must not contain them.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import BetterSqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../src/embedded/ports.js';
import { runInProcess } from '../cli/in-process.js';
import { build } from '../pipeline/worker-process.js';
import { failureOf } from '../pipeline/shop.js';
import type { Fault, PassedRequest } from '../pipeline/platform-proxy.js';
import { IDS, PERSONAL, SECRETS, TYPED_ID, TYPED_MISTAKE, WITNESS } from './canaries.js';
import { filesIn, openCanaryShop, QUOTED_ROW, WRONG_PASSWORD, type CanaryShop } from './canary-shop.js';
import { findCanaries, type Canaries } from './find-canaries.js';

/** What each output has of it, one entry for each file, command or message. */
type Output = Record<string, string | Buffer>;

let shop: CanaryShop;
const servers: Server[] = [];
/** The runs in the order in which they were, with how they ended. */
const ends: Record<string, unknown> = {};
const outputs = {
  /** Commands about runs and syncs, and everything that fails before it begins. */
  commands: {} as Output,
  /** Commands that list records, or were asked for one. */
  'commands about records': {} as Output,
  'log of the worker': {} as Output,
  'log of the sandbox': {} as Output,
  "Temporal's histories": {} as Output,
  "Temporal's database": {} as Output,
  ledger: {} as Output,
  metrics: {} as Output,
  traces: {} as Output,
  notifications: {} as Output,
  'pages of the console': {} as Output,
  'written files': {} as Output,
  'command lines': {} as Output,
};
type OutputName = keyof typeof outputs;
/** Modes of the files that commands were asked to write. */
const modes: Record<string, number> = {};

/** A server that keeps what it gets, and says what `answer` makes of it. */
async function listen(
  kept: Output,
  answer: (body: string, path: string) => { status: number; body: string },
): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      kept[`${Object.keys(kept).length} ${request.method}`] = body;
      const { status, body: said } = answer(body.toString('utf8'), request.url ?? '/');
      response.writeHead(status, { 'content-type': 'application/json' }).end(said);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a careless platform says about a request: all that it has got, and the token. */
const quoting = (request: PassedRequest, before = ''): string =>
  JSON.stringify({
    success: false,
    message: `${before}cannot process ${request.body.slice(0, 200)} of ${shop.token}; ${PERSONAL['e-mail address']} +${PERSONAL.telephone}`,
    errors: [`"${PERSONAL.name}" is not ${PERSONAL.note}`, `Authorization: Bearer ${shop.token}`],
    data: { error: `${IDS['external id']}: ${PERSONAL['family name']} ${request.body.slice(0, 500)}` },
  });

/** How uploads fail, and in the end a poll: each response quotes the request. */
const FAILURES: Readonly<Record<string, (request: PassedRequest) => Fault['answer']>> = {
  'is busy': (request) => ({ status: 503, headers: { 'retry-after': '0' }, body: quoting(request) }),
  fails: (request) => ({ status: 500, headers: { 'x-request-id': `for-${shop.token}` }, body: quoting(request) }),
  'times out': (request) => ({ status: 408, body: quoting(request) }),
  'limits requests': (request) => ({ status: 429, body: quoting(request) }),
  refuses: (request) => ({ status: 422, body: quoting(request) }),
  'finds it too large': (request) => ({ status: 413, body: quoting(request) }),
  'is replaced by a page': (request) => ({
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: `<p>${quoting(request)}`,
  }),
  'breaks off': (request) => ({ status: 202, body: quoting(request).slice(0, -20) }),
  'lacks the batch': (request) => ({ status: 202, body: quoting(request).replace('false', 'true') }),
  redirects: (request) => ({
    status: 307,
    headers: { location: `http://127.0.0.1:1/${encodeURIComponent(request.body.slice(0, 200))}?token=${shop.token}` },
    body: quoting(request),
  }),
  'fails when it is polled': (request) => ({ status: 500, body: quoting(request) }),
};

/** The failures that have happened. */
const failed: string[] = [];

/** Lets each upload fail in another way, once, and a poll after them. */
function failInEachWay(): void {
  const ways = Object.entries(FAILURES);
  shop.proxy.fail((request) => {
    const isPoll = request.path.startsWith('/api/batches/');
    if (!(isPoll ? ways.length === 1 : request.upload && ways.length > 1)) return undefined;
    const [name, answer] = ways.shift()!;
    failed.push(name);
    return { forward: false, answer: answer(request) };
  });
}

const change = (): Promise<unknown> =>
  shop.source.query(`UPDATE shop.people SET name = name || '.', updated_at = clock_timestamp()`);

/** Runs the command in this process, as it is and with `--json`. */
async function command(args: readonly string[], kind: OutputName = 'commands', env = {}): Promise<number> {
  const codes: number[] = [];
  for (const more of [[], ['--json']]) {
    const { code, stdout, stderr } = await runInProcess([...args, ...more], { ...shop.env, ...NO_TRACES, ...env });
    outputs[kind][[...args, ...more, ...Object.keys(env)].join(' ')] = stdout + stderr;
    codes.push(code);
  }
  expect(codes[1], `${args.join(' ')} --json`).toBe(codes[0]);
  return codes[0]!;
}

/** Commands of one process would switch them on again and again; the worker has them, and commands with a process. */
const NO_TRACES = { OTEL_TRACES_EXPORTER: 'none' };

/** A run of the sync; `ends` has how it ended, by this name. */
async function run(name: string, args: readonly string[] = ['run', WITNESS]): Promise<void> {
  const { code, stdout, stderr } = await runInProcess([...args, '--json'], { ...shop.env, ...NO_TRACES });
  outputs.commands[`${args.join(' ')}: ${name}`] = stdout + stderr;
  const { outcome, total, error } = JSON.parse(stdout) as {
    outcome?: string;
    total?: { read: number; accepted: number; deadLettered: number };
    error?: { code: string };
  };
  ends[name] =
    error?.code ??
    `${code} ${outcome} ${total!.read} read, ${total!.accepted} accepted, ${total!.deadLettered} dead letters`;
}

beforeAll(async () => {
  await build();
  const webhook = await listen(outputs.notifications, (body, path) => ({ status: 500, body: `${path} ${body}` }));
  const collector = await listen(outputs.traces, () => ({ status: 200, body: '{}' }));
  const port = await freePort();
  shop = await openCanaryShop({
    CANARY_WEBHOOK_URL: `http://me:${SECRETS['password of the webhook']}@${webhook}/${SECRETS['address of the webhook']}`,
    PARTNER_SYNC_SMTP_URL: `smtp://mailer:${SECRETS['password of the mail server']}@127.0.0.1:1`,
    PARTNER_SYNC_SMTP_FROM: 'sync@example.org',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${collector}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRETS['key of the trace collector']}`,
  });
  expect(await command(['schema', 'push', WITNESS])).toBe(0);
  const worker = await shop.start(['worker'], 'worker ready', { PARTNER_SYNC_METRICS_PORT: String(port) });

  await runs();
  await commandsAboutRuns();
  await commandsAboutRecords();
  await pages();
  outputs.metrics['/metrics'] = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await histories();
  await tablesOfTheLedger();
  ends['the worker'] = await worker.end();
  outputs['log of the worker']['stdout and stderr'] = worker.output();
  outputs['log of the sandbox']['trace'] = shop.sandboxLog();
  temporalDatabase();
  outputs['written files'] = filesIn(shop.folder);
  outputs['command lines'] = Object.fromEntries(shop.commandLines().map((line, n) => [String(n), line]));
});

afterAll(async () => {
  for (const server of servers) server.close();
  await shop.close();
});

/** Runs that end well, and runs that fail in each way. */
async function runs(): Promise<void> {
  // Most rows arrive; some become dead letters, and a child waits for a parent that there is not.
  await run('the first');
  await change();
  failInEachWay();
  await run('the platform fails in each way');
  await change();
  shop.proxy.fail(({ path, ...request }) =>
    path.startsWith('/api/batches/')
      ? {
          forward: true,
          answer(own) {
            const told = JSON.parse(own.body) as { data: { errors?: object; status?: string } };
            told.data.errors = {
              recordErrors: [quoting({ ...request, path }), `${IDS['external id']}-3: ${PERSONAL.name}`],
            };
            return { ...own, body: JSON.stringify(told) };
          },
        }
      : undefined,
  );
  await run('a batch quotes its records');
  await change();
  shop.proxy.fail((request) =>
    request.upload ? { forward: false, answer: { status: 401, body: quoting(request) } } : undefined,
  );
  await run('the token is rejected');
  shop.proxy.fail((request) =>
    request.upload ? { forward: false, answer: { status: 403, body: quoting(request) } } : undefined,
  );
  await run('the token lacks a permission');
  shop.proxy.fail(undefined);

  await shop.ledger.query(`CREATE FUNCTION partner_sync.quote() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no place for %', NEW USING DETAIL = '${PERSONAL.name}', HINT = '${SECRETS['password of the ledger']}', ERRCODE = '22023'; END $$`);
  await shop.ledger.query(
    'CREATE TRIGGER quote BEFORE INSERT ON partner_sync.batches FOR EACH ROW EXECUTE FUNCTION partner_sync.quote()',
  );
  await change();
  await run('the ledger quotes a row');
  await shop.ledger.query('DROP TRIGGER quote ON partner_sync.batches');

  await run('the password of the source is wrong', ['run', WRONG_PASSWORD]);
  await run('the source quotes a row', ['run', QUOTED_ROW]);
  await run('all is well again', ['run', WITNESS, '--mode', 'full']);
  await run('dead letters again', ['dead-letters', 'replay', WITNESS]);
  // In processes of their own, whose arguments others can see.
  for (const args of [
    ['backfill', WITNESS, '--mapping', 'people', '--external-id', TYPED_ID['typed external id'], '--json'],
    ['run', WITNESS],
  ]) {
    const { code, stdout, stderr } = await shop.command(args);
    outputs['commands about records'][args.join(' ')] = stdout + stderr;
    ends[args.join(' ')] = code;
  }
  // A client may send anything: workflows refuse it, and say what is wrong with it.
  const mistake = TYPED_MISTAKE['typed mistake'];
  for (const input of [
    { sync: WITNESS, mode: mistake },
    { sync: WITNESS, externalIds: mistake },
  ]) {
    const handle = await shop.client.workflow.start('sync', {
      taskQueue: 'canaries',
      workflowId: `refused-${Object.keys(input)[1]}`,
      args: [input],
    });
    ends[handle.workflowId] = await failureOf(handle).then(({ type }) => type);
  }
}

async function commandsAboutRuns(): Promise<void> {
  for (const args of [
    ['status'],
    ['status', WITNESS],
    ['report', WITNESS, 'latest'],
    ['audit', WITNESS],
    ['doctor', WITNESS],
    ['check', WRONG_PASSWORD],
    ['check', QUOTED_ROW],
    ['doctor', WRONG_PASSWORD],
    ['preview', WRONG_PASSWORD],
    ['mapping', 'test', WITNESS],
    ['schema', 'diff', WITNESS],
    ['schedules', 'apply', WITNESS],
    ['schedules', 'list', WITNESS],
    ['alerts', 'list', WITNESS],
    ['alerts', 'test', WITNESS],
    ['prune', '--dry-run'],
    ['dead-letters', 'list', 'no-such-sync'],
    ['platform', 'usage', 'list'],
  ])
    await command(args);
  const wrong = new URL(shop.env['PARTNER_SYNC_STATE_URL']!);
  wrong.password = SECRETS['wrong password of the ledger'];
  await command(['status', WITNESS], 'commands', { PARTNER_SYNC_STATE_URL: wrong.href });
  await command(['status', WITNESS], 'commands', { PARTNER_SYNC_STATE_URL: wrong.href.replace('postgres', 'mysql') });
  await command(['schema', 'diff', WITNESS], 'commands', { PLATFORM_TOKEN: `${shop.token}x` });
  await command(['schema', 'diff', WITNESS], 'commands', { PLATFORM_TOKEN: `${shop.token}\u00e9` });
  await command(['doctor', WITNESS], 'commands', { PLATFORM_TOKEN: shop.token.slice(0, -3) });
  await command(['status'], 'commands', { TEMPORAL_TLS: 'true' });
  await shop.command(['report', WITNESS, 'latest', '--html', 'report.html']);
  await shop.command(['preview', WITNESS, '--out', 'plan.json']);
}

async function commandsAboutRecords(): Promise<void> {
  const id = IDS['external id'];
  for (const args of [
    ['check', WITNESS],
    ['preview', WITNESS],
    ['preview', QUOTED_ROW],
    ['explain', WITNESS, 'people', `${id}-2`],
    ['explain', WITNESS, 'people', `${id}-no-address`],
    ['explain', WITNESS, 'visits', `${id}-visit-2`],
    ['dead-letters', 'list', WITNESS, '--limit', '100'],
    ['dead-letters', 'export', WITNESS],
    ['reconcile', WITNESS, '--read-back', 'all'],
    ['reconcile', WITNESS],
    ['removals', WITNESS],
    ['forget', WITNESS, '--external-id', `${id}-40`, '--dry-run'],
  ])
    await command(args, 'commands about records');
  await shop.source.query(`DELETE FROM shop.people WHERE id = $1`, [`${id}-39`]);
  await shop.command(['reconcile', WITNESS, '--out', 'differences.jsonl']);
  outputs['commands about records']['differences.jsonl'] = readFileSync(join(shop.folder, 'differences.jsonl'));
  for (const name of ['report.html', 'plan.json', 'differences.jsonl'])
    modes[name] = statSync(join(shop.folder, name)).mode & 0o777;
  rmSync(join(shop.folder, 'differences.jsonl'));
}

/** Every page that a link leads to, as somebody who is logged in sees it. */
async function pages(): Promise<void> {
  const token = SECRETS['token of the console'];
  const console = await shop.start(['console', '--port', '0', '--allow-actions'], 'console ready at', {
    PARTNER_SYNC_CONSOLE_TOKEN: token,
  });
  const url = /http:\/\/[\d.:]+/.exec(console.output())![0];
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ token, next: '/' }),
  });
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
  const waiting = ['/', `/syncs/${WRONG_PASSWORD}`, `/syncs/${QUOTED_ROW}/reconcile`];
  for (const id of ['2', 'no-address', 'visit-2'])
    waiting.push(
      `/syncs/${WITNESS}/record?mapping=${id === 'visit-2' ? 'visits' : 'people'}&id=${IDS['external id']}-${id}`,
    );
  while (waiting.length > 0) {
    const path = waiting.pop()!;
    if (path in outputs['pages of the console']) continue;
    const page = await (await fetch(url + path, { headers: { cookie } })).text();
    outputs['pages of the console'][path] = page;
    for (const [, href] of page.matchAll(/href="(\/[^"#]*)"/g)) waiting.push(href!.replaceAll('&amp;', '&'));
  }
  await console.end();
  outputs.commands['console'] = console.output();
}

async function histories(): Promise<void> {
  for await (const { workflowId, runId } of shop.client.workflow.list())
    outputs["Temporal's histories"][workflowId + runId] = historyToJSON(
      await shop.client.workflow.getHandle(workflowId, runId).fetchHistory(),
    );
}

/** Every row of every table, each value as it is stored. */
async function tablesOfTheLedger(): Promise<void> {
  const tables = await shop.ledger.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'partner_sync'::regnamespace AND relkind IN ('r', 'm')`,
  );
  for (const { name } of tables) {
    const rows = await shop.ledger.query<Record<string, unknown>>(`SELECT * FROM partner_sync.${name}`);
    const values = rows.flatMap((row) => Object.values(row));
    outputs.ledger[name] = Buffer.concat(
      values.flatMap((value) => [
        Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
        Buffer.from('\n'),
      ]),
    );
  }
}

/** The files as they are, and each value of the tables, since a page of a file may end in the middle of one. */
function temporalDatabase(): void {
  Object.assign(outputs["Temporal's database"], filesIn(shop.temporalFolder));
  const database = new BetterSqlite(join(shop.temporalFolder, 'temporal.db'), { readonly: true, fileMustExist: true });
  const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all() as { name: string }[];
  for (const { name } of tables) {
    const rows = database.prepare(`SELECT * FROM "${name}"`).raw().all() as unknown[][];
    outputs["Temporal's database"][`table ${name}`] = Buffer.concat(
      rows.flat().map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(`${String(value)}\n`))),
    );
  }
  database.close();
}

it('all of it has happened', () => {
  expect(failed).toEqual(Object.keys(FAILURES));
  const [rows, nothing] = ['46 read, 40 accepted, 4 dead letters', '4 read, 0 accepted, 4 dead letters'];
  expect(ends).toEqual({
    'the first': '1 incomplete 46 read, 41 accepted, 4 dead letters',
    'the platform fails in each way': `1 incomplete ${rows}`,
    'a batch quotes its records': `1 incomplete ${rows}`,
    'the token is rejected': 'platform_unauthorized',
    'the token lacks a permission': 'platform_unauthorized',
    'the ledger quotes a row': 'state_refused',
    'the password of the source is wrong': 'config_invalid',
    'the source quotes a row': 'config_invalid',
    'all is well again': `1 incomplete ${rows}`,
    'dead letters again': `3 complete_with_dead_letters ${nothing}`,
    'backfill dovekie-shop --mapping people --external-id CORMORANT-TYPED-99 --json': 0,
    'run dovekie-shop': 1,
    'refused-mode': 'input_invalid',
    'refused-externalIds': 'input_invalid',
    'the worker': 0,
  });
});

it('what commands write for those who asked is theirs alone', () => {
  expect(modes).toEqual({ 'report.html': 0o600, 'differences.jsonl': 0o600, 'plan.json': 0o644 });
});

/** Ids of records are where the ledger needs them, and in what lists records or was asked for one. */
const WITH_IDS: readonly OutputName[] = ['ledger', 'commands about records', 'pages of the console'];
/** The input of a run, and the title of the process that started it. */
const WITH_TYPED_ID: readonly OutputName[] = [
  "Temporal's histories",
  "Temporal's database",
  'ledger',
  'command lines',
  'commands about records',
];
/** The input of a run, and what says why it failed. */
const WITH_TYPED_MISTAKE: readonly OutputName[] = [
  "Temporal's histories",
  "Temporal's database",
  'ledger',
  'commands',
  'log of the worker',
  'pages of the console',
  'written files',
];
/** What each output has for certain, so that a search that finds nothing there has not looked. */
const WITNESSES: Partial<Record<OutputName, string>> = { 'log of the sandbox': '/api/batches/:batchId' };

const forbiddenIn = (name: OutputName): Canaries => ({
  ...SECRETS,
  ...PERSONAL,
  'token of the platform': shop.token.split('.')[2]!,
  ...(WITH_IDS.includes(name) ? {} : IDS),
  ...(WITH_TYPED_ID.includes(name) ? {} : TYPED_ID),
  ...(WITH_TYPED_MISTAKE.includes(name) ? {} : TYPED_MISTAKE),
});

describe.each(Object.keys(outputs) as OutputName[])('%s', (name) => {
  it('has been searched: what must be there is found', () => {
    const witness = WITNESSES[name] ?? WITNESS;
    expect(Object.values(outputs[name]).flatMap((each) => findCanaries(each, { witness }))).not.toEqual([]);
  });

  it('has no secret and no value of a row', () => {
    const forbidden = forbiddenIn(name);
    const leaks = Object.entries(outputs[name]).flatMap(([where, each]) =>
      findCanaries(each, forbidden).map((found) => `${where}: ${found}`),
    );
    expect(leaks).toEqual([]);
  });
});
