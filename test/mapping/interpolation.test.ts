/** Placeholders that cannot be filled in. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fillIn } from '../../src/mapping/language/interpolation.js';

it.each(['${env:PASS@host', '${env:USER}:${env:PASS@host/db', '${env:PASS@${env:USER}'])('reports %s', (text) => {
  const { problems } = fillIn([text], { USER: 'me' });
  expect(problems.map(({ kind }) => kind)).toContain('env_invalid');
});

it('reports nothing about placeholders that are closed', () => {
  expect(fillIn(['${env:USER}:${env:USER}@host}$${env:USER}{env:'], { USER: 'me' }).problems).toEqual([]);
});

it('takes a value that is not set from the file that <NAME>_FILE names', async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-sync-env-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [secret, empty] = [join(folder, 'secret'), join(folder, 'empty')];
  await writeFile(secret, 'p@ss \n');
  await writeFile(empty, '\n');
  const text = 'postgres://me:${env:PASS}@host';

  expect(fillIn(text, { PASS_FILE: secret })).toMatchObject({ value: 'postgres://me:p@ss @host', problems: [] });
  expect(fillIn(text, { PASS: 'own', PASS_FILE: secret }).value).toBe('postgres://me:own@host');
  expect(fillIn(text, { PASS_FILE: empty }).problems).toMatchObject([
    { kind: 'env_missing', message: 'the file that PASS_FILE names is empty' },
  ]);
  expect(fillIn(text, { PASS_FILE: join(folder, 'none') }).problems).toMatchObject([
    { kind: 'env_missing', message: 'the file that PASS_FILE names cannot be read (ENOENT)' },
  ]);
});
