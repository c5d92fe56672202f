/** Segments over HTTP: conditions from text (4.2), and the people that they choose (4.7). */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, FIXTURE, SOUTH, startForTest, type TestDatabase } from './running-sandbox.js';
import { RETAIL_NOW } from './retail-definitions.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;

interface Recipient {
  readonly [name: string]: unknown;
  readonly externalId: string;
}
interface Counted {
  readonly count: number;
  readonly recipients: Recipient[];
  readonly pagination: { readonly hasNextPage: boolean; readonly cursor: string | null };
}

const CUSTOMERS = [
  {
    customerId: 'c-1',
    firstName: 'Ann',
    lastName: 'Lee',
    email: 'ann@example.com',
    phone: '+442079460958',
    country: 'United Kingdom',
    marketingOptIn: true,
  },
  {
    customerId: 'c-2',
    firstName: 'Bob',
    lastName: 'O_Neil',
    email: 'bob@example.fr',
    country: 'France',
    marketingOptIn: false,
  },
  { customerId: 'c-3', firstName: 'Cléo', country: 'france' },
  { customerId: 'c-4', lastName: 'Dahl', email: 'dahl@example.no', country: 'Norway' },
].map((customer) => ({ ...customer, createdAt: '2010-11-01T08:00:00Z' }));

const sale = (id: string, customerId: string | null, date: string, total: number) => ({
  transactionId: id,
  ...(customerId === null ? {} : { customerId }),
  transactionDate: date,
  transactionTotal: total,
  kind: total < 0 ? 'cancellation' : 'sale',
  currency: 'GBP',
});
const SALES = [
  sale('t-1', 'c-1', '2010-12-08T10:00:00+01:00', 80),
  sale('t-2', 'c-1', '2010-12-01T00:00:00Z', 40.5),
  sale('t-3', 'c-2', '2010-09-30T23:30:00-02:00', 200),
  sale('t-4', 'c-2', '2010-12-09T11:59:59Z', -50),
  sale('t-5', null, '2010-12-09T09:00:00Z', 1000),
];
const line = (id: string, transactionId: string, description: string, quantity: number) => ({
  lineId: id,
  transactionId,
  description,
  quantity,
  stockCode: 's',
  unitPrice: 1,
  lineTotal: quantity,
  enteredAt: '2010-12-09T09:00:00Z',
});

beforeAll(async () => {
  database = await createDatabase('segments');
  sandbox = await startForTest(database, {}, FIXTURE, { now: () => RETAIL_NOW });
  for (const name of ['customer', 'transactions', 'order_line']) {
    const { $schema: _, ...body } = JSON.parse(
      readFileSync(new URL(`../../mappings/online-retail/${name}.schema.json`, import.meta.url), 'utf8'),
    ) as Record<string, unknown>;
    await sandbox.call('POST', '/partner/schema-definitions', { body, tenant: null });
  }
  await sandbox.uploaded('customer', CUSTOMERS);
  await sandbox.uploaded('transactions', SALES);
  await sandbox.uploaded('order_line', [
    line('l-1', 't-1', 'RED LANTERN', 3),
    line('l-2', 't-1', 'Lantern, blue', 12),
    line('l-3', 't-3', 'Mug', 1),
  ]);
  await sandbox.uploaded('customer', [{ ...CUSTOMERS[1]!, customerId: 's-1' }], { tenant: SOUTH });
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

const interpret = (body: object, tenant = 'north') =>
  sandbox.call('POST', '/api/segments/text-to-segment', { body, tenant }) as unknown as Promise<{
    status: number;
    body: { success: boolean; failureReason?: string; conditionGroups: unknown[]; title: string };
  }>;

/** Makes a text a stored segment of the tenant. */
async function store(id: string, text: string, tenant = 'north'): Promise<string> {
  const { body } = await interpret({ text });
  if (!body.success) throw new Error(body.failureReason);
  await database.query(
    `insert into sandbox.segments (tenant_id, id, name, description, condition_groups) values ($1, $2, $2, '', $3)
     on conflict (tenant_id, id) do update set condition_groups = excluded.condition_groups`,
    [tenant, id, JSON.stringify(body.conditionGroups)],
  );
  return id;
}

const count = async (body: object, tenant = 'north') => {
  const answer = await sandbox.call('POST', '/api/segments/count', { body, tenant });
  return {
    status: answer.status,
    message: answer.body.message,
    errors: answer.body.errors,
    data: answer.body.data as unknown as Counted,
  };
};
const ids = async (body: object, tenant = 'north') =>
  (await count(body, tenant)).data.recipients.map((r) => r.externalId);
const chosenBy = async (text: string) => ids({ includeSegments: [await store('try', text)] });

describe('a segment from a text', () => {
  it('answers without an envelope: conditions, title and description', async () => {
    const { status, body } = await interpret({ text: 'guests in France', userCustomVerb: 'guest' });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        title: 'Guests whose country is France',
        description: 'Guests whose country is "France".',
        conditionGroups: [
          {
            type: 'group',
            description: 'whose country is "France"',
            logic: 'and',
            conditions: [
              {
                type: 'property',
                description: 'whose country is "France"',
                value: ['France'],
                schema: 'customer',
                jsonPath: '$.country',
                operator: 'is',
              },
            ],
          },
        ],
      },
    ]);
  });

  it('calls people users where the tenant has no word of its own', async () => {
    expect((await interpret({ text: 'users in France' })).body.title).toBe('Users whose country is France');
  });

  it('answers success: false with the words that it does not understand', async () => {
    const { status, body } = await interpret({ text: 'customers who zorbled' });
    expect([status, body.success]).toEqual([200, false]);
    expect(body.failureReason).toContain('"zorbled"');
  });

  it('refuses a body without a text in the error envelope', async () => {
    const { status, body } = await interpret({ userCustomVerb: '' });
    expect([status, body]).toMatchObject([
      400,
      { success: false, errors: [expect.stringContaining('text'), expect.stringContaining('userCustomVerb')] },
    ]);
  });
});

describe('the people that segments choose', () => {
  it('are all people of the tenant where no segment is named', async () => {
    expect((await count({})).data).toEqual({
      count: 4,
      pagination: { hasNextPage: false, cursor: null, total: 4 },
      recipients: [
        expect.objectContaining({ externalId: 'c-1' }),
        {
          id: expect.any(String) as string,
          externalId: 'c-2',
          firstName: 'Bob',
          lastName: 'O_Neil',
          email: 'bob@example.fr',
          phone: null,
          emailOptedOut: true,
          smsOptedOut: true,
        },
        expect.objectContaining({ externalId: 'c-3', firstName: 'Cléo', emailOptedOut: false, smsOptedOut: false }),
        expect.objectContaining({ externalId: 'c-4' }),
      ],
    });
    expect(await ids({}, SOUTH)).toEqual(['s-1']);
  });

  it.each([
    ['all customers', ['c-1', 'c-2', 'c-3', 'c-4']],
    ['in France', ['c-2', 'c-3']],
    ['whose country is not France', ['c-1', 'c-4']],
    ['in "the United Kingdom" or Norway', ['c-4']],
    ['whose email ends with ".FR" or whose email contains "ann"', ['c-1', 'c-2']],
    ['with an email', ['c-1', 'c-2', 'c-4']],
    ['whose email is not set and whose first name is not set', []],
    ['whose first name is not set', ['c-4']],
    ['whose marketing opt-in is true', ['c-1']],
    ['whose marketing opt-in is false', ['c-2']],
    ['whose marketing opt-in is not true', ['c-2', 'c-3', 'c-4']],
    ['whose first name is "Bob" or "%" or whose first name starts with "cl"', ['c-2', 'c-3']],
    ['with at least 1 transaction', ['c-1', 'c-2']],
    ['with no transactions', ['c-3', 'c-4']],
    ['with under 2 transactions', ['c-3', 'c-4']],
    ['with exactly 2 transactions', ['c-1', 'c-2']],
    ['with exactly 0 transactions', ['c-3', 'c-4']],
    ['who spent over 100', ['c-1', 'c-2']],
    ['who spent over 100 in the last 30 days', ['c-1']],
    ['who spent exactly 120.5', ['c-1']],
    ['who spent under 1', ['c-3', 'c-4']],
    ['who spent under 0 this month', ['c-2']],
    ['whose total total of transactions is not over 100 this month', ['c-2', 'c-3', 'c-4']],
    ['who spent between 0 and 130', ['c-1', 'c-3', 'c-4']],
    ['whose average total of transactions is at least 75', ['c-2']],
    ['whose average total of transactions is not at least 75', ['c-1', 'c-3', 'c-4']],
    ['whose maximum total of transactions is under 100', ['c-1']],
    ['whose minimum total of transactions is under 0', ['c-2']],
    ['with at least 1 transaction this day where kind is "cancellation"', ['c-2']],
    ['with at least 1 transaction last day', ['c-1']],
    ['with at least 1 transaction between 2010-10-01 and 2010-10-31', ['c-2']],
    ['with at least 1 transaction between 2010-09-01 and 2010-09-30', []],
    ['with at least 1 transaction between 2010-12-01 and 2010-12-01', ['c-1']],
    ['with at least 1 transaction last month', []],
    ['with at least 1 transaction in the last 1 quarter', ['c-1', 'c-2']],
    ['with at least 1 transaction this quarter', ['c-1', 'c-2']],
    ['with at least 1 transaction in the last 28 hours', ['c-1', 'c-2']],
    ['with at least 1 transaction in the last 27 hours', ['c-2']],
    ['whose latest date of transactions is more than 12 hours ago', ['c-1']],
    ['whose earliest date of transactions is before 2010-10-01', []],
    ['whose earliest date of transactions is before 2010-10-02', ['c-2']],
    ['with at least 1 order line where article contains "lantern"', ['c-1']],
    ['with exactly 2 order lines where article contains "lantern"', ['c-1']],
    ['with at least 1 order line before 2010-12-01 where article contains "lantern"', []],
    ['with at least 1 order line in the last 2 days where quantity is over 10', ['c-1']],
    ['whose total quantity of order lines is over 14', ['c-1']],
    ['(in France or with at least 1 transaction) and with an email', ['c-1', 'c-2']],
  ])('are those of the text: %s', async (text, expected) => {
    expect(await chosenBy(text)).toEqual(expected);
  });

  it('are those of any segment included, less those of any excluded', async () => {
    await store('french', 'in France');
    await store('norse', 'in Norway');
    await store('reachable', 'with an email');
    expect(await ids({ includeSegments: ['french', 'norse'] })).toEqual(['c-2', 'c-3', 'c-4']);
    expect(await ids({ includeSegments: ['french', 'norse'], excludeSegments: ['reachable'] })).toEqual(['c-3']);
    expect(await ids({ excludeSegments: ['french', 'norse'] })).toEqual(['c-1']);
    expect(await ids({ includeSegments: [], excludeSegments: [] })).toHaveLength(4);
  });

  it('are those of an automation, and of the segments named beside it', async () => {
    await store('french', 'in France');
    await store('reachable', 'with an email');
    const content = { includeSegmentIds: ['french'], excludeSegmentIds: ['reachable'] };
    await database.query(
      `insert into sandbox.automations (tenant_id, id, status, automation_type, trigger_type, content)
       values ('north', 'a-1', 'draft', 'managed', 'one_time', $1)`,
      [JSON.stringify(content)],
    );
    expect(await ids({ automationId: 'a-1' })).toEqual(['c-3']);
    expect(await ids({ automationId: 'a-1', includeSegments: [await store('norse', 'in Norway')] })).toEqual(['c-3']);
    expect((await count({ automationId: 'a-1' }, SOUTH)).status).toBe(404);
    expect((await count({ automationId: 'a\u0000' })).status).toBe(404);
  });

  it('are found by part of a name, an email address or a telephone number', async () => {
    expect(await ids({ search: 'n l' })).toEqual(['c-1']);
    expect(await ids({ search: 'EXAMPLE.' })).toEqual(['c-1', 'c-2', 'c-4']);
    expect(await ids({ search: '20 7946-0958' })).toEqual(['c-1']);
    expect(await ids({ search: '_' })).toEqual(['c-2']);
    expect(await ids({ search: '%' })).toEqual([]);
    expect(await ids({ search: ' ' })).toHaveLength(4);
    expect((await count({ search: 'n l' })).data.count).toBe(1);
    expect(await count({ search: 'a\u0000' })).toMatchObject({
      status: 400,
      errors: [expect.stringContaining('U+0000')],
    });
  });

  it('can be kept to those with an email address or a telephone number', async () => {
    expect(await ids({ filter: 'email' })).toEqual(['c-1', 'c-2', 'c-4']);
    expect(await ids({ filter: 'phone' })).toEqual(['c-1']);
    expect(await ids({ filter: 'all' })).toHaveLength(4);
  });

  it('come in pages that neither repeat nor skip anybody while people are added', async () => {
    await sandbox.createSchema(
      'member',
      { first_name: { type: 'string' }, sms_opt_out: { type: 'boolean' } },
      { category: 'contacts_schema' },
    );
    const uploaded = (...names: string[]) =>
      sandbox.uploaded(
        'member',
        names.map((id) => ({ id, first_name: 'M', sms_opt_out: true })),
      );
    await uploaded('m-2', 'm-4', 'm-6');
    const page = async (cursor?: string) =>
      (await count({ search: 'm', limit: 2, filter: 'all', ...(cursor === undefined ? {} : { cursor }) })).data;
    const first = await page();
    expect(first.recipients).toHaveLength(2);
    const seen = first.recipients.map((r) => r.externalId);
    await uploaded('m-1', 'm-3', 'm-5');
    let { cursor } = first.pagination;
    while (cursor !== null) {
      const next = await page(cursor);
      seen.push(...next.recipients.map((r) => r.externalId));
      cursor = next.pagination.cursor;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(['m-2', 'm-4', 'm-6', 'c-1', 'c-2', 'c-4']));
    const refused = await count({ cursor: 'nonsense' });
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('cursor')]);
    const members = (await count({ search: 'm', filter: 'all' })).data.recipients.filter((r) => r.firstName === 'M');
    expect(members).toHaveLength(6);
    expect(members[0]).toMatchObject({ emailOptedOut: false, smsOptedOut: true, lastName: null });
  });

  it("are those of no segment that is unknown, or another tenant's: both are a 404 that names it", async () => {
    await store('foreign', 'in France', SOUTH);
    const foreign = await count({ includeSegments: ['foreign'] });
    const unknown = await count({ excludeSegments: ['unknown', '\u0000'] });
    expect([foreign.status, foreign.message]).toEqual([404, 'no segment with the id "foreign"']);
    expect([unknown.status, unknown.errors]).toEqual([404, ['unknown segment "unknown"', 'unknown segment "\\u0000"']]);
  });
});
