/** docs/configuration.md and .env.example name the variables that the program reads. */
import { describe, expect, it } from 'vitest';
import { environmentFile, VARIABLES } from '../../src/config/environment.js';
import { readPage, sectionOf, tableIn } from './pages.js';

interface Variable {
  readonly description: string;
  readonly default?: string;
  readonly secret?: true;
}

describe('the environment variables', () => {
  it('are all in the table of docs/configuration.md, with meaning, default and whether they are secret', () => {
    const declared = Object.entries(VARIABLES).map(([name, variable]: [string, Variable]) => [
      `\`${name}\``,
      variable.description,
      variable.default === undefined ? '' : `\`${variable.default}\``,
      variable.secret ? 'yes' : '',
    ]);
    expect(tableIn(sectionOf(readPage('docs/configuration.md'), 'Environment variables'))).toEqual(declared);
  });

  it('are all in .env.example, ready to copy', () => {
    expect(readPage('.env.example').text).toBe(environmentFile());
  });
});
