/**
 * Creates one schema definition on the platform, also when responses are lost: what counts is that it exists in the
 * end.
 */
import { PartnerSyncError } from '../domain/errors.js';
import type { SchemaDefinitionFile } from '../domain/sync/sync.js';
import type { PlatformClient } from '../platform/client.js';
import { isInDoubt } from '../platform/error.js';
import { backoffMs, pause } from '../platform/retry.js';
import { milliseconds } from '../domain/timeouts.js';

/**
 * - `created`, with the platform's id; null if the response that held it was lost.
 * - `taken`: the name existed before, and there is no call to ask whose definition it is.
 */
export type Pushed = { readonly kind: 'created'; readonly id: string | null } | { readonly kind: 'taken' };

type Creating = Pick<PlatformClient, 'createSchemaDefinition'>;

/**
 * Creates the definition (4.4), and tries again after lost responses and passing failures, for a few minutes. A name
 * can be taken once, so trying again does no harm. If the name is taken after a lost response, this very definition
 * took it: had it existed before, the platform would have said so the first time.
 *
 * Throws what the platform's last failure was, with a remark if it is not known whether the definition was created.
 * `note` receives a line about a lost response.
 */
export async function pushDefinition(
  platform: Creating,
  definition: SchemaDefinitionFile,
  note: (line: string) => void = () => undefined,
): Promise<Pushed> {
  const started = performance.now();
  let lost: PartnerSyncError | undefined;
  let tries = 0;
  while (true) {
    try {
      // The file was checked against the language's schema, which is stricter than the type of the contract's body.
      const created = await platform.createSchemaDefinition(
        definition as Parameters<Creating['createSchemaDefinition']>[0],
      );
      return { kind: 'created', id: created.id };
    } catch (error) {
      if (!(error instanceof PartnerSyncError)) throw error;
      if (lost !== undefined && isTaken(error)) {
        note(`${definition.name}: the response was lost (${lost.message}); its name is taken now, so it was created`);
        return { kind: 'created', id: null };
      }
      if (error.details['status'] === 409) return { kind: 'taken' };
      if (!error.retryable && !isInDoubt(error)) throw error;
      if (isInDoubt(error)) lost = error;
      const delay = backoffMs(tries);
      if (performance.now() - started + delay > milliseconds('pushDefinition'))
        throw lost === undefined ? error : doubtful(definition, error);
      await pause(delay, undefined);
    }
    tries++;
  }
}

/**
 * Platforms report it with 409 or in the message. The message is read only after a lost response: otherwise such words
 * may be about anything in the file.
 */
const isTaken = ({ details }: PartnerSyncError): boolean =>
  details['status'] === 409 ||
  ((details['status'] === 400 || details['status'] === 422) &&
    /already (exists?|taken|in use|used|registered)|(is|been) taken|duplicate|unique/i.test(messagesIn(details)));

const messagesIn = ({ platformMessage = '', errors = [] }: { platformMessage?: unknown; errors?: unknown }): string =>
  [platformMessage, ...(errors as readonly string[])].join(' ');

const doubtful = ({ name }: SchemaDefinitionFile, error: PartnerSyncError): PartnerSyncError =>
  new PartnerSyncError(
    error.code,
    `schema definition ${name}: ${error.message}. It is not known whether it was created; push again to find out`,
    error.details,
  );
