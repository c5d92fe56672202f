/** Placeholders that cannot be filled in. */
import { expect, it } from 'vitest';
import { fillIn } from '../../src/mapping/language/interpolation.js';

it.each(['${env:PASS@host', '${env:USER}:${env:PASS@host/db', '${env:PASS@${env:USER}'])('reports %s', (text) => {
  const { problems } = fillIn([text], { USER: 'me' });
  expect(problems.map(({ kind }) => kind)).toContain('env_invalid');
});

it('reports nothing about placeholders that are closed', () => {
  expect(fillIn(['${env:USER}:${env:USER}@host}$${env:USER}{env:'], { USER: 'me' }).problems).toEqual([]);
});
