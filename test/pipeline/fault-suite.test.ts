/** Every transport failure, alone and mixed, over the real December data: the result is right, record by record. */
import { expect, it } from 'vitest';
import { inCampaign, seeds } from '../campaign.js';
import { seeded } from '../seeded.js';
import type { Fault } from './platform-proxy.js';
import { byTenant, CANCELLED, differences, retailForTest } from './retail.js';
import { NO_OPEN_ENDS, openEnds, type Shop } from './shop.js';
import { concerns, isLook, json, LOOKS, UPLOADS } from './transport-faults.js';

const LIMITS = { batchSize: 75, inDoubtDelay: '1s', batchDeadline: '20s', waitForPending: '10s' };

const recordsOf = async (shop: Shop): Promise<number> =>
  (
    await shop.source.query<{ n: number }>(
      'SELECT (SELECT count(*) FROM shop.customers)::int + (SELECT count(*) FROM shop.invoices)::int AS n',
    )
  )[0]!.n;

for (const [what, fault] of Object.entries({ ...UPLOADS, ...LOOKS }))
  it(`alone: ${what}`, async () => {
    const shop = await retailForTest(LIMITS, 'a tenth');
    let met = 0;
    shop.proxy.fail((request) => (concerns(what, request) && request.no % 3 === 0 ? (met++, fault()) : undefined));

    const report = await shop.run({ mappings: ['customers', 'transactions'] });

    const records = await recordsOf(shop);
    expect(records).toBeGreaterThan(1000);
    expect(report).toMatchObject({ outcome: 'complete', total: { read: records, accepted: records } });
    expect(met).toBeGreaterThan(3);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    expect(await differences(shop, ['customers', 'transactions'])).toBe(0);
  });

/** On each commit a tenth of the invoices in batches of a fifth, so that as many requests as before can meet a fault. */
const MIXED = inCampaign({ part: 'a tenth', batchSize: 100 } as const, { part: 'all', batchSize: 500 } as const);

it.each(seeds())(`mixed, over ${MIXED.part} of the records (TEST_SEED=%i)`, async (seed) => {
  const shop = await retailForTest({ ...LIMITS, batchSize: MIXED.batchSize }, MIXED.part);
  const random = seeded(seed);
  const one = (faults: readonly (() => Fault)[]): Fault => faults[random(faults.length)]!();
  const refused = CANCELLED; // the platform alone will not have this one
  let met = 0;
  shop.proxy.fail((request) => {
    if (
      request.upload &&
      request.body.includes(`"transactionId":"${refused}"`) &&
      request.path.includes('/transactions/')
    )
      return { forward: false, answer: json(422, 'not this one') };
    const [faults, percent] = request.upload ? [UPLOADS, 25] : isLook(request) ? [LOOKS, 20] : [{}, 0];
    if (random(100) >= percent) return undefined;
    met++;
    return one(Object.values(faults));
  });

  const report = await shop.run();

  expect(report.outcome).not.toBe('complete');
  expect(met).toBeGreaterThan(10);
  shop.proxy.fail(undefined);
  const deadLetters = await (await shop.parts.ledger()).deadLetters.page('shop', {}, '0', 10);
  expect(deadLetters.map((l) => [l.mapping, l.externalId, l.code])).toContainEqual([
    'transactions',
    refused,
    'platform_refused',
  ]);

  // The platform relents; what waited for the one comes with it.
  await shop.backfill({ replay: {} });
  await shop.run();
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await differences(shop, ['customers', 'transactions', 'order-lines'])).toBe(0);
  const { source, platform } = await byTenant(shop);
  expect(platform).toEqual(source);
});
