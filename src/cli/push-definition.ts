/** Creates one schema definition on the platform, through lost answers too: what counts is that it is there. */
import { PartnerSyncError } from '../domain/errors.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import type { PlatformClient } from '../platform/client.js';
import { isInDoubt } from '../platform/error.js';
import { backoffMs, pause } from '../platform/retry.js';

/**
 * - `created`, with the platform's id, or null where the answer that held it was lost;
 * - `taken`: the name was there before us, and there is no call to ask whose it is.
 */
export type Pushed = { readonly kind: 'created'; readonly id: string | null } | { readonly kind: 'taken' };

type Creating = Pick<PlatformClient, 'createSchemaDefinition'>;

/** Milliseconds for one definition; the command may be started again. */
const BUDGET = 60_000;

/**
 * A name is taken once and for all, so creating it a second time does no harm: it is tried again after lost answers and
 * faults that pass. If the name is taken then, it was this very definition that took it: the platform has no call to
 * read one, and would have said so at first, had it been there before.
 */
export async function pushDefinition(
  platform: Creating,
  definition: SchemaDefinitionFile,
  note: (line: string) => void = () => undefined,
): Promise<Pushed> {
  const started = performance.now();
  let lost: PartnerSyncError | undefined;
  for (let tries = 0; ; tries++) {
    try {
      // The file is checked against the language's schema, which is stricter than the contract's body.
      const created = await platform.createSchemaDefinition(
        definition as Parameters<Creating['createSchemaDefinition']>[0],
      );
      return { kind: 'created', id: created.id };
    } catch (error) {
      if (!(error instanceof PartnerSyncError)) throw error;
      if (lost !== undefined && isTaken(error)) {
        note(`${definition.name}: the answer was lost (${lost.message}); its name is taken now, so it is there`);
        return { kind: 'created', id: null };
      }
      if (error.details['status'] === 409) return { kind: 'taken' };
      if (!error.retryable && !isInDoubt(error)) throw error;
      if (isInDoubt(error)) lost = error;
      const delay = backoffMs(tries);
      if (performance.now() - started + delay > BUDGET) throw lost === undefined ? error : doubtful(definition, error);
      await pause(delay, undefined);
    }
  }
}

/** Platforms say it with 409, or in words. Only after a lost answer: else the words may be about anything in the file. */
const isTaken = ({ details }: PartnerSyncError): boolean =>
  details['status'] === 409 ||
  ((details['status'] === 400 || details['status'] === 422) &&
    /already (exists?|taken|in use|used|registered)|(is|been) taken|duplicate|unique/i.test(saidBy(details)));

const saidBy = ({ words = '', errors = [] }: { words?: unknown; errors?: unknown }): string =>
  [words, ...(errors as readonly string[])].join(' ');

const doubtful = ({ name }: SchemaDefinitionFile, error: PartnerSyncError): PartnerSyncError =>
  new PartnerSyncError(
    error.code,
    `schema definition ${name}: ${error.message}. Whether it was created is not known; pushing again finds out`,
    error.details,
  );
