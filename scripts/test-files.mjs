/** Which test files use a module, directly or by way of others. Plain Node, no dependency. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Those among the files that `args`, vitest's arguments, choose. */
export function filesUsing(root, module, args) {
  const texts = new Map();
  for (const entry of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }))
    if (entry.endsWith('.ts')) {
      const file = posix.join('test', entry.replaceAll('\\', '/'));
      texts.set(file, importsOf(file, readFileSync(join(root, file), 'utf8')));
    }
  const using = new Set([module]);
  for (let before = 0; before !== using.size;) {
    before = using.size;
    for (const [file, imports] of texts) if (imports.some((each) => using.has(each))) using.add(file);
  }
  return [...using].filter((file) => file.endsWith('.test.ts') && chosenBy(args)(file)).sort();
}

/** Packages by their names, files by their paths in the repository. */
function importsOf(file, text) {
  return [...text.matchAll(/from '([^']+)'/g)].map(([, from]) =>
    from.startsWith('.') ? posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts') : from,
  );
}

/** A word that follows an option may be its value: then who knows which files are meant. */
function chosenBy(args) {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const unclear = args.some((arg, i) => arg.startsWith('-') && !arg.includes('=') && words.includes(args[i + 1]));
  return (file) => words.length === 0 || unclear || words.some((word) => file.includes(word.replace(/^\.\//, '')));
}
