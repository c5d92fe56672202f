/** docs/assumptions.md has a row for everything that platform-api.md leaves open, and names settings that exist. */
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/environment.js';
import { SETTING_GROUPS, SETTINGS } from '../../src/sandbox/settings.js';
import { readPage } from './pages.js';

const page = readPage('docs/assumptions.md');
const rows = page.text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, section = '', open = '', chosen = '', setting = '']) => ({ section, open, chosen, setting }))
  .filter(({ section }) => /^\d/.test(section));

/** Each "not shown" of platform-api.md: its section, and a word of the row that answers it. */
const NOT_SHOWN = [
  ['2', 'exposure'],
  ['2', 'required fields of a transaction, type of `customerId`'],
  ['2', 'members of channel metadata'],
  ['2', '`application`'],
  ['2', 'fields of tenants, segments and sender profiles'],
  ['3.1', 'statuses of an automation'],
  ['3.2', 'when an accepted batch is processed'],
  ['3.3', 'when the wait elapses'],
  ['3.3', 'when the last missing parent arrives'],
  ['3.4', 'other values of `status`'],
  ['3.5', 'statuses of an SMS registration'],
  ['4', 'other operations'],
  ['4', 'format of `startDate` and `endDate`'],
  ['4.1', 'sort direction'],
  ['4.3', 'required fields'],
  ['4.4', 'required fields'],
  ['4.6', '`type` of a segment definition'],
  ['4.10', 'the names of three query parameters'],
  ['4.14', 'the names of three query parameters'],
  ['5.4', 'how the token is presented'],
  ['5.5', 'how tokens are obtained, scopes'],
  ['6', 'events'],
  ['7.7', 'status codes'],
  ['7.8', 'error codes'],
  ['8', 'rate limits'],
  ['8', 'maximum number of resources of a batch'],
  ['8', 'maximum request size'],
  ['9.6', 'deprecation policy'],
  ['9.7', 'when `version_number` changes'],
] as const;

describe('the page about assumptions', () => {
  it.each(NOT_SHOWN)('says what was chosen for section %s, which leaves open: %s', (section, words) => {
    const found = rows.filter((row) => row.section.split(', ').includes(section) && row.open.includes(words));
    expect(found.map(({ chosen }) => chosen !== '')).toEqual([true]);
  });

  it('names only settings that exist', () => {
    const named = rows.flatMap(({ setting }) => [...setting.matchAll(/`([A-Za-z_.]+)`/g)].map((match) => match[1]!));
    // `upload.batchSize` and its like, and the `form` of a reference, belong to the files of a sync.
    const ours = named.filter((name) => !name.startsWith('upload.') && !['form', 'ref'].includes(name));
    const known = [SETTINGS, SETTING_GROUPS, VARIABLES].flatMap((names) => Object.keys(names));
    expect(ours.length).toBeGreaterThan(10);
    expect(ours.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('names a setting in every row, or says why there is none', () => {
    const neither = rows.filter(({ setting }) => !/`\w|^none: \w.{15}|^sandbox: the fixture$/.test(setting));
    expect(neither.map(({ open }) => open)).toEqual([]);
  });

  it('has a row for every setting that changes what a caller sees', () => {
    const named = rows.map(({ setting }) => setting).join();
    const silent = Object.keys(SETTINGS).filter(
      (name) => !named.includes(`\`${name}\``) && !named.includes(`\`${name.replace(/\..*/, '')}\``),
    );
    // Hosts are a matter of this server, no choice about the interface.
    expect(silent).toEqual(['allowedHosts']);
  });
});
