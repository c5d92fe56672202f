/** docs/sources.md lists every kind of database that can be read. */
import { expect, it } from 'vitest';
import { dialectOf, SOURCE_SCHEMES } from '../../src/domain/source/source-address.js';
import { readPage, tableIn, withoutTicks } from './pages.js';

it('lists an address of each kind of database, and none that is not supported', () => {
  const addresses = tableIn(readPage('docs/sources.md').text).map(([, address]) => withoutTicks(address!));
  const kinds = addresses.filter((address) => !address.startsWith('none')).map(dialectOf);
  expect(new Set(kinds)).toEqual(new Set(Object.values(SOURCE_SCHEMES)));
});
