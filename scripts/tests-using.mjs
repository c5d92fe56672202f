/** Finds the test files that use a module, directly or through others. Plain Node, no dependency. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * The test files that use `module` (a package, or a path in the repository) among those that `args`, vitest's
 * arguments, select.
 */
export function filesUsing(root, module, args) {
  const texts = new Map();
  for (const entry of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }))
    if (/\.tsx?$/.test(entry)) {
      const file = posix.join('test', entry.replaceAll('\\', '/'));
      texts.set(file, importsOf(file, readFileSync(join(root, file), 'utf8')));
    }
  const using = new Set([module]);
  let before = 0;
  while (before !== using.size) {
    before = using.size;
    for (const [file, imports] of texts) if (imports.some((each) => using.has(each))) using.add(file);
  }
  return [...using].filter((file) => /\.test\.tsx?$/.test(file) && chosenBy(args)(file)).sort();
}

/** What a file imports: packages by name, files by path in the repository. */
function importsOf(file, text) {
  return [...text.matchAll(/from '([^']+)'/g)].map(([, from]) =>
    from.startsWith('.') ? posix.join(posix.dirname(file), from).replace(/\.js$/, '.ts') : from,
  );
}

/**
 * A filter for the files that vitest's arguments select. A word after an option may be its value; then all files are
 * selected.
 */
function chosenBy(args) {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const unknown = args.some((arg, i) => arg.startsWith('-') && !arg.includes('=') && words.includes(args[i + 1]));
  return (file) => words.length === 0 || unknown || words.some((word) => file.includes(word.replace(/^\.\//, '')));
}
