/** The payload codec that an operator may plug in: what Temporal stores of inputs and results goes through it. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { readVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { foreignText } from '../domain/values/foreign-text.js';

const NAME = 'PARTNER_SYNC_DATA_CONVERTER';

/**
 * What the module that `PARTNER_SYNC_DATA_CONVERTER` names exports as `dataConverter`; undefined if none is named. Its path is
 * relative to the current folder. Throws `config_invalid` if it cannot be loaded, or is no data converter that works here.
 */
export async function dataConverterOf(env: Env): Promise<DataConverter | undefined> {
  const path = await readVariable(env, NAME);
  if (!path) return undefined;
  const refuse = (what: string, cause?: unknown): PartnerSyncError =>
    new PartnerSyncError('config_invalid', `${NAME}: ${path} ${what}`, {}, { cause });
  const { dataConverter } = await load(path).catch((cause: unknown) => {
    const words = cause instanceof Error ? foreignText(cause.message, 300) : 'unknown error';
    throw refuse(`cannot be loaded (${words})`, cause);
  });
  if (typeof dataConverter !== 'object' || dataConverter === null)
    throw refuse('must export "dataConverter": an object such as { payloadCodecs: [codec] }');
  const { payloadCodecs, ...more } = dataConverter as DataConverter;
  // Workflows run from a bundle that is part of this package, and only a converter in the bundle could be found there.
  const foreign = Object.keys(more)[0];
  if (foreign !== undefined)
    throw refuse(`must have nothing but "payloadCodecs" in "dataConverter"; it has "${foreign}"`);
  if (!Array.isArray(payloadCodecs) || payloadCodecs.length === 0 || !payloadCodecs.every(isCodec))
    throw refuse('must have "payloadCodecs" in "dataConverter": a list of objects with the methods encode and decode');
  return { payloadCodecs };
}

const load = async (path: string): Promise<{ dataConverter?: unknown }> =>
  (await import(pathToFileURL(resolve(path)).href)) as { dataConverter?: unknown };

const isCodec = (codec: Partial<PayloadCodec> | null): boolean =>
  typeof codec?.encode === 'function' && typeof codec.decode === 'function';
