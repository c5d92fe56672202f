/** Where segments come from: the fixture, and the library (4.6). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultFixture, parseFixture } from '../../src/sandbox/fixture/parse.js';
import { loadInto } from '../../src/sandbox/fixture/load.js';
import type { ConditionGroup } from '../../src/sandbox/segments/condition.js';
import { interpretText } from '../../src/sandbox/segments/interpret-text.js';
import { createDatabase, startForTest, type TestDatabase } from './running-sandbox.js';
import { RETAIL } from './retail-definitions.js';

/** Member 1 is in group a, member 2 in group b. */
const inGroup = (value: string): ConditionGroup => ({
  type: 'group',
  description: value,
  logic: 'and',
  conditions: [
    {
      type: 'property',
      description: value,
      schema: 'member',
      jsonPath: '$.group',
      operator: 'is',
      value: [value],
    },
  ],
});
const segment = (id: string, group: string) => ({
  id,
  name: id,
  description: group,
  conditionGroups: [inGroup(group)],
});
const ITEM = '00000000-0000-4000-8000-00000000000a';
const TAKEN = '00000000-0000-4000-8000-00000000000b';
const FIXTURE = {
  library: { segments: [segment(ITEM, 'a'), segment(TAKEN, 'a')] },
  tenants: [
    { id: 'north', name: 'North', segments: [segment('own', 'b'), segment(TAKEN, 'b')] },
    { id: 'south', name: 'South' },
  ],
};

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('segment-sources');
  sandbox = await startForTest(database, {}, FIXTURE);
  await sandbox.createSchema('member', { group: { type: 'string' } }, { category: 'contacts_schema' });
  const members = [
    { id: '1', group: 'a' },
    { id: '2', group: 'b' },
  ];
  await sandbox.uploaded('member', members);
  await sandbox.uploaded('member', members, { tenant: 'south' });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

/** The members that a segment of the tenant chooses, or the status where there is no such segment. */
async function chosen(tenant: string, id: string): Promise<string[] | number> {
  const body = { includeSegments: [id] };
  const answer = await sandbox.call('POST', '/api/segments/count', { body, tenant });
  const { recipients } = (answer.body.data ?? {}) as unknown as { recipients: { externalId: string }[] };
  return answer.status === 200 ? recipients.map(({ externalId }) => externalId) : answer.status;
}
const library = async (tenant: string, body: object) =>
  (await sandbox.call('PATCH', `/partner/engage-library/${tenant}`, { body, tenant: null })).body.data as unknown as {
    results: object[];
  };

describe('segments of the fixture', () => {
  it("are the tenant's own, and brought up to date by a later load", async () => {
    expect(await chosen('north', 'own')).toEqual(['2']);
    expect(await chosen('south', 'own')).toBe(404);
    await loadInto(database.url, { tenants: [{ id: 'north', name: 'North', segments: [segment('own', 'a')] }] });
    expect(await chosen('north', 'own')).toEqual(['1']);
    await loadInto(database.url, FIXTURE);
  });

  it.each([
    ['a path that is none', { jsonPath: 'group' }, '/0/conditions/0/jsonPath is no path'],
    [
      'a value that its operator cannot take',
      { operator: 'before', value: ['soon'] },
      '/value: "before" needs 1 day as YYYY-MM-DD',
    ],
    [
      'a span of more than a thousand years',
      { operator: 'within_last', value: ['99999', 'year'] },
      'a thousand years at most',
    ],
    ['an operator that there is not', { operator: 'resembles' }, '/operator: must be one of'],
    ['no such member', { colour: 'red' }, '/colour: unknown field'],
  ])('are refused with the place where a condition has %s', (_case, change, problem) => {
    const own = segment('own', 'a');
    const conditions = own.conditionGroups[0]!.conditions.map((condition) => ({ ...condition, ...change }));
    const wrong = { ...own, conditionGroups: [{ ...own.conditionGroups[0], conditions }] };
    const parse = () => parseFixture({ tenants: [{ id: 'north', name: 'North', segments: [wrong] }] });
    expect(parse).toThrow('/tenants/0/segments/0/conditionGroups');
    expect(parse).toThrow(problem);
  });

  it('are refused where an id comes twice, among automations and segments of the library too', () => {
    const twice = [segment('own', 'a'), segment('own', 'b')];
    expect(() => parseFixture({ tenants: [{ id: 'north', name: 'North', segments: twice }] })).toThrow(
      '/tenants/0/segments/1: "own" occurs twice',
    );
    const { automations } = defaultFixture().library!;
    const same = { automations, segments: [segment(automations![0]!.id, 'a')] };
    expect(() => parseFixture({ library: same, tenants: [] })).toThrow('occurs twice');
  });

  it('are, in the fixture that ships, what the language makes of their descriptions', () => {
    const { library: shipped, tenants } = defaultFixture();
    const all = [...shipped!.segments!, ...tenants.flatMap(({ segments = [] }) => segments)];
    expect(all.length).toBeGreaterThan(4);
    for (const { description, conditionGroups } of all)
      expect(interpretText({ text: description, userCustomVerb: 'customer' }, RETAIL)).toMatchObject({
        success: true,
        conditionGroups,
      });
  });
});

describe('segment definitions of the library', () => {
  it('are copied into the one tenant, and taken away again, as often as it is said', async () => {
    const synced = { type: 'segment', id: ITEM, action: 'sync', status: 'synced' };
    expect((await library('south', { sync: [{ id: ITEM }] })).results).toEqual([synced]);
    expect((await library('south', { sync: [{ id: ITEM }] })).results).toEqual([synced]);
    expect([await chosen('south', ITEM), await chosen('north', ITEM)]).toEqual([['1'], 404]);
    const unsynced = { ...synced, action: 'unsync', status: 'unsynced' };
    expect((await library('south', { unsync: [{ id: ITEM }] })).results).toEqual([unsynced]);
    expect((await library('south', { unsync: [{ id: ITEM }] })).results).toEqual([unsynced]);
    expect(await chosen('south', ITEM)).toBe(404);
  });

  it('bring a copy up to date when they have changed', async () => {
    await library('south', { sync: [{ id: ITEM }] });
    await loadInto(database.url, { library: { segments: [segment(ITEM, 'b')] }, tenants: [] });
    expect(await chosen('south', ITEM)).toEqual(['1']);
    await library('south', { sync: [{ id: ITEM }] });
    expect(await chosen('south', ITEM)).toEqual(['2']);
    await loadInto(database.url, FIXTURE);
  });

  it("leave a tenant's own segment alone", async () => {
    expect((await library('north', { sync: [{ id: TAKEN }] })).results).toMatchObject([{ status: 'conflict' }]);
    await library('north', { unsync: [{ id: TAKEN }] });
    expect(await chosen('north', TAKEN)).toEqual(['2']);
  });
});
