/** Gives answers the form that the settings ask for: names of twin fields, and how fields without a value are shown. */
import type { TSchema } from 'typebox';
import type { Operation } from '../platform/contract/operation.js';
import { renamer, withBothNames, withCamelNames, withSnakeNames, type Renaming } from '../platform/contract/twins.js';
import type { SandboxSettings } from './settings.js';

const RENAMINGS: Record<SandboxSettings['fieldNames'], Renaming> = {
  both: withBothNames,
  camel: withCamelNames,
  snake: withSnakeNames,
};

type Change = (value: unknown) => unknown;

/** What becomes of `data` before it is sent; handlers answer in the contract's own names. */
export function answerForm(
  { data }: Operation,
  { fieldNames, emptyFields }: Pick<SandboxSettings, 'fieldNames' | 'emptyFields'>,
): Change {
  const rename = renamer(data, RENAMINGS[fieldNames]);
  const changes = [emptyFields === 'mixed' ? null : emptier(data, emptyFields), rename].filter((c) => c !== null);
  return (value) => changes.reduce((changed, change) => change(changed), value);
}

interface Described {
  readonly type?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

const isNull = (schema: TSchema): boolean => (schema as Described).type === 'null';

/** Shows the fields without a value in one way, wherever the contract lets them be null or left out. */
function emptier(schema: TSchema, how: 'null' | 'left_out'): Change {
  const { anyOf, items, properties, required = [] } = schema as Described;
  if (anyOf !== undefined) {
    // Alternatives here are "this or null".
    const alternative = anyOf.find((schema) => !isNull(schema));
    return alternative === undefined ? (value) => value : emptier(alternative, how);
  }
  if (items !== undefined) {
    const each = emptier(items, how);
    return (value) => (Array.isArray(value) ? value.map(each) : value);
  }
  if (properties === undefined) return (value) => value;
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    mayBeEmpty: !required.includes(name) && ((member as Described).anyOf ?? []).some(isNull),
    change: emptier(member, how),
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    const out: Record<string, unknown> = { ...value };
    for (const { name, mayBeEmpty, change } of members) {
      if (out[name] != null) out[name] = change(out[name]);
      else if (mayBeEmpty && how === 'null') out[name] = null;
      else if (mayBeEmpty) delete out[name];
    }
    return out;
  };
}
