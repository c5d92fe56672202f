/**
 * Shapes the `data` of a response by the settings `fieldNames` and `emptyFields`: which name of a field with an
 * alias is sent, and whether a field without a value is null or left out.
 */
import type { TSchema } from 'typebox';
import type { Operation } from '../platform/contract/operation.js';
import { renamer, withBothNames, withCamelNames, withSnakeNames, type Renaming } from '../platform/contract/aliases.js';
import type { SandboxSettings } from './settings.js';

const RENAMINGS: Record<SandboxSettings['fieldNames'], Renaming> = {
  both: withBothNames,
  camel: withCamelNames,
  snake: withSnakeNames,
};

/** A function that is built once for an operation and then applied to each response; it never mutates its argument. */
type Change = (value: unknown) => unknown;

/**
 * Builds the function that rewrites an operation's `data` just before it is sent.
 *
 * Handlers return the contract's own names, with empty fields as the operation prefers them. The result has both names
 * of a field with an alias, or one of them (sections 1 and 2 show both), and treats empty fields as `emptyFields` says.
 */
export function responseForm(
  { data }: Operation,
  { fieldNames, emptyFields }: Pick<SandboxSettings, 'fieldNames' | 'emptyFields'>,
): Change {
  const rename = renamer(data, RENAMINGS[fieldNames]);
  const changes = [emptyFields === 'mixed' ? null : emptier(data, emptyFields), rename].filter((c) => c !== null);
  return (value) => changes.reduce((changed, change) => change(changed), value);
}

/** The JSON Schema keywords that matter here. TypeBox schemas are plain JSON Schema at run time. */
interface Described {
  readonly type?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

const isNull = (schema: TSchema): boolean => (schema as Described).type === 'null';

/**
 * Rewrites empty fields to null, or removes them, throughout a value of this schema.
 *
 * Only fields that the contract declares both optional and nullable are changed, so a response stays valid either way.
 */
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
