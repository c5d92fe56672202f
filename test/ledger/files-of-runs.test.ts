/** The files of runs in the ledger: there as long as a run goes by them, once for all runs with the same ones. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { SyncFiles } from '../../src/domain/sync/sync-files.js';
import { errorOf } from '../platform/stub-platform.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

const filesWith = (tenant: string): SyncFiles => ({
  sync: { file: 'shop/sync.yaml', value: { tenant, source: { connection: '${env:SHOP_URL}' } } },
  mappings: [{ name: 'people', file: 'shop/people.mapping.yaml', value: { fields: { z: 'z', a: 'a' } } }],
  definitions: [],
});

async function begin(sync: string, files: SyncFiles | null): Promise<string> {
  const run = await the.ledger.runs.begin({
    sync,
    kind: 'sync',
    mode: 'full',
    input: { sync },
    mappingVersion: 'v1',
    files,
    workflowId: 'w',
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
  });
  return run.id;
}

/** How many sets of files the ledger has of a sync. */
async function sets(sync: string): Promise<number> {
  const rows = await the.database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM partner_sync.sync_files WHERE sync = $1',
    [sync],
  );
  return rows[0]!.n;
}

const asIfAnHourAgo = (sync: string) =>
  the.database.query(`UPDATE partner_sync.sync_files SET begun_at = begun_at - interval '1 hour' WHERE sync = $1`, [
    sync,
  ]);

it('each run has those that it began with, in their order', async () => {
  const sync = randomUUID();
  const first = await begin(sync, filesWith('a'));
  const second = await begin(sync, filesWith('b'));
  const third = await begin(sync, filesWith('a'));

  const { files, version } = await the.ledger.filesOfRuns.ofRun(first);
  expect(JSON.stringify(files)).toBe(JSON.stringify(filesWith('a')));
  expect(version).toBe('v1');
  expect((await the.ledger.filesOfRuns.ofRun(second)).files).toEqual(filesWith('b'));
  expect((await the.ledger.filesOfRuns.ofRun(third)).files).toEqual(filesWith('a'));
  expect(await sets(sync)).toBe(2);
});

it('are removed by the end of a later run, except those of open runs', async () => {
  const [sync, another] = [randomUUID(), randomUUID()];
  const open = await begin(sync, filesWith('open'));
  const ended = await begin(sync, filesWith('ended'));
  await begin(another, filesWith('another'));
  await the.ledger.runs.end(ended, 'complete');
  expect(await sets(sync)).toBe(2);

  await asIfAnHourAgo(sync);
  await asIfAnHourAgo(another);
  await the.ledger.runs.end(await begin(sync, filesWith('new')), 'complete');

  expect(await sets(sync)).toBe(2);
  expect((await the.ledger.filesOfRuns.ofRun(open)).files).toEqual(filesWith('open'));
  expect((await errorOf(the.ledger.filesOfRuns.ofRun(ended))).code).toBe('run_stopped');
  expect(await sets(another)).toBe(1);
});

it('stay where a run begins with them again', async () => {
  const sync = randomUUID();
  await the.ledger.runs.end(await begin(sync, filesWith('a')), 'complete');
  await asIfAnHourAgo(sync);

  const again = await begin(sync, filesWith('a'));
  await the.ledger.runs.end(await begin(sync, filesWith('b')), 'complete');

  expect((await the.ledger.filesOfRuns.ofRun(again)).files).toEqual(filesWith('a'));
});

it('no run, and a run that had none, are told apart', async () => {
  expect((await errorOf(the.ledger.filesOfRuns.ofRun('999999'))).code).toBe('unexpected');
  expect((await errorOf(the.ledger.filesOfRuns.ofRun(await begin(randomUUID(), null)))).code).toBe('run_stopped');
});
