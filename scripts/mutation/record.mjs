/** What mutation testing has found, kept in docs/reliability/mutation.json, and its page, which is made of it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_MEASURED, TARGETS } from './targets.mjs';

const FILES = TARGETS.flatMap((target) =>
  target.files.map((file) => ({ file: nameOf(file, target), aim: target.aim })),
);

const JSON_FILE = 'docs/reliability/mutation.json';
const PAGE_FILE = 'docs/reliability/mutation.md';

/** By which name a file's result of this target is kept. */
export function nameOf(file, { sql = false }) {
  return sql ? `SQL of ${file}` : file;
}

/** By name: when and at which commit its mutants were tried, how many there are, and the survivors with the reason of each. */
export function readRecord(root) {
  const path = join(root, JSON_FILE);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** The record with the result of a file. A reason is kept as long as the same mutant of the same code survives. */
export function withResult(record, file, { mutants, survivors }, { date, commit }) {
  const known = record[file]?.survivors ?? [];
  const reasonOf = ({ code, mutant }) => known.find((k) => k.code === code && k.mutant === mutant)?.reason ?? '';
  const told = survivors.map((survivor) => ({ ...survivor, reason: reasonOf(survivor) }));
  return { ...record, [file]: { date, commit, mutants, survivors: told } };
}

export function writeRecord(root, record) {
  mkdirSync(join(root, 'docs/reliability'), { recursive: true });
  writeFileSync(join(root, JSON_FILE), `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(root, PAGE_FILE), mutationPage(record));
}

/** The page: a row for each file, then each survivor with its reason, then what was not measured. */
export function mutationPage(record) {
  const measured = FILES.filter(({ file }) => record[file] !== undefined);
  const rows = measured.map(({ file, aim }) => {
    const { mutants, survivors, date, commit } = record[file];
    const killed = mutants - survivors.length;
    return [ticked(file), mutants, killed, survivors.length, share(killed, mutants), `${aim} %`, date, ticked(commit)];
  });
  const survivors = measured.flatMap(({ file }) =>
    record[file].survivors.map(({ line, code, mutant, reason }) => [
      ticked(`${file.split('/').at(-1)}:${line}`),
      ticked(code),
      ticked(mutant),
      reason,
    ]),
  );
  const left = FILES.filter(({ file }) => record[file] === undefined).map(({ file }) => [
    ticked(file),
    'its mutants have not been tried yet',
  ]);
  return `# Tests of the tests

\`npm run mutation\` changes the code in one place at a time (a comparison, a condition, a value, a statement left out) and runs the tests
that reach it. Such a mutant is killed if a test fails or does not end; if all pass, it has survived. Of the ledger, SQL is changed
(\`<\` for \`<=\`, OR for AND, a condition that always holds, a lock left out), and those of its own tests that send the statement are run on a real
PostgreSQL. Where it is not SQL that is changed, only tests that need no server are run, so a survivor may still be noticed by tests with real
databases; for \`dependency-wait\` and the code around SQL, those with a real ledger are run. The command writes this page from
\`mutation.json\` beside it, in which each survivor gets its reason by hand.

## Figures

${table(['File', 'Mutants', 'Killed', 'Survived', 'Share', 'Aim', 'Date', 'Commit'], rows)}

## Survivors

${survivors.length === 0 ? 'None.' : table(['Place', 'Code', 'Mutant', 'Why it survives'], survivors)}

## Not measured

${table(['What', 'Why'], [...left, ...NOT_MEASURED.map(([what, why]) => [ticked(what), why])])}
`;
}

const share = (part, all) => (all === 0 ? '' : `${((100 * part) / all).toFixed(1)} %`);

/** Code in a cell of a table: short, and with fences longer than any in it. */
function ticked(text) {
  const short = text.length > 80 ? `${text.slice(0, 77)}...` : text;
  const cell = short.replaceAll('|', '\\|');
  if (!cell.includes('`')) return `\`${cell}\``;
  const space = cell.startsWith('`') || cell.endsWith('`') ? ' ' : '';
  return `\`\`${space}${cell}${space}\`\``;
}

/** A table as the formatter of this repository leaves it. */
function table(heading, rows) {
  const cells = [heading, ...rows].map((row) => row.map(String));
  const widths = heading.map((_, i) => Math.max(3, ...cells.map((row) => row[i].length)));
  const line = (row) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const [first, ...others] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}
