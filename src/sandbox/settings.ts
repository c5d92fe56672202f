/**
 * The choices of the sandbox where platform-api.md is silent; docs/assumptions.md lists them all.
 *
 * Declared once: the type, the defaults, the check of a settings file and the table of docs/sandbox.md come from here.
 */
import { Type, type Static, type TSchema } from 'typebox';
import { DEFAULT_PARAMETER_NAMES } from '../platform/contract/operation.js';
import { invalidPlaces } from './invalid-places.js';
import { newAjv, schemaOf } from './json-schema.js';

const Settings = Type.Object(
  {
    maxRecordsPerBatch: Type.Integer({
      minimum: 1,
      default: 500,
      description: 'Records of one upload; more are answered with 413 (section 8).',
    }),
    maxBodyBytes: Type.Integer({
      minimum: 1,
      default: 4 * 1024 * 1024,
      description: 'Bytes of one request body; more are answered with 413 (section 8).',
    }),
    processingDelay: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Milliseconds between the 202 and the processing, to make asynchrony visible (section 3, rule 2).',
    }),
    batchesAtOnce: Type.Integer({
      minimum: 1,
      default: 2,
      description: 'Batches processed side by side; those of one tenant never are (section 3, rule 2).',
    }),
    expiryCheckInterval: Type.Integer({
      minimum: 1,
      default: 1_000,
      description: 'Milliseconds between two looks for pending resources whose wait has elapsed (section 3, rule 3).',
    }),
    batchRetention: Type.Integer({
      minimum: 1,
      default: 30 * 86_400,
      description: 'Seconds for which a completed batch can be read; then it is an unknown one (section 2).',
    }),
    parameterNames: Type.Object(
      {
        include: Type.String({ minLength: 1 }),
        referenceFormat: Type.String({ minLength: 1 }),
        includePendingDetails: Type.String({ minLength: 1 }),
      },
      {
        additionalProperties: false,
        default: DEFAULT_PARAMETER_NAMES,
        description: 'Names of the three query parameters that sections 4.10 and 4.14 do not show.',
      },
    ),
    errorShape: Type.Enum(['standard', 'alternative'], {
      default: 'standard',
      description: 'Which of the two error shapes 4.5, 4.8 and 4.10 answer with (sections 1 and 7).',
    }),
    fieldNames: Type.Enum(['both', 'camel', 'snake'], {
      default: 'both',
      description: 'Which names of twin fields answers carry (sections 1 and 2 say both).',
    }),
    authHeader: Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      default: 'authorization',
      description: 'Header that carries the token (section 5.4).',
    }),
    authScheme: Type.String({
      pattern: '^[A-Za-z0-9-]*$',
      default: 'Bearer',
      description: 'Word before the token in that header; empty: the token alone (section 5.4).',
    }),
    tokenAlways: Type.Boolean({
      default: false,
      description: 'Whether an operation without a security requirement (4.1, see section 5.3) needs a token too.',
    }),
    mailDomain: Type.String({
      pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
      default: 'mail.sandbox.example',
      description: "The platform's own mail domain: DNS records point to it, channel accounts live below it.",
    }),
    allowedHosts: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Host names under which the server may be called besides loopback and its own (a service in a container network).',
    }),
  },
  { additionalProperties: false },
);

type DeepReadonly<T> = { readonly [K in keyof T]: T[K] extends object ? DeepReadonly<T[K]> : T[K] };
export type SandboxSettings = DeepReadonly<Static<typeof Settings>>;

/** Each setting's name, JSON Schema, default and meaning. */
export const SETTINGS: Readonly<Record<string, TSchema & { default?: unknown; description?: string }>> =
  Settings.properties;

export const DEFAULT_SETTINGS = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { default: value }]) => [name, value]),
) as unknown as SandboxSettings;

/** The defaults with what the caller sets; a setting that is left undefined keeps its default. */
export function completeSettings(given: Partial<SandboxSettings> = {}): SandboxSettings {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_SETTINGS, ...(Object.fromEntries(set) as Partial<SandboxSettings>) };
}

const validate = newAjv({ verbose: true }).compile(schemaOf(Type.Partial(Settings, { additionalProperties: false })));

/** The settings that `value` (a parsed JSON file) holds; throws an error that names every wrong place. */
export function parseSettings(value: unknown, file: string): Partial<SandboxSettings> {
  if (!validate(value)) throw new Error(`${file}: ${invalidPlaces(validate.errors).join('; ')}`);
  return value as Partial<SandboxSettings>;
}
