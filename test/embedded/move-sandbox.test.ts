/** The stack of `dev` keeps its sandbox and its ledger together, also when the sandbox gets another port. */
import { expect, it } from 'vitest';
import { moveSandbox } from '../../src/embedded/move-sandbox.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';
import { newRun } from '../ledger/new-partition.js';

const the = ledgerForTests();

it('its ledger knows the sandbox under whatever port it has now', async () => {
  const { platforms } = the.ledger;
  const run = { id: await newRun(the.ledger, { kind: 'sync', mode: 'full' }), sync: 'shop' };
  await platforms.claim(run, 'http://127.0.0.1:4001');
  await platforms.claim({ ...run, sync: 'outlet' }, 'http://127.0.0.1:4002');

  for (let time = 1; time <= 2; time++) await moveSandbox(the.database.url, 'http://127.0.0.1:4003');

  expect(await platforms.known()).toEqual(new Map([['http://127.0.0.1:4003', ['outlet', 'shop']]]));
  const moved = (await the.ledger.audit.latest({ limit: 10 })).filter(({ action }) => action === 'platform_relocated');
  expect(moved.map(({ sync }) => sync).sort()).toEqual(['outlet', 'shop']);
});
