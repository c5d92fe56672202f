/** Failures of a source, and their errors. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { PartnerSyncError } from '../../../src/domain/errors.js';
import { eventually } from '../../pipeline/shop.js';
import { ALL, codeOf, open, plan, query, readAll } from '../reading.js';
import type { Opened } from './opened.js';

/** On every kind of database; after `pages`, whose tables it reads. */
export function faults(at: Opened): void {
  const { dialect } = at;

  describe('faults', () => {
    it('reports what is missing and what is wrong', async () => {
      const broken = query('SELECT 1 AS id FROM', ['id'], ['id']);
      expect(await codeOf(at.source.readPage(plan('no_such_table', ['id']), ALL, 1))).toBe('source_relation_missing');
      expect(await codeOf(at.source.readPage(plan('moving', ['nope']), ALL, 1))).not.toBe('no error');
      expect(await codeOf(at.source.describe(broken.relation))).toBe('config_invalid');
    });

    it('reports a bound that is not a value of the column, without quoting the value', async () => {
      if (dialect.name === 'SQLite') return;
      const read = plan('close_by', ['id'], 'at');
      const error = await at.source.readPage(read, { ...ALL, cursorFrom: 'soon' }, 1).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'config_invalid' });
      expect((error as PartnerSyncError).message).not.toContain('soon');
    });
  });
}

/** On servers, whose sessions end and wait. */
export function sessions(at: Opened): void {
  const { dialect } = at;
  const { numbers } = dialect;

  it('reads a page again when its session is killed in the middle of it', async () => {
    const slow = query(`SELECT i AS id, ${dialect.slow(0.05)} AS s FROM ${numbers(30)}`, ['id', 's'], ['id']);
    const reading = at.source.readPage(slow, ALL, 1000);
    reading.catch(() => undefined);
    let killed = 0;
    await eventually('the session is killed', async () => {
      if (await at.database.kill('ORDER BY')) killed++;
      return killed > 0;
    });
    expect([...(await reading).rows].map(([id]) => Number(id))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });

  it('asks for fewer rows if a page takes too long, and continues', async () => {
    const hasty = open(at.database.url, 1);
    onTestFinished(() => hasty.close());
    await at.database.run(`CREATE TABLE sluggish (id int PRIMARY KEY)`);
    await at.database.run(`INSERT INTO sluggish SELECT i FROM ${numbers(40)}`);
    const read = query(`SELECT id, ${dialect.slow(0.04)} AS s FROM sluggish ORDER BY id`, ['id', 's'], ['id']);
    expect((await readAll(hasty, read, 40)).length).toBe(40);
  });

  it('waits for a lock no longer than the timeout, reports that a retry may help, and reads once it is free', async () => {
    const hasty = open(at.database.url, 1);
    await at.database.run(`CREATE TABLE locked (id int PRIMARY KEY)`);
    const holder = await at.database.connect();
    onTestFinished(async () => {
      await holder.end();
      await hasty.close();
    });
    await holder.run(
      dialect.name === 'PostgreSQL' ? 'BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE' : 'LOCK TABLES locked WRITE',
    );
    const error = await hasty.readPage(plan('locked', ['id']), ALL, 1).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'source_query_failed', retryable: true });
    await holder.run(dialect.name === 'PostgreSQL' ? 'COMMIT' : 'UNLOCK TABLES');
    expect(await readAll(hasty, plan('locked', ['id']), 1)).toEqual([]);
  });

  for (const [what, change, code] of [
    ['no server listens', (url: URL) => (url.port = '1'), 'source_unreachable'],
    ['the password is wrong', (url: URL) => (url.username = 'nobody'), 'config_invalid'],
  ] as const)
    it(`reports that ${what}, without the address`, async () => {
      const url = new URL(at.database.url);
      url.password = 'hunter2';
      change(url);
      const closed = open(url.href);
      onTestFinished(() => closed.close());
      const error = await closed.describe({ table: 'moving' }).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(PartnerSyncError);
      expect((error as PartnerSyncError).code).toBe(code);
      expect((error as PartnerSyncError).message).not.toMatch(/hunter2|nobody|127\.0\.0\.1/);
    });
}
