/** Change feeds in the mapping language: which mapping has which, and what is refused. */
import { describe, expect, it } from 'vitest';
import { definition, FILES, findingsOf, lint } from './sync-on-disk.js';

const SLOT = 'changes: { slot: partner_sync, publication: shop }\n';
const REMOVED = 'deletes: { action: { clear: [name] } }\n';
const withSync = (more: string) => ({ 'sync.yaml': `${FILES['sync.yaml']}${more}` });
const people = (more: string, { source = 'table: people', key = 'id', id = 'id' } = {}) => ({
  'people.mapping.yaml': `schema: person\nsource: { ${source} }\nkey: [${key}]\n${more}fields:\n  personId: ${id}\n  name: name\n`,
  'person.schema.json': definition('person', { personId: { type: 'string' }, name: { type: 'string' } }, ['personId']),
});
const feedsOf = async (files: Record<string, string>) => {
  const { sync, findings } = await lint(files);
  expect(findings).toEqual([]);
  return sync!.mappings.map(({ feed }) => feed);
};
const feed = { kind: 'slot', slot: 'partner_sync', publication: 'shop' };

describe('a mapping goes by the change feed', () => {
  it('of sync.yaml', async () => {
    expect(await feedsOf({ ...people(''), ...withSync(SLOT) })).toEqual([feed]);
  });

  it('of its own, or by none, whatever sync.yaml says', async () => {
    const own = 'changes: { slot: other, publication: people }\n';
    expect(await feedsOf({ ...people(own), ...withSync(SLOT) })).toEqual([
      { kind: 'slot', slot: 'other', publication: 'people' },
    ]);
    expect(await feedsOf({ ...people('changes: none\n'), ...withSync(SLOT) })).toEqual([null]);
  });

  it('only if there is one', async () => {
    expect(await feedsOf(people(''))).toEqual([null]);
  });
});

it('a slot has a limit of what the server may keep for it, and what is done beyond', async () => {
  const withLimit = (more: string) => withSync(`changes: { slot: partner_sync, publication: shop, ${more} }\n`);
  expect(await feedsOf({ ...people(''), ...withLimit('maxWal: 10GiB') })).toEqual([
    { ...feed, limit: { maxBytes: 10 * 1024 ** 3, whenExceeded: 'alert' } },
  ]);
  expect(await feedsOf({ ...people(''), ...withLimit('maxWal: 512MiB, whenExceeded: reread') })).toEqual([
    { ...feed, limit: { maxBytes: 512 * 1024 ** 2, whenExceeded: 'reread' } },
  ]);
});

describe('is refused', () => {
  it.each([
    ['maxWal: 10GB', /error bad_format changes\.maxWal: must be a size with its unit, such as 512MiB or 10GiB/],
    ['maxWal: 512KiB', /error bad_option changes\.maxWal: must be at least 1MiB/],
    ['whenExceeded: reread', /error bad_option changes\.whenExceeded: beyond what is not said; add maxWal/],
    ['maxWal: 10GiB, whenExceeded: drop', /error not_allowed changes\.whenExceeded/],
  ])('%s', async (more, finding) => {
    const changes = `changes: { slot: partner_sync, publication: shop, ${more} }\n`;
    expect(await findingsOf(people(changes))).toEqual([expect.stringMatching(finding)]);
  });

  it('a feed of a query, where the mapping says so or sync.yaml', async () => {
    const query = { source: "query: 'select id, name from people'" };
    const why =
      'a change feed tells the keys of changed rows of a table, and this mapping reads a query; write changes: none, or read the table';
    expect(await findingsOf({ ...people('', query), ...withSync(SLOT) })).toEqual([
      `people.mapping.yaml:2:18 error changes_of_query source.query: ${why}`,
    ]);
    expect(await findingsOf(people(SLOT, query))).toEqual([
      `people.mapping.yaml:4:10 error changes_of_query changes: ${why}`,
    ]);
    expect(await findingsOf({ ...people('changes: none\n', query), ...withSync(SLOT) })).toEqual([]);
  });

  it.each(['Partner', 'a-b', `${'s'.repeat(55)}`, '""', 'x"; DROP TABLE people; --'])(
    'the name %s of a slot, which PostgreSQL would not take, or not without quotes',
    async (name) => {
      const [finding] = await findingsOf(people(`changes: { slot: '${name}', publication: shop }\n`));
      expect(finding).toMatch(/^people\.mapping\.yaml:4:\d+ error \w+ changes/);
    },
  );
});

describe('a warning says that deleted rows are left to runs in mode mirror', () => {
  it('if the key does not tell the external id', async () => {
    expect(await findingsOf(people(`${SLOT}${REMOVED}`, { id: 'name' }))).toEqual([
      'people.mapping.yaml:5:10 warning deletes_by_mirror deletes: of a deleted row, a change feed tells only the key (id), and the external id personId is not made of it alone; such records are found by the next run in mode mirror',
    ]);
  });

  it('and none if it does, or if nothing is done about deleted rows', async () => {
    expect(await findingsOf(people(`${SLOT}${REMOVED}`))).toEqual([]);
    expect(await findingsOf(people(`${SLOT}${REMOVED}`, { id: "'{name}-{id}'", key: 'id, name' }))).not.toEqual([]);
    expect(
      await findingsOf(people(`${SLOT}${REMOVED}`, { id: "{ template: '{name}-{id}' }", key: 'id, name' })),
    ).toEqual([]);
    expect(await findingsOf(people(SLOT, { id: 'name' }))).toEqual([]);
  });
});
