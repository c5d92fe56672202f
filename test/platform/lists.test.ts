/** Paginated lists: every entry once, no page that is not read, and no infinite loop. */
import { expect, it } from 'vitest';
import { errorOf, stubPlatform, success } from './stub-platform.js';

const usage = (tenantId: string) => ({
  tenantId,
  tenantExternalId: null,
  tenantName: tenantId,
  emailsSent: 0,
  smsSent: 0,
  totalSends: 0,
  activeAutomations: 0,
  smsNumberCount: 0,
});
const page = (ids: string[], cursor: string | null, hasNextPage = cursor !== null) =>
  success({ results: ids.map(usage), pagination: { hasNextPage, cursor } });

it('sends the cursor of a page for the next one, with the same query', async () => {
  const { client, seen } = await stubPlatform([page(['a', 'b'], 'c1'), page(['c'], 'c2'), page(['d'], null)]);
  const names = [];
  for await (const row of client.each('listTenantUsage', { query: { limit: 2 } })) names.push(row.tenantId);
  expect(names).toEqual(['a', 'b', 'c', 'd']);
  expect(seen.map(({ url }) => url.split('?')[1])).toEqual(['limit=2', 'limit=2&cursor=c1', 'limit=2&cursor=c2']);
});

it('sends the cursor in the body if the operation expects it there', async () => {
  const people = (id: string, cursor: string | null) =>
    success({ count: 2, recipients: [{ id }], pagination: { hasNextPage: cursor !== null, cursor } });
  const { client, seen } = await stubPlatform([people('p1', 'next'), people('p2', null)]);
  const ids = [];
  for await (const { id } of client.each('countSegments', { tenant: 'north', body: { search: 'ann' } })) ids.push(id);
  expect(ids).toEqual(['p1', 'p2']);
  expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { search: 'ann' },
    { search: 'ann', cursor: 'next' },
  ]);
});

it('fetches no page that nobody reads', async () => {
  const { client, seen } = await stubPlatform([page(['a', 'b'], 'c1')]);
  for await (const row of client.each('listTenantUsage')) if (row.tenantId === 'b') break;
  expect(seen).toHaveLength(1);
});

it.each([
  ['in a cycle', [page(['a'], 'c1'), page(['b'], 'c2'), page(['a'], 'c1')], 'by a cursor it gave before'],
  ['nowhere', [page(['a'], null, true)], 'without a cursor'],
])('stops if cursors lead %s', async (_where, pages, words) => {
  const { client, seen } = await stubPlatform(pages);
  const error = await errorOf(
    (async () => {
      for await (const row of client.each('listTenantUsage')) expect(row.tenantId).toBeTypeOf('string');
    })(),
  );
  expect(error).toMatchObject({ code: 'platform_response_invalid' });
  expect(error.message).toContain(words);
  expect(seen).toHaveLength(pages.length);
});
