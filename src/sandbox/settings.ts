/**
 * The sandbox's settings: a choice for each behaviour that platform-api.md leaves open (docs/assumptions.md).
 *
 * They are declared once, in settings/. The types, the defaults, the validation of a settings file and the table of
 * docs/sandbox.md derive from those declarations. A setting is a value, or a group: an object of settings, any of
 * which may be left out.
 */
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { invalidPlaces } from './invalid-places.js';
import { createAjv, schemaOf } from './json-schema.js';
import { ACCESS } from './settings/access.js';
import { CAPACITY } from './settings/capacity.js';
import { MESSAGING } from './settings/messaging.js';
import { RESPONSES } from './settings/responses.js';
import { UPLOADS } from './settings/uploads.js';

const Settings = Type.Object({ ...ACCESS, ...CAPACITY, ...RESPONSES, ...UPLOADS, ...MESSAGING });

/** Settings are shared by everything in the process, so no part of them can be assigned to. */
type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
/** All settings with their values; docs/sandbox.md describes each. */
export type SandboxSettings = DeepReadonly<Static<typeof Settings>>;

/** A partial set, as a caller or a settings file gives it: some settings, and some members of a group. */
export type GivenSettings = {
  readonly [K in keyof SandboxSettings]?: SandboxSettings[K] extends readonly unknown[]
    ? SandboxSettings[K]
    : SandboxSettings[K] extends object
      ? Partial<SandboxSettings[K]>
      : SandboxSettings[K];
};

interface Described {
  readonly default: unknown;
  readonly description: string;
}

const groups: Readonly<Record<string, TSchema>> = Settings.properties;
const described = (schema: TSchema): Described => schema as unknown as Described;
const isGroup = (schema: TSchema): schema is TObject => 'properties' in schema;

/** Description and default of each setting, by its dotted name; a member of a group is `statuses.invalid`. */
export const SETTINGS: Readonly<Record<string, Described>> = Object.fromEntries(
  Object.entries(groups).flatMap(([name, schema]) =>
    isGroup(schema)
      ? Object.entries(schema.properties).map(([member, value]) => [`${name}.${member}`, described(value)])
      : [[name, described(schema)]],
  ),
);

/** Description of each group, by name. */
export const SETTING_GROUPS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(groups)
    .filter(([, schema]) => isGroup(schema))
    .map(([name, schema]) => [name, described(schema).description]),
);

const defaultOf = (schema: TSchema): unknown =>
  isGroup(schema)
    ? Object.fromEntries(Object.entries(schema.properties).map(([name, member]) => [name, defaultOf(member)]))
    : described(schema).default;

/** The default of every setting. */
export const DEFAULT_SETTINGS = defaultOf(Settings) as SandboxSettings;

const defined = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** Fills in the defaults. A setting, or a member of a group, that is undefined keeps its default. */
export function completeSettings(given: GivenSettings = {}): SandboxSettings {
  const defaults = DEFAULT_SETTINGS as unknown as Readonly<Record<string, object>>;
  const set = Object.entries(defined(given)).map(([name, value]: [string, object]) => [
    name,
    isGroup(groups[name]!) ? { ...defaults[name], ...defined(value) } : value,
  ]);
  return { ...DEFAULT_SETTINGS, ...(Object.fromEntries(set) as Partial<SandboxSettings>) };
}

const partial = Type.Partial(
  Type.Object(
    Object.fromEntries(
      Object.entries(groups).map(([name, schema]) => [
        name,
        isGroup(schema) ? Type.Partial(schema, { additionalProperties: false }) : schema,
      ]),
    ),
  ),
  { additionalProperties: false },
);
const validate = createAjv({ verbose: true }).compile(schemaOf(partial));

/** Validates `value`, a parsed JSON settings file. Throws an Error that names `file` and every invalid place. */
export function parseSettings(value: unknown, file: string): GivenSettings {
  if (!validate(value)) throw new Error(`${file}: ${invalidPlaces(validate.errors).join('; ')}`);
  return value as GivenSettings;
}
