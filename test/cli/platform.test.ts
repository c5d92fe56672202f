/** `partner-sync platform`: every operation, and the messages if something is wrong with a call. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operationEntries } from '../../src/platform/contract/operations.js';
import { answer, stubPlatform, success } from '../platform/stub-platform.js';
import type { CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

/** A command with arguments for its path; `x` is nothing's id. */
const commands = operationEntries.map(([name, operation]) => ({
  name,
  operation,
  line: `platform ${operation.command}`,
  args: ['platform', ...operation.command.split(' '), ...Object.keys(operation.params.properties).map(() => 'x')],
}));

const NOWHERE = { PLATFORM_BASE_URL: 'http://127.0.0.1:1', PLATFORM_TOKEN: 'a.secret.token', PLATFORM_TENANT: 'north' };
const at = (url: string) => ({ ...NOWHERE, PLATFORM_BASE_URL: url });

/** One line says what is wrong, one below it what to do, and one where more is said; nothing for a pipe to swallow. */
function saysClearly({ code, stdout, stderr }: CommandEnd, exit: number, words: string): void {
  expect(stderr).toContain(words);
  expect(code).toBe(exit);
  expect(stdout).toBe('');
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
  expect(stderr).not.toMatch(/ {4}at |secret/);
}

describe.each(commands)('$line', ({ operation, args }) => {
  it('explains every argument and flag, and names the section of the interface', async () => {
    const { code, stdout } = await runInProcess([...args.slice(0, 3), '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(operation.summary.split(' ').slice(0, 3).join(' '));
    expect(stdout).toContain(`platform-api.md ${operation.section}: ${operation.method} ${operation.path}`);
    expect(stdout.includes('--tenant')).toBe(operation.scope === 'tenant' || operation.tenantFilter === true);
    expect(stdout).not.toMatch(/--token/);
  });

  it('refuses a flag that it does not have', async () => {
    saysClearly(await runInProcess([...args, '--no-such-flag', '1'], NOWHERE), 2, 'unknown option');
  });

  it('asks for a token if there is none', async () => {
    const ended = await runInProcess(args, { ...NOWHERE, PLATFORM_TOKEN: '' });
    saysClearly(ended, 2, 'PLATFORM_TOKEN or PLATFORM_TOKEN_FILE is not set');
  });

  it('says that the platform cannot be reached', async () => {
    saysClearly(await runInProcess(args, NOWHERE), 1, 'error platform_unreachable: ');
  });

  it('shows the message of a refusal and the errors that the platform listed', async () => {
    const body = { success: false, message: 'the request is not valid', errors: ['query/limit must be >= 1'] };
    const { url } = await stubPlatform([answer(400, body)]);
    const ended = await runInProcess(args, at(url));
    saysClearly(ended, 1, 'returned 400: the request is not valid; query/limit must be >= 1');
  });
});

it.each(commands.filter(({ operation }) => operation.body !== null))(
  '$line refuses a body that is not JSON',
  async ({ args }) => {
    saysClearly(await runInProcess([...args, '--data', '{"text": '], NOWHERE), 2, '--data: the value is not JSON');
  },
);

it.each(commands.filter(({ operation }) => operation.scope === 'tenant'))(
  '$line asks for the tenant if none is named',
  async ({ args }) => {
    saysClearly(await runInProcess(args, { ...NOWHERE, PLATFORM_TENANT: '' }), 2, 'no tenant: use --tenant <id>');
  },
);

describe('input', () => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-data-'));
  const file = join(folder, 'body.json');
  writeFileSync(file, '\uFEFF{"text":"people in France","userCustomVerb":"guest"}');
  const latin = join(folder, 'latin.json');
  writeFileSync(latin, Buffer.from('{"text":"M\u00fcller"}', 'latin1'));
  const segment = ['platform', 'segments', 'from-text'];
  const found = answer(200, { success: true, title: 'In France' });

  it('comes from flags, which take precedence over the fields of a file', async () => {
    const { url, seen } = await stubPlatform([found]);
    await runInProcess([...segment, '--data', `@${file}`, '--user-custom-verb', 'shopper'], at(url));
    expect(JSON.parse(seen[0]!.body)).toEqual({ text: 'people in France', userCustomVerb: 'shopper' });
    expect(seen[0]!.headers).toMatchObject({ 'service-tenant-id': 'north', authorization: 'Bearer a.secret.token' });
  });

  it('sends parameters, booleans, numbers and lists with their types', async () => {
    const accepted = answer(202, { success: true, data: { batchId: 'b-1', recordCount: 1 } });
    const people = success({ count: 0, recipients: [], pagination: { hasNextPage: false } });
    const { url, seen } = await stubPlatform([accepted, people]);
    const upload = ['platform', 'resources', 'upload', 'customer', '--resources', '[{"id":1}]', '--tenant', 'south'];
    await runInProcess([...upload, '--ignore-unknown-fields', 'true', '--dependency-wait-timeout', '60'], at(url));
    await runInProcess(
      ['platform', 'segments', 'count', '--include-segments', 'a,b', '--include-segments', 'c', '--limit', '5'],
      at(url),
    );
    expect(seen[0]).toMatchObject({
      url: '/api/resources/customer/batch?ignoreUnknownFields=true&dependencyWaitTimeout=60',
      body: '{"resources":[{"id":1}]}',
      headers: { 'service-tenant-id': 'south' },
    });
    expect(JSON.parse(seen[1]!.body)).toEqual({ includeSegments: ['a,b', 'c'], limit: 5 });
  });

  it.each([
    [['--data', `@${folder}/none.json`], 'none.json cannot be read (ENOENT)'],
    [['--data', '[1]'], '--data: expected a JSON object'],
    [
      ['--data', '{"text": 12345678901234567890}'],
      '--data: the value has a number that would be rounded (at character 9)',
    ],
    [['--data', '{"text": 1e400}'], 'would be rounded'],
    [['--data', `@${latin}`], 'latin.json is not UTF-8 text'],
    [['--data', ''], 'is not JSON, it is empty'],
  ])('is refused as %j', async (flags, words) => {
    saysClearly(await runInProcess([...segment, ...flags], NOWHERE), 2, words);
  });

  it.each([
    [['resources', 'upload', 'x', '--onconflict', 'upsrt'], 'Did you mean upsert?'],
    [['resources', 'upload', 'x', '--ignore-unknown-fields', 'maybe'], 'Allowed: true, false'],
    [['usage', 'list', '--limit', 'ten'], 'Allowed: a whole number'],
    [['batches', 'wait', 'b', '--for', 'ever'], 'Allowed: such as 90s'],
    [['automations', 'get'], "missing required argument 'id'"],
    [['batches', 'gt', 'x'], "unknown command 'gt'"],
  ])('is refused in the command line %j', async (args, words) => {
    const { code, stderr } = await runInProcess(['platform', ...args], NOWHERE);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });

  it.each([
    [{ PLATFORM_BASE_URL: 'http://platform.example.com' }, 'must be https'],
    [{ PLATFORM_TOKEN: 'two\nlines' }, 'contains characters that no token has'],
    [{ PLATFORM_TOKEN: '', PLATFORM_TOKEN_FILE: '/none' }, 'PLATFORM_TOKEN_FILE names /none'],
    [{ PLATFORM_TOKEN_SCOPE: 'mine' }, 'PLATFORM_TOKEN_SCOPE must be platform or tenant'],
  ])('is refused in the environment: %j', async (env, words) => {
    saysClearly(await runInProcess(['platform', 'usage', 'list'], { ...NOWHERE, ...env }), 2, words);
  });
});

describe('output', () => {
  const page = (id: string, cursor: string | null) =>
    success({
      results: [{ id, name: 'Mail \u001b[31m', created_at: '2026-01-01' }],
      pagination: { hasNextPage: cursor !== null, cursor, total: 2 },
    });
  const list = ['platform', 'channel-integrations', 'list'];

  it('is a table for people, without control characters, that shows how to get the next page', async () => {
    const { url } = await stubPlatform([page('i-1', 'c1')]);
    const { code, stdout } = await runInProcess(list, at(url));
    expect(stdout.split('\n')).toEqual([
      'id    name              created_at',
      'i-1   Mail \\u{1b}[31m   2026-01-01',
      '1 of 2 shown, next: --cursor c1',
      '',
    ]);
    expect(code).toBe(0);
  });

  it('is one JSON document for machines', async () => {
    const { url } = await stubPlatform([page('i-1', null)]);
    const { stdout } = await runInProcess([...list, '--json'], at(url));
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, data: { results: [{ id: 'i-1' }] } });
    expect(stdout.trim()).not.toContain('\n');
  });

  it('contains all pages with --all', async () => {
    const { url } = await stubPlatform([page('i-1', 'c1'), page('i-2', null)]);
    const { stdout } = await runInProcess([...list, '--all', '--json'], at(url));
    const { data } = JSON.parse(stdout) as { data: { results: { id: string }[] } };
    expect(data.results.map(({ id }) => id)).toEqual(['i-1', 'i-2']);
  });

  it('contains with --all also what the first page says besides its entries', async () => {
    const people = (id: string, cursor: string | null) =>
      success({ count: 2, recipients: [{ id }], pagination: { hasNextPage: cursor !== null, cursor } });
    const { url } = await stubPlatform([people('p-1', 'c1'), people('p-2', null)]);
    const count = ['platform', 'segments', 'count', '--include-segments', 'a', '--all', '--json'];
    const { stdout } = await runInProcess(count, at(url));
    expect(JSON.parse(stdout)).toMatchObject({ data: { count: 2, recipients: [{ id: 'p-1' }, { id: 'p-2' }] } });
  });

  it('shows errors as JSON too', async () => {
    const { stdout, code } = await runInProcess([...list, '--json'], NOWHERE);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, error: { code: 'platform_unreachable' } });
    expect(code).toBe(1);
  });

  it('shows nested fields with dotted names, and lists below', async () => {
    const record = {
      id: 'r',
      resourceExternalId: 'x',
      data: { name: 'Ann', address: { city: 'Paris' }, tags: ['a', 'b'] },
    };
    const { url } = await stubPlatform([success({ result: record, included: [record] })]);
    const { stdout } = await runInProcess(['platform', 'resources', 'get', 'customer', 'x'], at(url));
    expect(stdout).toMatch(/^result\.data\.address\.city {3,}Paris$/m);
    expect(stdout).toMatch(/^result\.data\.tags {3,}a, b$/m);
    expect(stdout).toContain('\nincluded:\nid ');
  });

  it('shows "none" for data that is null', async () => {
    const { url } = await stubPlatform([success(null)]);
    expect((await runInProcess(['platform', 'sms-registrations', 'get', 'north'], at(url))).stdout).toBe('none\n');
  });

  it('exits with 1 if a description was not understood', async () => {
    const { url } = await stubPlatform([answer(200, { success: false, failureReason: 'what is "blorb"?' })]);
    const { code, stdout } = await runInProcess(['platform', 'segments', 'from-text', '--text', 'blorb'], at(url));
    expect(stdout).toContain('what is "blorb"?');
    expect(code).toBe(1);
  });
});

describe('platform batches wait', () => {
  const batch = (successful: number, failed: number, done: boolean) =>
    success({
      batchId: 'b-1',
      progress: {
        totalRecords: 3,
        processedRecords: successful + failed,
        successfulRecords: successful,
        pendingRecords: 0,
        failedRecords: failed,
      },
      completedAt: done ? '2026-01-01T00:00:00Z' : null,
    });
  const wait = ['platform', 'batches', 'wait', 'b-1'];

  it('follows the batch, prints progress separately from the result, and exits with 0 once all is stored', async () => {
    const { url } = await stubPlatform([answer(404, { message: 'none' }), batch(1, 0, false), batch(3, 0, true)]);
    const { code, stdout, stderr } = await runInProcess([...wait, '--json'], at(url));
    expect(stderr.split('\n')).toEqual([
      'not visible yet',
      '1 of 3 stored, 0 failed, 0 pending',
      '3 of 3 stored, 0 failed, 0 pending',
      '',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ data: { batchId: 'b-1' } });
    expect(code).toBe(0);
  });

  it('waits on while the platform writes a time that is none, and takes a counter that is left out for 0', async () => {
    const terse = (completedAt: string) => success({ batchId: 'b-1', progress: { successfulRecords: 3 }, completedAt });
    const { url } = await stubPlatform([terse('0001-01-01T00:00:00Z'), terse('2026-01-01T00:00:00Z')]);
    const { code, stderr } = await runInProcess(wait, at(url));
    expect(stderr).toBe('3 stored, 0 failed, 0 pending\n');
    expect(code).toBe(0);
  });

  it('exits with 1 if records failed', async () => {
    const { url } = await stubPlatform([batch(2, 1, true)]);
    expect((await runInProcess(wait, at(url))).code).toBe(1);
  });

  it('exits with 1 if the batch does not complete in time', async () => {
    const { url } = await stubPlatform([batch(0, 0, false)]);
    const { code, stderr } = await runInProcess([...wait, '--for', '1s'], at(url));
    expect(stderr).toContain('the batch is not complete after 1 s: 0 of 3 stored');
    expect(code).toBe(1);
  });
});
