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

describe('the tables by which a mapping is changed', () => {
  const changedBy = async (more: string, options?: Parameters<typeof people>[1]) => {
    const { sync, findings } = await lint({ ...people(more, options), ...withSync(SLOT) });
    expect(findings).toEqual([]);
    return sync!.mappings.map((mapping) => mapping.changedBy);
  };
  const query = { source: "query: 'select id, name from people'" };

  it('are the one that it reads', async () => {
    expect(await changedBy('', { key: 'id, name', id: 'id' })).toEqual([
      [
        {
          table: 'people',
          columns: [
            { name: 'id', equals: 'id' },
            { name: 'name', equals: 'name' },
          ],
          through: null,
        },
      ],
    ]);
  });

  it('are those that it names, with columns of the key, or with where the key is found', async () => {
    const tables = `changes:
  tables:
    people: id
    app.names: [id]
    accounts: { columns: { person_id: id } }
    cities: { columns: city_id, through: { table: people } }
    countries: { columns: [country_id], through: { query: select * from places } }
`;
    expect(await changedBy(tables, query)).toEqual([
      [
        { table: 'people', columns: [{ name: 'id', equals: 'id' }], through: null },
        { table: 'app.names', columns: [{ name: 'id', equals: 'id' }], through: null },
        { table: 'accounts', columns: [{ name: 'person_id', equals: 'id' }], through: null },
        { table: 'cities', columns: [{ name: 'city_id', equals: 'city_id' }], through: { table: 'people' } },
        {
          table: 'countries',
          columns: [{ name: 'country_id', equals: 'country_id' }],
          through: { query: 'select * from places' },
        },
      ],
    ]);
  });

  it.each([
    ['{ tables: {} }', /error empty changes\.tables: must not be empty/],
    ['{ tables: { people: [] } }', /error empty changes\.tables\.people: must not be empty/],
    [
      '{ tables: { people: name } }',
      /error changes_key changes\.tables\.people: the columns name are not the key of the mapping \(id\); name the columns/,
    ],
    ['{ tables: { people: [id, name] } }', /error changes_key changes\.tables\.people: the columns id, name are not/],
    [
      '{ tables: { cities: { columns: id, through: { table: cities } } } }',
      /error changes_key changes\.tables\.cities\.through: cities itself finds nothing for a row of it that was deleted/,
    ],
    [
      '{ tables: { people: { column: id } } }',
      /error unknown_key changes\.tables\.people\.column: unknown key "column"\. Did you mean "columns"\?/,
    ],
    [
      '{ tables: { people: { columns: id, through: people } } }',
      /error wrong_type changes\.tables\.people\.through: must be a map/,
    ],
    ['{ slot: partner_sync, publication: shop, tables: { people: 5 } }', /error wrong_type changes\.tables\.people/],
  ])('are refused as %s', async (changes, finding) => {
    expect(await findingsOf({ ...people(`changes: ${changes}\n`, query), ...withSync(SLOT) })).toEqual([
      expect.stringMatching(finding),
    ]);
  });

  it('need a feed, and a second connection to find keys through another table', async () => {
    expect(await findingsOf(people('changes: { tables: { people: id } }\n', query))).toEqual([
      expect.stringMatching(/error bad_option changes: names tables, and no feed that reports their changes/),
    ]);
    const through = people(
      'changes: { tables: { people: id, cities: { columns: city_id, through: { table: people } } } }\n',
      query,
    );
    const single = FILES['sync.yaml']!.replace(
      'connection: ${env:SHOP_URL}',
      'connection: ${env:SHOP_URL}\n  pool: { max: 1 }',
    );
    expect(await findingsOf({ ...through, 'sync.yaml': `${single}${SLOT}` })).toEqual([
      expect.stringMatching(/error bad_option changes\.tables\.cities\.through: needs a second connection/),
    ]);
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
      'a change feed tells the keys of changed rows of tables, and this mapping reads a query; name in changes.tables which tables it reads, or write changes: none';
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

describe('a sync in mode live', () => {
  const LIVE = 'schedules: [{ name: live, mode: live }]\n';

  it('is refused if a mapping has no change feed, by whose changes it could go', async () => {
    expect(await findingsOf({ ...people(''), ...withSync(LIVE) })).toEqual([
      'sync.yaml:5:33 error live_without_changes schedules[0].mode: these mappings have no change feed: people; name one in changes, or use another mode',
    ]);
    expect(await findingsOf({ ...people('changes: none\n'), ...withSync(`${SLOT}mode: live\n`) })).toEqual([
      'sync.yaml:6:7 error live_without_changes mode: these mappings have no change feed: people; name one in changes, or use another mode',
    ]);
    expect(await findingsOf({ ...people(''), ...withSync(SLOT + LIVE) })).toEqual([]);
  });
});
