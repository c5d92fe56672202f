/**
 * The choices of the sandbox where platform-api.md is silent; docs/assumptions.md lists them all.
 *
 * Declared once, in settings/: the types, the defaults, the check of a settings file and the table of docs/sandbox.md
 * come from there. A setting is a value, or a group: an object of settings, any of which may be left out.
 */
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { invalidPlaces } from './invalid-places.js';
import { newAjv, schemaOf } from './json-schema.js';
import { ACCESS } from './settings/access.js';
import { ANSWERS } from './settings/answers.js';
import { CAPACITY } from './settings/capacity.js';
import { MESSAGING } from './settings/messaging.js';
import { UPLOADS } from './settings/uploads.js';

const Settings = Type.Object({ ...ACCESS, ...CAPACITY, ...ANSWERS, ...UPLOADS, ...MESSAGING });

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
export type SandboxSettings = DeepReadonly<Static<typeof Settings>>;

/** What a caller or a file sets: some settings, and some members of a group. */
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

/** Each setting's meaning and default; the members of a group as `statuses.invalid`. */
export const SETTINGS: Readonly<Record<string, Described>> = Object.fromEntries(
  Object.entries(groups).flatMap(([name, schema]) =>
    isGroup(schema)
      ? Object.entries(schema.properties).map(([member, value]) => [`${name}.${member}`, described(value)])
      : [[name, described(schema)]],
  ),
);

/** What the groups are about, by name. */
export const SETTING_GROUPS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(groups)
    .filter(([, schema]) => isGroup(schema))
    .map(([name, schema]) => [name, described(schema).description]),
);

const defaultOf = (schema: TSchema): unknown =>
  isGroup(schema)
    ? Object.fromEntries(Object.entries(schema.properties).map(([name, member]) => [name, defaultOf(member)]))
    : described(schema).default;

export const DEFAULT_SETTINGS = defaultOf(Settings) as SandboxSettings;

const defined = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** The defaults with what the caller sets; a setting that is left undefined keeps its default. */
export function completeSettings(given: GivenSettings = {}): SandboxSettings {
  const standard = DEFAULT_SETTINGS as unknown as Readonly<Record<string, object>>;
  const set = Object.entries(defined(given)).map(([name, value]: [string, object]) => [
    name,
    isGroup(groups[name]!) ? { ...standard[name], ...defined(value) } : value,
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
const validate = newAjv({ verbose: true }).compile(schemaOf(partial));

/** The settings that `value` (a parsed JSON file) holds; throws an error that names every wrong place. */
export function parseSettings(value: unknown, file: string): GivenSettings {
  if (!validate(value)) throw new Error(`${file}: ${invalidPlaces(validate.errors).join('; ')}`);
  return value as GivenSettings;
}
