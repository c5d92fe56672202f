/** Custom transforms: found by name, held to purity, harmless in a run, and part of the version of their sync. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import { mapRow } from '../../src/mapping/check/run-examples.js';
import { keptFiles } from '../../src/mapping/kept-files.js';
import { loadKeptSync, loadSync } from '../../src/mapping/load-sync.js';
import { errorOf } from '../platform/stub-platform.js';
import { columns, definition, ENV, findingsOf, lint, syncFolder } from './sync-on-disk.js';

/** The file of a transform `tier`, with these keys in place of its own. */
const tier = (keys: Readonly<Record<string, string>> = {}, before = ''): string => {
  const all: Record<string, string> = {
    gives: `'text'`,
    options: `{ gold: { type: 'integer', default: 1000 } }`,
    rejections: `{ negative: 'is below zero' }`,
    examples: `[{ in: '5', out: 'basic' }, { in: '1000', out: 'gold' }, { in: '-1', rejected: 'negative' }]`,
    apply: `(value, { options, reject }) => {
      if (Number(value) < 0) return reject('negative');
      return Number(value) >= options.gold ? 'gold' : 'basic';
    }`,
    ...keys,
  };
  const body = Object.entries(all).map(([key, value]) => `  ${key}: ${value},`);
  return `${before}export default {\n${body.join('\n')}\n};\n`;
};

const people = (call: string): string =>
  `schema: person\nsource: { table: people }\nkey: [id]\nfields:\n  personId: id\n  name: { column: points, transforms: [${call}] }\n`;

const files = (code: string, call = '{ custom: tier }'): Record<string, string> => ({
  'tier.transform.js': code,
  'people.mapping.yaml': people(call),
});

/** Maps rows with these points, as a run does, or as checks do. */
async function mapped(code: string, { call = '{ custom: tier }', field = { type: 'string' }, checking = false } = {}) {
  const { sync, findings } = await lint({
    ...files(code, call),
    'person.schema.json': definition('person', { personId: { type: 'string' }, name: field }, ['personId']),
  });
  expect(findings).toEqual([]);
  const compiled = compileMapping(sync!.mappings[0]!, sync!.tenant, columns({ id: 'integer', points: 'text' }));
  return (points: string | null) => {
    const result = checking
      ? mapRow(compiled, { id: '7', points })
      : compiled.map(compiled.columns.map((name) => (name === 'id' ? '7' : points)));
    return result.kind === 'record' ? result.data['name'] : `${result.pointer} ${result.rule}: ${result.reason}`;
  };
}

describe('a custom transform', () => {
  it('maps values, rejects rows for declared reasons, and is skipped for SQL NULL', async () => {
    const map = await mapped(tier());

    expect([map('5'), map('1000'), map(null)]).toEqual(['basic', 'gold', null]);
    expect(map('-3')).toBe('/name transform: tier: is below zero');
  });

  it('takes options, between other transforms', async () => {
    const map = await mapped(tier(), { call: 'trim, { custom: { name: tier, options: { gold: 3 } } }, uppercase' });

    expect([map(' 2 '), map(' 5 ')]).toEqual(['BASIC', 'GOLD']);
  });

  it.each([
    ['number', { type: 'number' }, 'Number(value) / 4', 0.25],
    ['boolean', { type: 'boolean' }, 'value === "1"', true],
    ['list', { type: 'array', items: { type: 'string' } }, '[value, value]', ['1', '1']],
    ['json', { type: 'object' }, '({ points: [Number(value), null] })', { points: [1, null] }],
  ])('gives a %s', async (gives, field, expression, result) => {
    const examples = `[{ in: '1', out: ${JSON.stringify(result)} }]`;
    const map = await mapped(tier({ gives: `'${gives}'`, apply: `(value) => ${expression}`, examples }), { field });

    expect(map('1')).toEqual(result);
  });

  it('that returns a list with holes makes the row a dead letter', async () => {
    const apply = `(value) => { const list = []; value.split(';').forEach((each, at) => { if (each) list[at] = each; }); return list; }`;
    const code = tier({ gives: `'list'`, apply, examples: `[{ in: 'a;b', out: ['a', 'b'] }]` });
    const field = { type: 'array', items: { type: 'string' } };
    const map = await mapped(code, { field });

    expect(map('a;b')).toEqual(['a', 'b']);
    expect(map('a;;b')).toContain('the transform returned a list instead of a list of texts');
  });

  it.each([
    ['throws', `throw new Error('no tier for ' + value)`, 'threw Error'],
    ['throws an error whose name is data', `throw Object.assign(new Error(), { name: value })`, 'threw an error'],
    ['throws what is no error', 'throw value', 'threw an error'],
    [
      'throws an error that cannot be looked at',
      'throw new Proxy(new Error(value), { get() { throw new Error(value); } })',
      'threw an error',
    ],
    ['returns nothing', '', 'returned nothing instead of a text'],
    ['returns another type', 'return value.length', 'returned a number instead of a text'],
    ['returns a promise', 'return Promise.resolve(value)', 'returned a promise; it must be synchronous'],
    ['rejects for a reason that is not declared', `return reject(value)`, 'threw RangeError'],
    [
      'returns an object that throws',
      'return { get rejection() { throw new Error(value); } }',
      'returned an object instead of a text',
    ],
    [
      'returns a proxy',
      `return new Proxy({}, { get() { throw value; }, getPrototypeOf() { throw value; } })`,
      'threw an error',
    ],
  ])('that %s makes the row a dead letter without its value', async (_, statement, reason) => {
    const map = await mapped(
      tier({
        apply: `(value, { reject }) => { if (value === '5') return 'basic'; ${statement} }`,
        examples: `[{ in: '5', out: 'basic' }]`,
      }),
    );

    expect(map('secret')).toContain(`/name transform: tier: the transform ${reason}`);
    expect(map('secret')).not.toContain('secret');
  });
});

describe('purity', () => {
  /** Impure for all values but that of the example. */
  const impureFor = (expression: string) =>
    tier({
      apply: `(value) => (value === '5' ? 'basic' : String(${expression}))`,
      examples: `[{ in: '5', out: 'basic' }]`,
    });

  it.each([
    ['Date.now()', 'uses the clock (Date.now)'],
    ['new Date()', 'uses the clock (new Date())'],
    ['Date()', 'uses the clock (Date())'],
    ['performance.now()', 'uses the clock (performance)'],
    ['new Date(0).getHours()', "uses the machine's time zone (getHours)"],
    ['new Date(2020, 1, 1)', "uses the machine's time zone (new Date() of a local time)"],
    ['Math.random()', 'uses random numbers (Math.random)'],
    ['crypto.randomUUID()', 'uses random numbers (crypto)'],
    ['process.env.HOME', 'uses the process (process)'],
    ['fetch("http://127.0.0.1")', 'uses the network (fetch)'],
    ['(globalThis.calls = (globalThis.calls ?? 0) + 1)', 'gives another result for the same value'],
  ])('finds %s when rows are checked', async (expression, problem) => {
    const map = await mapped(impureFor(expression), { checking: true });

    expect(map('6')).toBe(`/name transform: tier: the transform is not pure: it ${problem}`);
    expect(map('5')).toBe('basic');
  });

  it('allows dates that are the same on every machine, and puts the globals back', async () => {
    const clock = Date;
    const map = await mapped(impureFor('new Date("2020-01-01T10:00:00+02:00").toISOString()'), { checking: true });

    expect(map('6')).toBe('2020-01-01T08:00:00.000Z');
    expect(Date).toBe(clock);
    expect(new Date().getFullYear()).toBeGreaterThan(2000);
  });

  it('is tested with the examples whenever the sync is loaded', async () => {
    const code = tier({ apply: `() => String(Date.now())`, examples: `[{ in: '5', out: 'basic' }]` });

    expect(await findingsOf(files(code))).toEqual([
      'tier.transform.js error bad_transform examples[0]: expected "basic", got: the transform is not pure: it uses the clock (Date.now)',
    ]);
  });
});

describe('check refuses', () => {
  it.each([
    [
      'a file that uses the clock when it is loaded',
      tier({}, 'const today = new Date();\n'),
      'cannot be loaded: ImpureUse: uses the clock (new Date())',
    ],
    [
      'a file that imports another',
      tier({}, `import { readFileSync } from 'node:fs';\n`),
      'imports "node:fs"; a transform\'s file must be complete in itself',
    ],
    [
      'a file that imports while it runs',
      tier({ apply: `(value) => import(value)` }),
      'imports something while it runs',
    ],
    ['a file that is not JavaScript', 'export default {', 'cannot be loaded: SyntaxError'],
    ['a file without a transform', 'export const tier = 1;', 'has no default export'],
    ['a transform without examples', tier({ examples: '[]' }), 'examples must NOT have fewer than 1 items'],
    [
      'an example that does not come out',
      tier({ examples: `[{ in: '5', out: 'gold' }]` }),
      'examples[0]: expected "gold", got "basic"',
    ],
    [
      'an example of a rejection that does not come out',
      tier({ examples: `[{ in: '5', rejected: 'negative' }]` }),
      'examples[0]: expected the rejection "negative", got "basic"',
    ],
    [
      'a transform that changes its options',
      tier({ apply: `(value, { options }) => { options.gold++; return value; }` }),
      'got: the transform threw TypeError',
    ],
    ['an unknown key', tier({ version: '1' }), 'must NOT have additional properties'],
  ])('%s', async (_, code, problem) => {
    const [finding] = await findingsOf(files(code));
    expect(finding).toContain('tier.transform.js error bad_transform ');
    expect(finding).toContain(problem);
  });

  it('a name without a file, options that the file does not declare, and files that are not used', async () => {
    expect(await findingsOf(files(tier(), '{ custom: teir }'))).toEqual([
      'people.mapping.yaml:6:50 error transform_missing fields.name.transforms[0].custom: there is no custom transform "teir" here. Did you mean "tier"? Custom transforms: tier; a new one is a file <name>.transform.js',
    ]);
    expect(await findingsOf(files(tier(), '{ custom: { name: tier, options: { gold: many } } }'))).toEqual([
      'people.mapping.yaml:6:50 error bad_option fields.name.transforms[0].custom: tier: options/gold must be integer',
    ]);
    expect(await findingsOf({ 'tier.transform.js': tier() })).toEqual([
      'tier.transform.js warning unused_transform no mapping calls this transform',
    ]);
    expect(await findingsOf({ 'tier.transform.ts': '' })).toEqual([
      'tier.transform.ts warning unknown_file is not read: compile it to tier.transform.js, beside it',
    ]);
  });
});

describe('the version of a sync', () => {
  it('changes with the code of a transform, and a run goes by the code that it began with', async () => {
    const folder = syncFolder(files(tier()));
    const before = await loadSync(folder, 'shop', ENV);
    const kept = JSON.parse(JSON.stringify(keptFiles(before.files))) as typeof before.files;
    writeFileSync(join(folder, 'shop/tier.transform.js'), `// Only a comment.\n${tier()}`);
    const after = await loadSync(folder, 'shop', ENV);

    expect(after.spec.version).not.toBe(before.spec.version);
    expect(await loadKeptSync('shop', kept, ENV, () => Promise.resolve(folder))).toEqual(before.spec);
    expect(JSON.stringify(kept)).not.toContain('apply');
  });

  it('keeps a worker with other code away from a run', async () => {
    const { files: kept } = await loadSync(syncFolder(files(tier())), 'shop', ENV);
    const transforms = kept.transforms!.map((transform) => ({ ...transform, hash: '0123456789abcdef' }));

    const other = syncFolder(files(tier()));
    const error = await errorOf(loadKeptSync('shop', { ...kept, transforms }, ENV, () => Promise.resolve(other)));

    expect(error).toMatchObject({ code: 'config_invalid', details: { onAnotherWorker: true } });
    expect(error.message).toContain('shop/tier.transform.js: the run began with other code of this transform');
  });
});
