/** Settings of how much the sandbox takes, how fast it is, and how long it remembers. */
import { Type } from 'typebox';
import { Choice, Group, Whole } from './group.js';

export const CAPACITY = {
  maxRecordsPerBatch: Whole(500, { minimum: 1 }, 'Records of one upload; more are too large (section 8).'),
  minRecordsPerBatch: Whole(1, { minimum: 0, maximum: 1 }, '0: an upload may be empty (4.8).'),
  maxBodyBytes: Whole(4 * 1024 * 1024, { minimum: 1 }, 'Bytes of one request body; more are too large (section 8).'),
  longest: Group('Lengths that the document leaves open, or bounds on one side only.', {
    schemaName: Whole(128, { minimum: 1, maximum: 128 }, 'Characters of the names of a schema definition (section 8).'),
    externalId: Whole(512, { minimum: 1, maximum: 512 }, 'Characters of an external id (4.8).'),
    segmentText: Whole(1_000, { minimum: 1, maximum: 10_000 }, 'Characters of a text that 4.2 reads.'),
    page: Whole(1_000, { minimum: 1, maximum: 1_000 }, 'Entries of a page of 4.12, whatever its `limit` says.'),
    errors: Whole(100, { minimum: 0 }, 'Errors that a refusal lists; 0: it has its message only (section 7).'),
  }),
  rateLimit: Group('How often one token may call (section 8 shows no limit); more is answered with `statuses.busy`.', {
    requests: Whole(0, { minimum: 0 }, 'Requests within the window; 0: as many as come.'),
    seconds: Type.Number({ exclusiveMinimum: 0, maximum: 3_600, default: 1, description: 'Length of the window.' }),
    retryAfter: Choice(['seconds', 'date', 'none'], 'Form in which `Retry-After` says when the next window begins.'),
  }),
  processingDelay: Whole(
    0,
    { minimum: 0, maximum: 86_400_000 },
    'Milliseconds between the 202 and the processing, to make asynchrony visible (section 3, rule 2).',
  ),
  batchesAtOnce: Whole(
    2,
    { minimum: 1 },
    'Batches processed side by side; those of one tenant never are (section 3, rule 2).',
  ),
  batchOrder: Choice(
    ['oldest_first', 'newest_first'],
    'Which of the batches that are due is processed next (section 3, rule 2).',
  ),
  expiryCheckInterval: Whole(
    1_000,
    { minimum: 1, maximum: 86_400_000 },
    'Milliseconds between two looks for pending resources whose wait has elapsed (section 3, rule 3).',
  ),
  batchRetention: Whole(
    30 * 86_400,
    { minimum: 1, maximum: 3_650 * 86_400 },
    'Seconds for which a completed batch can be read; then it is an unknown one (section 2).',
  ),
  cursorLifetime: Whole(
    0,
    { minimum: 0, maximum: 3_650 * 86_400 },
    'Seconds for which a cursor is good; 0: for ever (section 4).',
  ),
};
