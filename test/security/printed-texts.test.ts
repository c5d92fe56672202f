/** Texts of rows cannot rewrite what a terminal shows: whatever a command prints has no character that a terminal obeys. */
import { expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { fill, shopForTest, SYNC } from '../pipeline/shop.js';

/** Clears the screen, sets a title, begins a sequence in one byte (U+009B), and reverses what follows. */
const HOSTILE = 'no\u001b[2J\u001b]0;title\u0007\u009b31m\u202egpj.exe\u2066\u200b\u2028';

it('has no control, bidirectional or invisible character in texts and in JSON, and JSON keeps its content', async () => {
  const shop = await shopForTest({ failOn: 'never' });
  await fill(shop, 3);
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ($1, 999, 1)`, [HOSTILE]);
  await shop.run({ mappings: ['customers', 'orders'] });

  for (const args of [
    ['dead-letters', 'list', SYNC],
    ['explain', SYNC, 'orders', HOSTILE],
    ['explain', SYNC, 'orders', HOSTILE, '--show-values'],
    ['dead-letters', 'export', SYNC, '--json'],
    ['preview', SYNC, 'orders', '--mode', 'full'],
    ['preview', SYNC, 'orders', '--mode', 'full', '--show-values'],
    ['check', SYNC],
    ['reconcile', SYNC],
    ['run', HOSTILE],
    ['status', HOSTILE],
    [HOSTILE],
  ]) {
    const plain = await runInProcess(args, shop.env);
    const json = await runInProcess([...new Set([...args, '--json'])], shop.env);
    expect(plain.stdout + plain.stderr).not.toBe('');
    for (const { stdout, stderr } of [plain, json])
      expect(`${stdout}${stderr}`.replaceAll('\n', ''), args.join(' ')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
  const { deadLetters } = (await runInProcess(['dead-letters', 'list', SYNC, '--json'], shop.env)).json<{
    deadLetters: { externalId: string }[];
  }>();
  expect(deadLetters.map(({ externalId }) => externalId)).toEqual([HOSTILE]);
});
