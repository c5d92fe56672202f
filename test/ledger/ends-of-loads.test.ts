/** Partitions of a load that end at the same time, statement by statement in the order that a seed decides. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { seeded } from '../seeded.js';
import { interleaving } from './interleaving.js';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();
const ANY = { cursorFrom: null, cursorBefore: null, externalIds: null, byCursor: false, movesPosition: false };

it.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  'a mapping is loaded once its last two partitions have ended, at the same time (seed %d)',
  async (seed) => {
    const { feeds, partitions } = the.ledger;
    const feed = await feeds.acquire('shop', randomUUID());
    await feeds.begin(feed, { origin: 'one', at: '10' });
    await feeds.feedMappings(feed, [{ mappingId: the.mappingId, reads: 'a table' }]);
    await feeds.note(feed, [], null, true);
    const runId = await newRun(the.ledger);
    await the.loads(runId);
    await partitions.plan(runId, the.mappingId, [
      { ...ANY, afterKey: null, throughKey: ['m'] },
      { ...ANY, afterKey: ['m'], throughKey: null },
    ]);
    const planned = await partitions.planned(runId, the.mappingId);
    const acquired = await Promise.all(planned.map(({ id }) => partitions.acquire(id)));

    const sessions = interleaving(the.database, seeded(seed));
    try {
      for (const _ of acquired) sessions.session();
      await sessions.run(
        acquired.map(
          (partition) =>
            ({ ledger }) =>
              ledger.partitions.finish(partition),
        ),
        () => undefined,
      );
    } finally {
      await sessions.close();
    }
    expect(await feeds.mapping(the.mappingId)).toMatchObject({ loaded: true });
  },
);
