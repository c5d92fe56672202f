/** docs/errors.md says what the catalogue says. */
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/domain/errors.js';
import { readPage, sectionOf, tableIn, withoutTicks } from './pages.js';

const documented = tableIn(sectionOf(readPage('docs/errors.md'), 'Errors'));

describe('the page about errors', () => {
  it('explains every error, and none that does not exist', () => {
    expect(documented.map(([code]) => withoutTicks(code!)).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
  });

  it.each(Object.entries(ERROR_CATALOGUE))('says of %s what the program says', (code, { meaning, retry, remedy }) => {
    expect(documented.find(([name]) => withoutTicks(name!) === code)).toEqual([`\`${code}\``, meaning, retry, remedy]);
  });
});
