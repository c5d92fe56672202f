/** The package.json of a project: a new one, or an existing one with what it lacks. */
import { PartnerSyncError } from '../domain/errors.js';

/** Scripts by name; an existing script of the same name stays. */
const SCRIPTS = {
  dev: 'partner-sync dev',
  check: 'partner-sync check --offline',
  test: 'partner-sync mapping test',
} as const;

/** What `npm init` writes for `test`: it says that there are no tests, and is replaced. */
const NO_TEST = 'echo "Error: no test specified" && exit 1';

/** Install scripts of packages that Temporal's SDK depends on. It works without them, and npm asks about each. */
const ALLOW_SCRIPTS = { '@swc/core': false, protobufjs: false } as const;

/** The parts of a package.json that matter here. */
export interface PackageJson {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Reads the text of a package.json. Throws `input_invalid` if it is not one. */
export function parsePackageJson(text: string): PackageJson {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new PartnerSyncError(
    'input_invalid',
    'package.json is not a JSON object; nothing was written. Correct it first',
  );
}

/** Whether the project depends on partner-sync. */
export const dependsOnPackage = ({ dependencies = {}, devDependencies = {} }: PackageJson): boolean =>
  'partner-sync' in dependencies || 'partner-sync' in devDependencies;

/** A package.json for the project `name`. */
export const newPackageJson = (name: string, version: string): string =>
  `${JSON.stringify({ name, private: true, scripts: SCRIPTS, dependencies: { 'partner-sync': version }, allowScripts: ALLOW_SCRIPTS }, null, 2)}\n`;

/**
 * The text with the scripts that it lacks, in its own indentation and with its own line ends, and their names. Everything
 * else stays.
 */
export function completedPackageJson(text: string): { text: string; added: readonly string[] } {
  const found = parsePackageJson(text);
  const { test, ...others } = found.scripts ?? {};
  const own = test === undefined || test === NO_TEST ? others : { ...others, test };
  const scripts = { ...own, ...missing(SCRIPTS, own) };
  const allowScripts = { ...found.allowScripts, ...missing(ALLOW_SCRIPTS, found.allowScripts ?? {}) };
  const added = [
    ...Object.keys(missing(SCRIPTS, own)).map((name) => `scripts.${name}`),
    ...Object.keys(missing(ALLOW_SCRIPTS, found.allowScripts ?? {})).map((name) => `allowScripts.${name}`),
  ];
  if (added.length === 0) return { text, added };
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const end = /\r?\n$/.exec(text)?.[0] ?? '';
  const json = JSON.stringify({ ...found, scripts, allowScripts }, null, indent);
  const written = `${json}${end === '' ? '' : '\n'}`;
  return { text: text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written, added };
}

const missing = <T>(wanted: Readonly<Record<string, T>>, own: Readonly<Record<string, unknown>>): Record<string, T> =>
  Object.fromEntries(Object.entries(wanted).filter(([name]) => !Object.hasOwn(own, name)));
