/** Settings for capacity: how much the sandbox accepts, how fast it processes, and how long it keeps things. */
import { Type } from 'typebox';
import { Choice, Group, Whole } from './group.js';

/** Limits, speed and retention; section 8 shows few of these limits. */
export const CAPACITY = {
  maxRecordsPerBatch: Whole(500, { minimum: 1 }, 'Maximum number of records in one upload (section 8).'),
  minRecordsPerBatch: Whole(
    1,
    { minimum: 0, maximum: 1 },
    'Minimum number of records in one upload; with 0 it may be empty (4.8).',
  ),
  maxBodyBytes: Whole(4 * 1024 * 1024, { minimum: 1 }, 'Maximum number of bytes in one request body (section 8).'),
  longest: Group('Limits that the document does not show, or shows only as a minimum.', {
    schemaName: Whole(128, { minimum: 1, maximum: 128 }, 'Characters of the names of a schema definition (section 8).'),
    externalId: Whole(512, { minimum: 1, maximum: 512 }, 'Characters of an external id (4.8).'),
    segmentText: Whole(1_000, { minimum: 1, maximum: 10_000 }, 'Characters of a text that 4.2 reads.'),
    page: Whole(1_000, { minimum: 1, maximum: 1_000 }, 'Entries of a page of 4.12, whatever its `limit` says.'),
    errors: Whole(100, { minimum: 0 }, 'Errors that a refusal lists; with 0 it has only its message (section 7).'),
  }),
  rateLimit: Group(
    'How often one token may call (section 8 shows no limit); further calls are refused with `statuses.busy`.',
    {
      requests: Whole(0, { minimum: 0 }, 'Requests within the window; 0 means no limit.'),
      seconds: Type.Number({ exclusiveMinimum: 0, maximum: 3_600, default: 1, description: 'Length of the window.' }),
      retryAfter: Choice(['seconds', 'date', 'none'], 'Form in which `Retry-After` says when the next window begins.'),
    },
  ),
  processingDelay: Whole(
    0,
    { minimum: 0, maximum: 86_400_000 },
    'Milliseconds between the 202 and the processing, to make asynchrony visible (section 3, rule 2).',
  ),
  batchesAtOnce: Whole(
    2,
    { minimum: 1 },
    'Batches processed at the same time; those of one tenant are processed one after the other (section 3, rule 2).',
  ),
  batchOrder: Choice(
    ['oldest_first', 'newest_first'],
    'Which of the batches that are due is processed next (section 3, rule 2).',
  ),
  expiryCheckInterval: Whole(
    1_000,
    { minimum: 1, maximum: 86_400_000 },
    'Milliseconds between two checks for pending resources whose wait has elapsed (section 3, rule 3).',
  ),
  batchRetention: Whole(
    30 * 86_400,
    { minimum: 1, maximum: 3_650 * 86_400 },
    'Seconds for which a completed batch can be read; after that it is unknown (section 2).',
  ),
  cursorLifetime: Whole(
    0,
    { minimum: 0, maximum: 3_650 * 86_400 },
    'Seconds for which a cursor is valid; 0 means that it never expires (section 4).',
  ),
};
