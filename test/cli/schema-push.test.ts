/** `schema push` over an unreliable network: it retries, recognizes its own definitions, and continues. */
import { expect, it, onTestFinished } from 'vitest';
import { pushSchemas } from '../../src/schema-push/push-schemas.js';
import type { Fault, StubAnswer } from '../pipeline/platform-proxy.js';
import { openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { errorOf } from '../platform/stub-platform.js';
import { runInProcess } from './in-process.js';

const json = (status: number, message: string): StubAnswer => ({
  status,
  body: JSON.stringify({ success: false, message }),
});
const HTML: StubAnswer = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>welcome</html>' };

async function unpushed(): Promise<Shop> {
  const shop = await openShop({ pushed: false });
  onTestFinished(() => shop.close());
  return shop;
}

/** Answers the first `times` pushes of each definition so, and lets the others pass. */
function failFirst(shop: Shop, fault: Fault, times = 1): void {
  const seen = new Map<string, number>();
  shop.proxy.fail(({ path, body }) => {
    if (!path.startsWith('/partner/schema-definitions')) return undefined;
    const before = seen.get(body) ?? 0;
    seen.set(body, before + 1);
    return before < times ? fault : undefined;
  });
}

const ALL = ['customer', 'order', 'line'];

const FAULTS: Readonly<Record<string, Fault>> = {
  'the connection is reset before it was created': { forward: false, answer: 'cut' },
  'the connection is reset after it was created': { forward: true, answer: 'cut' },
  'the answer is 500, and it was not created': { forward: false, answer: json(500, 'oops') },
  'the answer is 500, and it was created': { forward: true, answer: json(500, 'oops') },
  'the answer is 504 of a gateway, and it was created': { forward: true, answer: { ...HTML, status: 504 } },
  'the answer is cut off': { forward: true, answer: { status: 201, body: '{"success":true,"data":{"id":"' } },
  'the answer is a page of HTML': { forward: false, answer: HTML },
  'the answer is a redirect': { forward: false, answer: { status: 302, headers: { location: '/login' }, body: '' } },
};

for (const [what, fault] of Object.entries(FAULTS))
  it(`continues if ${what}`, async () => {
    const shop = await unpushed();
    failFirst(shop, fault, 2);

    const results = await pushSchemas(shop.parts, SYNC);

    expect(results.map(({ schema, action }) => [schema, action])).toEqual(ALL.map((name) => [name, 'created']));
    shop.proxy.fail(undefined);
    // What was pushed is remembered, so that a later change is noticed; pushing again sends nothing.
    shop.proxy.forget();
    const again = await pushSchemas(shop.parts, SYNC);
    expect(again.map(({ action }) => action)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    expect(shop.proxy.requests).toEqual([]);
    const { stdout } = await runInProcess(['schema', 'diff', SYNC], shop.env);
    expect(stdout).toContain('0 of 3 schema definitions differ from what was pushed.');
    expect(stdout).not.toContain('before us');
  });

it('recognizes by the message that a name is taken, if the platform reports it with 400', async () => {
  const shop = await unpushed();
  let tries = 0;
  shop.proxy.fail(({ path, body }) =>
    path.startsWith('/partner/schema-definitions') && body.includes('"name":"customer"')
      ? tries++ === 0
        ? { forward: true, answer: 'cut' }
        : { forward: false, answer: json(400, 'A schema definition with this name already exists') }
      : undefined,
  );
  const lines: string[] = [];

  const results = await pushSchemas(shop.parts, SYNC, (line) => lines.push(line));

  expect(results.map(({ action }) => action)).toEqual(['created', 'created', 'created']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^customer: the response was lost \(.*\); its name is taken now, so it was created$/);
});

it('distinguishes a name that existed before from one that it has just created', async () => {
  const shop = await unpushed();
  const platform = await shop.parts.platform();
  const { spec } = await shop.parts.openSync(SYNC);
  const { schema } = spec.mappings.find(({ name }) => name === 'customers')!;
  await platform.createSchemaDefinition(schema as Parameters<typeof platform.createSchemaDefinition>[0]);

  const results = await pushSchemas(shop.parts, SYNC);

  expect(results.map(({ schema, action }) => [schema, action])).toEqual([
    ['customer', 'exists'],
    ['order', 'created'],
    ['line', 'created'],
  ]);
});

it('does not retry what the platform refuses', async () => {
  const shop = await unpushed();
  failFirst(shop, { forward: false, answer: json(400, 'category is not known') }, 99);
  expect(await errorOf(pushSchemas(shop.parts, SYNC))).toMatchObject({ code: 'platform_refused' });
  // Each of the three once: one that is refused holds up nobody else.
  expect(shop.proxy.requests).toHaveLength(3);
});
