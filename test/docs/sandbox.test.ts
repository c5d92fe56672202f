/** docs/sandbox.md: its example is a fixture that loads, its tables are what the program declares. */
import { describe, expect, it } from 'vitest';
import { parseFixture } from '../../src/sandbox/fixture/parse.js';
import { Fixture } from '../../src/sandbox/fixture/fixture-schema.js';
import { parseSettings, SETTING_GROUPS, SETTINGS } from '../../src/sandbox/settings.js';
import { createDatabase, startForTest } from '../sandbox/running-sandbox.js';
import { readPage, sectionOf, tableIn, withoutTicks } from './pages.js';

const page = readPage('docs/sandbox.md');
const example = (name: string): unknown =>
  JSON.parse(new RegExp(`\`\`\`json ${name}\n([\\s\\S]*?)\`\`\``).exec(page.text)![1]!);

/** `tenants.sends`, for each place of a fixture that holds a value or a list of things. */
function placesOf(): string[] {
  const { library, tenants, ...rest } = Fixture.properties;
  const members = (name: string, properties: object) => Object.keys(properties).map((member) => `${name}.${member}`);
  return [
    ...Object.keys(rest),
    ...members('library', library.properties),
    ...members('tenants', tenants.items.properties),
  ];
}

/** The rows of the settings whose names begin with `prefix`, and go on without a dot. */
const settingRows = (prefix: string): string[][] =>
  Object.entries(SETTINGS)
    .filter(([name]) => name.startsWith(prefix) && !name.slice(prefix.length).includes('.'))
    .map(([name, setting]) => [
      `\`${name.slice(prefix.length)}\``,
      setting.description,
      allowed(setting as object),
      `\`${JSON.stringify(setting.default)}\``,
    ]);

interface Allowed {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Allowed;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** What a setting may be, in words. */
function allowed({ type, items, minimum, maximum, exclusiveMinimum, ...setting }: Allowed): string {
  if (setting.enum !== undefined) return setting.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'array') return items?.enum === undefined ? 'a list of texts' : `a list of ${allowed(items)}`;
  if (type === 'string') return 'a text';
  const from = exclusiveMinimum === undefined ? `from ${minimum}` : `more than ${exclusiveMinimum}`;
  return maximum === undefined
    ? from
    : `${from}${exclusiveMinimum === undefined ? '' : ','} to ${maximum}`.replace('from ', '');
}

describe('the page about the sandbox', () => {
  it('has an example of a fixture with something in every place, which the sandbox loads and shows', async () => {
    const fixture = parseFixture(example('fixture'), 'docs/sandbox.md');
    expect(Object.keys(fixture.tenants[0]!).sort()).toEqual(
      Object.keys(Fixture.properties.tenants.items.properties).sort(),
    );
    const database = await createDatabase('docs-sandbox');
    const server = await startForTest(database, {}, fixture);
    const usage = await server.call('GET', '/partner/engage/tenants', { tenant: null });
    const automation = await server.call('GET', '/api/automations/spring-news', { tenant: 'tea-house' });
    await server.close();
    await database.drop();
    expect(usage.body.data['results']).toMatchObject([{ tenantName: 'Tea House', emailsSent: 250, smsSent: 40 }]);
    expect(automation.body.data).toMatchObject({ name: 'Spring news', triggerType: 'one_time' });
  });

  it('explains every place of a fixture, and none that does not exist', () => {
    const explained = tableIn(sectionOf(page, 'The fixture')).map(([place]) => withoutTicks(place!));
    expect(explained.sort()).toEqual(placesOf().sort());
  });

  it('lists every setting with its meaning, allowed values and default', () => {
    expect(tableIn(sectionOf(page, 'Settings'))).toEqual(settingRows(''));
  });

  it.each(Object.entries(SETTING_GROUPS))('explains the group %s and lists its members', (name, description) => {
    const section = sectionOf(page, `\`${name}\``);
    expect(section.replaceAll(/\s+/g, ' ')).toContain(description.replaceAll(/\s+/g, ' '));
    expect(tableIn(section)).toEqual(settingRows(`${name}.`));
  });

  it('has an example of settings that are accepted', () => {
    expect(parseSettings(example('settings'), 'docs/sandbox.md')).toEqual(example('settings'));
  });
});
