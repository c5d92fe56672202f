/** Turns fields of the platform's contract into options of the command line, and options back into fields. */
import { InvalidArgumentError, Option } from 'commander';
import type { TObject } from 'typebox';
import { choice } from '../arguments.js';
import { readText } from './given-text.js';

/** The parts of a field's JSON Schema that decide its option. */
interface Field {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: Field;
  readonly description?: string;
  readonly default?: unknown;
  readonly deprecated?: boolean;
  readonly anyOf?: readonly Field[];
}

/** `includeSegments` -> `include-segments`; `channel_provider` -> `channel-provider`. */
export const kebab = (name: string): string =>
  name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * The key under which commander keeps an option's value: its long name in camel case, which differs from the field's
 * name where that has underscores.
 */
export const optionKey = (name: string): string =>
  kebab(name).replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** An option for each field. Deprecated fields have none, but can still be sent with `--data`. */
export function optionsOf(fields: TObject): Option[] {
  return Object.entries(fields.properties as Record<string, Field>)
    .filter(([, field]) => field.deprecated !== true)
    .map(([name, field]) => optionOf(name, field));
}

/**
 * The fields that options have set. Values of JSON options may be `@file` or `-`; they are read here rather than by the
 * option's parser, which cannot wait for a file.
 */
export async function fieldsFrom(
  fields: TObject,
  flags: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields.properties as Record<string, Field>)) {
    const value = flags[optionKey(name)];
    if (value === undefined) continue;
    given[name] = kindOf(field) === 'json' ? await jsonOf(`--${kebab(name)}`, value as string) : value;
  }
  return given;
}

/** The JSON value of an option: its text, a file (`@file`) or stdin (`-`). Throws `input_invalid` naming `flag`. */
export const jsonOf = async (flag: string, text: string): Promise<unknown> => (await readText(flag, text)).json();

type Kind = 'choice' | 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'json';

/**
 * The kind of a field; anything but plain values and lists of texts is given as JSON. `null` cannot be given but by
 * --data.
 */
function kindOf(field: Field): Kind {
  if (field.enum !== undefined) return 'choice';
  const types = [field.type ?? 'object'].flat().filter((type) => type !== 'null');
  switch (types[0]) {
    case 'boolean':
    case 'integer':
    case 'number':
      return types[0];
    case 'string':
      return 'text';
    case 'array':
      return field.items?.type === 'string' ? 'list' : 'json';
    default:
      return 'json';
  }
}

/**
 * The option of one field. Commander's own defaults are not used: a default is the platform's to apply, and an option
 * that was not given must not be sent.
 */
function optionOf(name: string, field: Field): Option {
  const flag = `--${kebab(name)}`;
  const standard = field.default === undefined ? '' : ` (default: ${JSON.stringify(field.default)})`;
  const about = `${field.description ?? ''}${standard}`;
  switch (kindOf(field)) {
    case 'choice':
      return new Option(`${flag} <choice>`, `${about}${about === '' ? '' : '; '}${field.enum!.join(', ')}`).argParser(
        choice(field.enum!),
      );
    case 'boolean':
      return new Option(`${flag} <boolean>`, `${about}; true or false`).argParser(
        (text) => choice(['true', 'false'])(text) === 'true',
      );
    case 'integer':
      return new Option(`${flag} <number>`, about).argParser(number(Number.isSafeInteger, 'a whole number'));
    case 'number':
      return new Option(`${flag} <number>`, about).argParser(number(Number.isFinite, 'a number'));
    case 'text':
      return new Option(`${flag} <text>`, about);
    case 'list':
      return new Option(`${flag} <text>`, `${about}; repeatable`).argParser((text, before: string[] | undefined) => [
        ...(before ?? []),
        text,
      ]);
    case 'json':
      return new Option(`${flag} <json>`, `${about}${about === '' ? '' : '; '}JSON, @file or - for stdin`);
  }
}

const number = (allowed: (value: number) => boolean, what: string) => (text: string) => {
  // `Number('')` is 0.
  const value = text.trim() === '' ? NaN : Number(text);
  if (!allowed(value)) throw new InvalidArgumentError(`Allowed: ${what}.`);
  return value;
};
