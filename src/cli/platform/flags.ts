/** Fields of the contract as flags of the command line. */
import { InvalidArgumentError, Option } from 'commander';
import type { TObject } from 'typebox';
import { choice } from '../arguments.js';
import { readText } from './given-text.js';

/** What a field's JSON Schema says, as far as flags go. */
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

/** commander's name for a flag's value. */
export const optionKey = (name: string): string =>
  kebab(name).replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** A flag for each field; older names of fields have none. */
export function optionsOf(fields: TObject): Option[] {
  return Object.entries(fields.properties as Record<string, Field>)
    .filter(([, field]) => field.deprecated !== true)
    .map(([name, field]) => optionOf(name, field));
}

/** The fields that flags have set. Texts of JSON flags may be `@file` or `-`, so they are read only now. */
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

/** The JSON value that a flag's text is or leads to. */
export const jsonOf = async (flag: string, text: string): Promise<unknown> => (await readText(flag, text)).json();

type Kind = 'choice' | 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'json';

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
      return new Option(`${flag} <text>`, `${about}; may come again`).argParser(
        (text, before: string[] | undefined) => [...(before ?? []), text],
      );
    case 'json':
      return new Option(`${flag} <json>`, `${about}${about === '' ? '' : '; '}JSON, @file or - for stdin`);
  }
}

const number = (allowed: (value: number) => boolean, what: string) => (text: string) => {
  const value = text.trim() === '' ? NaN : Number(text);
  if (!allowed(value)) throw new InvalidArgumentError(`Allowed: ${what}.`);
  return value;
};
