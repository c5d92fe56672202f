/** PLATFORM_BASE_URL names another platform than the one whose records the ledger knows. */
import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { compose } from '../../src/composition/compose.js';
import type { Parts } from '../../src/composition/parts.js';
import { runInProcess } from '../cli/in-process.js';
import { filesOf } from './shop-files.js';
import { fill, openRunByHand, shopForTest, SYNC, type Shop } from './shop.js';

/** Ends with what nobody listens to, so that nothing can be delivered there. */
const ELSEWHERE = 'http://127.0.0.1:9/elsewhere';

/** A process with another PLATFORM_BASE_URL. */
function processAt(
  shop: Shop,
  address: string,
): { parts: Parts; command: (...args: string[]) => ReturnType<typeof runInProcess> } {
  const env = { ...shop.env, PLATFORM_BASE_URL: address };
  const parts = compose(env);
  onTestFinished(() => parts.close());
  return { parts, command: (...args) => runInProcess(args, env) };
}

/** A run that is active, and has not said yet where it delivers. */
async function begun({ parts }: Shop): Promise<{ id: string; sync: string }> {
  const about = {
    sync: SYNC,
    kind: 'backfill',
    mode: 'backfill',
    input: { sync: SYNC },
    mappingVersion: 'v',
    files: null,
  } as const;
  const start = { trigger: 'other', by: null } as const;
  const { ledger } = await parts.dependencies();
  return ledger.runs.begin({ ...about, workflowId: 'by-hand', firstExecutionRunId: randomUUID(), start });
}

/** Opens a run in that process, and ends it at once. */
async function open(shop: Shop, parts: Parts): Promise<void> {
  const { runId } = await openRunByHand({ ...shop, parts });
  await (await parts.dependencies()).ledger.runs.end(runId, 'failed');
}

it('a run fails before it reads or sends anything, since all records would count as unchanged, and doctor says why', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const { parts, command } = processAt(shop, ELSEWHERE);

  await expect(open(shop, parts)).rejects.toMatchObject({
    code: 'other_platform',
    message: `shop delivers to ${shop.env['PLATFORM_BASE_URL']}, as the ledger knows, and PLATFORM_BASE_URL is ${ELSEWHERE} here`,
  });

  const { ledger } = await parts.dependencies();
  const [run] = await ledger.runs.latest(SYNC, 1);
  expect(run).toMatchObject({ outcome: 'failed', failure_code: 'other_platform' });
  const examined = await command('doctor', SYNC);
  expect(examined.stdout).toMatch(/platform .*shop delivers to .*partner-sync relocate/s);
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 0 } });
});

it('a step of a run that another worker has begun is left to workers of its platform', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  const { runId } = await openRunByHand(shop);
  const { parts } = processAt(shop, ELSEWHERE);

  await expect(parts.openSync(SYNC, runId)).rejects.toMatchObject({
    code: 'other_platform',
    details: { onAnotherWorker: true },
  });
  await expect(shop.parts.openSync(SYNC, runId)).resolves.toMatchObject({ spec: { name: SYNC } });
});

it('relocate says that it is the same platform: runs go on, also those under way, and nothing is sent again', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const before = shop.env['PLATFORM_BASE_URL']!;
  const { runId } = await openRunByHand(shop);
  // The same server by another name.
  const now = before.replace('127.0.0.1', 'localhost');
  const { parts, command } = processAt(shop, now);
  await expect(parts.openSync(SYNC, runId)).rejects.toMatchObject({ code: 'other_platform' });

  const wrong = await command('relocate', ELSEWHERE);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain(`no sync delivers to ${ELSEWHERE}, as the ledger knows; known: ${before} (shop)`);
  expect((await command('relocate', now)).stderr).toContain('is PLATFORM_BASE_URL: set that to the new address first');
  expect((await command('relocate', before, '--dry-run')).stdout).toContain('nothing was changed (--dry-run)');
  expect((await command('relocate', before)).stdout).toBe(`shop: ${before} -> ${now}\n`);

  await expect(parts.openSync(SYNC, runId)).resolves.toMatchObject({ spec: { name: SYNC } });
  const { ledger } = await parts.dependencies();
  await ledger.runs.end(runId, 'failed');
  await open(shop, parts);
  expect((await command('schema', 'diff', SYNC)).stdout).not.toContain('not pushed');
  expect((await command('audit', SYNC, '--json')).stdout).toContain('platform_relocated');
  expect((await command('reconcile', SYNC, '--read-back', 'all')).code).toBe(0);
});

it('after forget --all, another platform is loaded from the beginning', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const { parts, command } = processAt(shop, ELSEWHERE);

  const forgotten = await command('forget', SYNC, '--all', '--yes');
  expect(forgotten).toMatchObject({ code: 0 });
  expect(forgotten.stdout).toContain('The next run sends every row');
  await open(shop, parts);

  // Nothing was delivered there, so that the address may be corrected.
  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
  await expect(open(shop, parts)).rejects.toMatchObject({ code: 'other_platform' });
});

it('runs that begin together after forget --all agree on the other platform', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  const { parts, command } = processAt(shop, ELSEWHERE);
  await command('forget', SYNC, '--all', '--yes');
  const { ledger } = await parts.dependencies();

  const [one, other] = [await begun(shop), await begun(shop)];

  expect(await ledger.platforms.claim(one, ELSEWHERE)).toBe(ELSEWHERE);
  expect(await ledger.platforms.claim(other, ELSEWHERE)).toBe(ELSEWHERE);
  expect(await ledger.platforms.claim(await begun(shop), shop.env['PLATFORM_BASE_URL']!)).toBe(ELSEWHERE);
});

it.each([
  ['goes by a change feed, and whose records the ledger does not keep', true],
  ['has a cursor', false],
])('a mapping that %s has delivered to its platform, too', async (_what, isFed) => {
  const off = (text: string) => `${text}options: { ledger: off }\n`;
  const { 'customers.mapping.yaml': customers } = filesOf({});
  const fed = { changes: '{ table: partner_changes }', files: { 'customers.mapping.yaml': off(customers!) } };
  const shop = await shopForTest(isFed ? fed : {});
  await fill(shop, 5);
  if (isFed) expect((await runInProcess(['changes', 'install', SYNC, '--apply'], shop.env)).code).toBe(0);
  await shop.run({ mappings: ['customers'] });

  await expect(open(shop, processAt(shop, ELSEWHERE).parts)).rejects.toMatchObject({ code: 'other_platform' });
});

it('preview says that a run would be refused', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();

  const previewed = await processAt(shop, ELSEWHERE).command('preview', SYNC);
  expect(previewed).toMatchObject({ code: 2 });
  expect(previewed.stderr).toContain('other_platform');
});

it('an address to which nothing was delivered can be corrected, unless a run still works with it', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  const { parts } = processAt(shop, ELSEWHERE);
  const { runId } = await openRunByHand({ ...shop, parts });

  await expect(openRunByHand(shop)).rejects.toMatchObject({ code: 'other_platform' });
  await (await parts.dependencies()).ledger.runs.end(runId, 'failed');

  expect(await shop.run()).toMatchObject({ outcome: 'complete', total: { accepted: 15 } });
});

it('two spellings of one address are the same platform', async () => {
  const shop = await shopForTest();
  await fill(shop, 5);
  await shop.run();
  for (const spelled of [
    (address: string) => `${address.replace('http', 'HTTP')}/`,
    (address: string) => `${address}//`,
  ]) {
    const { parts } = processAt(shop, spelled(shop.env['PLATFORM_BASE_URL']!));
    await expect(open(shop, parts)).resolves.toBeUndefined();
  }
});
