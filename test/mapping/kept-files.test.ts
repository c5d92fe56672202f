/** Files of a run, as the ledger keeps them: the very same sync comes of them, and no secret is in them. */
import { expect, it } from 'vitest';
import { completedFiles, keptFiles, variablesOf } from '../../src/mapping/kept-files.js';
import { loadKeptSync, loadSync, parsedSyncFile } from '../../src/mapping/load-sync.js';
import { errorOf } from '../platform/stub-platform.js';
import { definition, ENV, syncFolder } from './sync-on-disk.js';

const load = (files: Record<string, string>, env: Record<string, string> = ENV) =>
  loadSync(syncFolder(files), 'shop', env);

/** Files without custom transforms need no folder. */
const nowhere = () => Promise.reject(new Error('the folder was asked for'));

/** Through the ledger. */
const stored = <T>(files: T): T => JSON.parse(JSON.stringify(files)) as T;

it('make the same sync again', async () => {
  const { spec, files } = await load(
    {
      'sync.yaml': `source: { connection: '\${env:SHOP_URL}', pool: { max: 2 } }
tenant: { column: region, values: { z: north, a: south } }
upload: { batchSize: 7, longestExternalId: 40 }
`,
      'people.mapping.yaml': `schema: person
source: { table: people }
key: [id]
fields:
  personId: id
  zip: { column: zip, transforms: [trim, { values: { map: { '2': two, '10': ten }, otherwise: reject } }] }
  name: { constant: '\${env:BRAND}' }
`,
      'person.schema.json': definition('person', {
        personId: { type: 'string' },
        zip: { type: 'string', pattern: '^[a-z]+$' },
        name: { type: 'string' },
      }),
    },
    { ...ENV, BRAND: 'Acme' },
  );

  const again = await loadKeptSync('shop', stored(keptFiles(files)), { ...ENV, BRAND: 'Acme' }, nowhere);

  expect(again).toEqual(spec);
  expect([...again.mappings[0]!.fields.keys()]).toEqual(['personId', 'zip', 'name']);
  expect(variablesOf(files)).toEqual(['BRAND']);
});

it('hold variables as they are written, and nothing of what runs do not go by', async () => {
  const { files } = await load({
    'sync.yaml': `source: { connection: '\${env:SHOP_URL}' }
tenant: tenant-a
schedules: [{ name: hourly, every: 1h }]
limits: { success: 2h }
`,
  });

  expect(keptFiles(files).sync.value).toEqual({ source: { connection: '${env:SHOP_URL}' }, tenant: 'tenant-a' });
  expect(JSON.stringify(keptFiles(files))).not.toContain('hunter2');
});

it.each([
  'postgres://reader:hunter2@db.example.org/shop',
  'postgres://reader:${env:PREFIX}hunter2@db.example.org/shop',
  'postgres://db.example.org/shop?user=reader&password=hunter2',
])('hold no connection in which a password is written out: %s', async (connection) => {
  const { files } = await load(
    { 'sync.yaml': `source: { connection: '${connection}' }\ntenant: a\n` },
    { PREFIX: 'x' },
  );

  const kept = keptFiles(files);

  expect(JSON.stringify(kept)).not.toContain('hunter2');
  const folder = syncFolder({ 'sync.yaml': `source: { connection: 'postgres://reader:new@db/shop' }\ntenant: b\n` });
  const completed = await completedFiles('shop', stored(kept), () => parsedSyncFile(folder, 'shop'));
  expect(completed.sync.value).toEqual({ source: { connection: 'postgres://reader:new@db/shop' }, tenant: 'a' });
  const error = await errorOf(completedFiles('shop', kept, () => Promise.resolve(undefined)));
  expect(error).toMatchObject({ code: 'config_invalid', details: { onAnotherWorker: true } });
  expect(error.message).toContain('shop/sync.yaml: this worker needs it for the connection');
});

it.each([
  '${env:SHOP_URL}',
  'postgres://reader@db.example.org/shop',
  'postgres://reader:${env:SHOP_PASSWORD}@db.example.org/shop',
  'postgres://db.example.org/shop?user=reader&password=${env:SHOP_PASSWORD}',
])('hold a connection without a password: %s', async (connection) => {
  const env = { ...ENV, SHOP_PASSWORD: 'hunter2' };
  const { files } = await load({ 'sync.yaml': `source: { connection: '${connection}' }\ntenant: a\n` }, env);

  expect(keptFiles(files)).toEqual(files);
});

it('leave the run to another worker where one of their variables is not set', async () => {
  const { files } = await load({});

  const error = await errorOf(Promise.resolve().then(() => loadKeptSync('shop', files, {}, nowhere)));

  expect(error).toMatchObject({ code: 'config_invalid', details: { onAnotherWorker: true } });
  expect(error.message).toContain('the environment variable SHOP_URL is not set');
});
