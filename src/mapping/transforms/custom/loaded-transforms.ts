/**
 * The custom transforms that are loaded in this thread, by their code. They stay loaded, so a run can end with the code that it
 * began with although the file has changed meanwhile; each thread loads its own.
 */
import { PartnerSyncError } from '../../../domain/errors.js';
import type { FieldSpec, MappingSpec, TransformCode } from '../../../domain/sync/sync.js';
import { getOrInsert } from '../../../domain/values/get-or-insert.js';
import type { Transform } from '../transform.js';
import { checkDefinition } from './check-definition.js';
import { evaluated } from './transform-code.js';

/** A transform whose code is loaded, or everything that is wrong with it. */
export type LoadedTransform = { readonly transform: Transform } | { readonly problems: readonly string[] };

const loading = new Map<string, Promise<LoadedTransform>>();
const loaded = new Map<string, Transform>();
const codes = new Map<string, TransformCode>();

const keyOf = ({ name, hash }: Pick<TransformCode, 'name' | 'hash'>): string => `${name} ${hash}`;

/** Loads it once; its examples are run then. Never rejects for what the code is like. */
export function loadTransform(code: TransformCode): Promise<LoadedTransform> {
  return getOrInsert(loading, keyOf(code), async () => {
    const exported = await evaluated(code.text).catch((error: unknown) => error);
    if (exported instanceof PartnerSyncError) return { problems: [exported.message] };
    const transform = checkDefinition(code.name, exported);
    if ('make' in transform) {
      loaded.set(keyOf(code), transform);
      codes.set(keyOf(code), code);
      return { transform };
    }
    return { problems: transform };
  });
}

/** Loads the transforms of a mapping that another thread has loaded already. */
export async function loadTransformsOf({ fields }: MappingSpec): Promise<void> {
  await Promise.all([...fields.values()].flatMap(codesOf).map(loadTransform));
}

/** The code of the custom transforms that a field calls. */
export const codesOf = (field: FieldSpec): TransformCode[] =>
  field.kind === 'constant' ? [] : field.transforms.flatMap(({ code }) => code ?? []);

/** The transform of a code that {@link loadTransform} has loaded. */
export function loadedTransform(code: TransformCode): Transform {
  const transform = loaded.get(keyOf(code));
  if (transform === undefined)
    throw new PartnerSyncError('unexpected', `the transform ${code.name} (${code.file}) is not loaded in this thread`);
  return transform;
}

/** Code that this thread has loaded before; undefined if it has not. */
export const knownCode = (name: string, hash: string): TransformCode | undefined => codes.get(keyOf({ name, hash }));
