/** Where the sandbox says that a value cannot be stored. */
import { expect, it } from 'vitest';
import { unstorable } from '../../src/sandbox/storable.js';

it('names the place as a JSON pointer, whatever characters its names contain', () => {
  expect(unstorable({ 'a/b': { 'c~d': [1, Infinity] } })).toBe('/a~1b/c~0d/1 is a number out of range');
});
