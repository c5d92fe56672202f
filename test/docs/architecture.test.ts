/** docs/architecture.md: its modules are those of .dependency-cruiser.cjs, its tables those of the ledger's migrations. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPage, ROOT, sectionOf, tableIn, withoutTicks } from './pages.js';

interface Rule {
  readonly name: string;
  readonly comment?: string;
  readonly from: { readonly path?: string; readonly pathNot?: string };
  readonly to: { readonly path?: string; readonly pathNot?: string | readonly string[] };
}

const { forbidden } = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
  readonly forbidden: readonly Rule[];
};
const page = readPage('docs/architecture.md');
const section = sectionOf(page, 'Modules, and who may import whom');

/** `^src/(domain|records)` -> src/domain, src/records */
function modulesIn(pattern: string): string[] {
  const [, before = '', choices] = /^\^([^(]*)(?:\(([^)]*)\))?$/.exec(pattern) ?? [];
  return choices === undefined ? [before] : choices.split('|').map((choice) => before + choice);
}

/** Module -> the modules that it may import, by the rules that name them. */
const enforced = Object.fromEntries(
  forbidden
    .filter(({ comment }) => comment?.includes('may import only'))
    .map(({ from, to }): [string, string[]] => {
      // The module itself comes first, packages and Node's modules last.
      const allowed = (to.pathNot as readonly string[]).slice(1).filter((path) => /^\^(?:src|activities)/.test(path));
      return [modulesIn(from.path!)[0]!, allowed.flatMap(modulesIn).sort()];
    }),
);

/** The cells of the table, spelled out. */
const written = Object.fromEntries(
  tableIn(section).map(([module, , may]): [string, string[]] => {
    const named = [...may!.matchAll(/`([^`]+)`/g)].map(([, name]) => `src/${name}`);
    return [withoutTicks(module!), named.sort()];
  }),
);

describe('the table of modules', () => {
  it('lists the modules of the rules, and what each may import', () => {
    const { workflows, ...others } = written;
    expect(workflows).toEqual(['src/domain']);
    expect(Object.keys(enforced).length).toBeGreaterThan(15);
    expect(others).toEqual(enforced);
  });

  it.each(['domain', 'delivery', 'ledger'])(
    'lists the folders of src/%s in the order in which they may import each other',
    (of) => {
      const paragraphs = section.slice(section.indexOf(`Inside \`src/${of}\``)).split('\n\n');
      const list = paragraphs.find((paragraph) => paragraph.startsWith('- '))!;
      const listed = [...list.matchAll(/^- `([\w-]+)` /gm)].map(([, folder]) => folder!);
      const rules = forbidden.filter(({ name }) => name.startsWith(`${of}-imports-one-way-`));
      const later = rules.map(({ to }) => /\(([^)]*)\)/.exec(to.path!)![1]!.split('|'));
      expect(later).toEqual(listed.slice(0, -1).map((_, i) => listed.slice(i + 1)));
      const entries = readdirSync(join(ROOT, `src/${of}`), { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      expect(folders.sort()).toEqual([...listed].sort());
    },
  );

  it('says who may import database drivers', () => {
    const { from } = forbidden.find(({ name }) => name === 'drivers-only-beside-databases')!;
    const sentence = /Only ([^.]*?)\smay\simport `knex`/.exec(section)![1]!;
    const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, module]) => module!);
    expect(named.sort()).toEqual(modulesIn(from.pathNot!).sort());
  });
});

describe('the tables of the ledger', () => {
  it('are those that the migrations create, and the two that Knex keeps', () => {
    const folder = join(ROOT, 'src/ledger/migrations');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const sql = files.map((file) => readFileSync(join(folder, file), 'utf8'));
    const created = sql.flatMap((text) => [...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name!));
    const named = tableIn(sectionOf(page, 'The tables of the ledger')).flatMap(([names]) =>
      names!.split(', ').map(withoutTicks),
    );
    expect(named.sort()).toEqual([...created, 'migrations', 'migrations_lock'].sort());
  });
});

it('lists only existing files to follow a chunk through', () => {
  const files = tableIn(sectionOf(page, 'To follow one chunk through the code')).map(([file]) => withoutTicks(file!));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
