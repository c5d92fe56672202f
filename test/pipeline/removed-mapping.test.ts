/** A mapping whose file is removed while its records wait: nothing asks for them any more, and `forget` ends what is left of it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC } from './shop.js';

it('is forgotten once the platform can keep none of its records any more, and begins anew if it comes back', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '1s' } });
  await fill(shop, 20);
  await shop.source.query(`INSERT INTO shop.lines (order_no, line, sku) VALUES ('o-of-nobody', 1, 'sku')`);
  expect(await shop.run()).toMatchObject({ outcome: 'incomplete', total: { waiting: 1 } });
  const file = join(shop.folder, SYNC, 'lines.mapping.yaml');
  const mapping = readFileSync(file, 'utf8');
  rmSync(file);
  await shop.run();
  expect(await openEnds(shop)).toMatchObject({ batches: 1, waiting: 1 });
  const forget = () => runInProcess(['forget', SYNC, '--mapping', 'lines', '--yes'], shop.env);

  const early = await forget();
  expect(early.code).toBe(1);
  expect(early.stdout).toMatch(
    /1 batch is pending on the platform since \S+ \(run \d+\): the platform keeps it for a day at most/,
  );
  await shop.state.query(`UPDATE partner_sync.batches SET intended_at = intended_at - interval '26 hours'`);
  const { code, stdout } = await forget();

  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/21\s+records that were sent\n/);
  expect(stdout).toContain('If the mapping comes back, it begins anew.');
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect((await runInProcess(['status', SYNC], shop.env)).code).toBe(0);
  writeFileSync(file, mapping);
  const { mappings } = await shop.run();
  expect(mappings.find((each) => each.mapping === 'lines')).toMatchObject({ read: 21, unchanged: 0, accepted: 20 });
});
