/** A wrong input of a workflow fails at once, says what is allowed, and leaves nothing behind but the record of its failure. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failureOf, NO_OPEN_ENDS, openEnds, openShop, type Shop } from '../pipeline/shop.js';
import { INPUTS } from './corpus/inputs.js';

let shop: Shop;
let failures: readonly { readonly type: string; readonly message: string }[];
beforeAll(async () => {
  shop = await openShop();
  await shop.work();
  // A run whose id one may try to continue.
  await shop.run();
  failures = await Promise.all(
    INPUTS.map(async ([kind, input]) => {
      const handle = await shop.client.workflow.start(kind, {
        taskQueue: shop.taskQueue,
        workflowId: `Ünusual id / ${randomUUID()} "quoted" 😀`,
        args: input === undefined ? [] : [input],
      });
      return failureOf(handle);
    }),
  );
});
afterAll(() => shop.close());

const rows = INPUTS.map(([kind, input, ...words], no) => {
  const title = `${kind} ${(JSON.stringify(input) ?? 'without input').slice(0, 80)}`;
  return [title, no, words] as const;
});
it.each(rows)('%s', (_, no, words) => {
  const { type, message } = failures[no]!;
  expect({ type, message }).toMatchObject({ type: 'input_invalid' });
  for (const word of words) expect(message).toContain(word);
  expect(message).not.toMatch(/\p{Cc}/u);
  expect(message.length).toBeLessThan(600);
});

it('leaves no lease behind, nothing to send, and rows about the failures that anybody can read', async () => {
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  const [runs] = await shop.state.query<{ failed: number; longest: number; modes: string[] }>(
    `SELECT count(*) FILTER (WHERE failure_code = 'input_invalid')::int AS failed,
       max(length(failure_message)) AS longest, array_agg(DISTINCT mode ORDER BY mode) AS modes
     FROM partner_sync.runs`,
  );
  // Those that name the sync are in its history.
  const named = INPUTS.filter(([, input]) => (input as { sync?: unknown } | null | undefined)?.sync === 'shop');
  expect(runs!.failed).toBe(named.length);
  expect(runs!.longest).toBeLessThan(600);
  expect(runs!.modes).toEqual(['-', 'backfill', 'full', 'incremental', 'mirror']);
});
