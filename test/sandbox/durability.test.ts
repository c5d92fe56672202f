/** Guarantees while servers stop, start together, lose their connections or share records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.js';
import { addsUp, createDatabase, FIXTURE, SECRET, startForTest, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase('durability');
});
afterAll(() => database.drop());

describe('the sandbox', () => {
  it('starts many times at once on one empty database', async () => {
    const servers = await Promise.all(Array.from({ length: 5 }, () => startForTest(database)));
    await Promise.all(servers.map((server) => server.close()));
    expect((await database.query('select id from sandbox.tenants')).rows).toHaveLength(FIXTURE.tenants.length);
  });

  it('picks up the batches that a stopped server has accepted but not processed', async () => {
    const first = await startForTest(database, { processingDelay: 3_600_000 });
    const schema = unique('restart');
    await first.createSchema(schema, { n: { type: 'integer' } });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await first.upload(schema, [{ id: `r-${i}`, n: i }]));
    await first.close();
    const second = await startForTest(database);
    for (const id of ids) expect((await second.completed(id)).progress.successfulRecords).toBe(1);
    await second.close();
  });

  it('applies each batch once even if its connections are cut repeatedly', async () => {
    const server = await startForTest(database, { batchesAtOnce: 3 });
    const schema = unique('cut');
    await server.createSchema(schema, {});
    const ids: string[] = [];
    for (let i = 0; i < 10; i++)
      ids.push(
        await server.upload(
          schema,
          Array.from({ length: 200 }, (_, n) => ({ id: `r-${i}-${n}` })),
          { query: '?onconflict=reject' },
        ),
      );
    for (let i = 0; i < 3; i++)
      await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like '%sandbox%' and state = 'active'`);
    for (const id of ids) {
      const status = () =>
        server.batch(id).catch(() => undefined) as Promise<{ completedAt: string | null } | undefined>;
      await expect.poll(async () => (await status())?.completedAt ?? null, { timeout: 30_000 }).not.toBeNull();
      const batch = await server.batch(id);
      expect(batch.progress).toMatchObject({ successfulRecords: 200, failedRecords: 0 });
    }
    await server.close();
    const { rows } = await database.query(
      'select count(*)::int as n from sandbox.resources where external_id like $1',
      ['r-_-%'],
    );
    expect(rows).toEqual([{ n: 2000 }]);
  });

  it('does not deadlock if many batches contain the same records in different orders', async () => {
    const servers = [
      await startForTest(database, { batchesAtOnce: 4 }),
      await startForTest(database, { batchesAtOnce: 4 }),
    ];
    const schema = unique('shared');
    await servers[0]!.createSchema(schema, { by: { type: 'integer' } });
    const records = Array.from({ length: 100 }, (_, i) => ({ id: `r-${i}` }));
    const ids = await Promise.all(
      Array.from({ length: 24 }, (_, by) => {
        const ordered = by % 2 === 0 ? records : [...records].reverse();
        return servers[by % 2]!.upload(
          schema,
          ordered.map((record) => ({ ...record, by })),
        );
      }),
    );
    for (const id of ids) {
      const batch = await servers[0]!.completed(id);
      expect(batch.progress.successfulRecords).toBe(100);
      expect(addsUp(batch, true)).toBe(true);
    }
    await Promise.all(servers.map((server) => server.close()));
    const { rows } = await database.query(
      'select sum(attempts)::int as attempts from sandbox.batches where total = 100',
    );
    expect(rows).toEqual([{ attempts: 0 }]);
  });

  it('fails a batch that it cannot process, instead of retrying forever', async () => {
    const server = await startForTest(database);
    const schema = unique('broken');
    await server.createSchema(schema, {});
    await database.query(
      `create function sandbox.refuse() returns trigger language plpgsql as $$ begin raise 'disk on fire'; end $$`,
    );
    await database.query(`create trigger refuse before insert on sandbox.resources for each row
      when (new.external_id = 'poison') execute function sandbox.refuse()`);
    const poisoned = await server.upload(schema, [{ id: 'poison' }, { id: 'good' }]);
    expect((await server.uploaded(schema, [{ id: 'next' }])).progress.successfulRecords).toBe(1);
    const batch = await server.completed(poisoned);
    await server.close();
    expect(batch.progress).toMatchObject({ successfulRecords: 0, failedRecords: 2 });
    expect(batch.errors.summary.byRule).toEqual({ internal: 2 });
  });

  it('deletes a completed batch after its retention, but neither its records nor a batch with pending ones', async () => {
    const server = await startForTest(database, { batchRetention: 1 });
    const schema = unique('retention');
    await server.createSchema(schema, { n: { type: 'integer' }, parent: { $ref: unique('parents') } });
    const waiting = await server.upload(schema, [{ id: 'child', parent: 'p' }], {
      query: '?dependencyWaitTimeout=600',
    });
    const done = await server.upload(schema, [{ id: 'kept' }, { id: 'failed', n: 'text' }]);
    await server.processed(waiting);
    const status = async (id: string) => (await server.call('GET', `/api/batches/${id}`)).status;
    await expect.poll(() => status(done), { timeout: 30_000 }).toBe(404);
    expect((await server.read(schema, 'kept')).status).toBe(200);
    expect(await status(waiting)).toBe(200);
    await server.close();
  });

  it('refuses to serve another platform from the same database', async () => {
    const fixture = { ...FIXTURE, platformId: '11111111-1111-4111-8111-111111111111' };
    await expect(startSandbox({ stateUrl: database.url, port: 0, jwtSecret: SECRET, fixture })).rejects.toThrowError(
      /belongs to platform/,
    );
  });
});
