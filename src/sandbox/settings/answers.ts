/** Settings of how answers look: names, shapes and statuses. */
import { DEFAULT_PARAMETER_NAMES } from '../../platform/contract/operation.js';
import { REFUSAL_STATUSES } from '../../platform/contract/refusals.js';
import { Type } from 'typebox';
import { Choice, Group, Whole } from './group.js';

const Name = (standard: string, description: string) => Type.String({ minLength: 1, default: standard, description });
const Status = (standard: number, description: string) => Whole(standard, { minimum: 400, maximum: 499 }, description);
const OneStatus = <const S extends number>(values: readonly [S, ...S[]], description: string) =>
  Type.Enum([...values], { default: values[0], description });

export const ANSWERS = {
  parameterNames: Group('Names of the three query parameters that sections 4.10 and 4.14 do not show.', {
    include: Name(DEFAULT_PARAMETER_NAMES.include, 'The references to resolve (4.10).'),
    referenceFormat: Name(DEFAULT_PARAMETER_NAMES.referenceFormat, 'The form of references (4.10).'),
    includePendingDetails: Name(DEFAULT_PARAMETER_NAMES.includePendingDetails, 'The flag for pending details (4.14).'),
  }),
  fieldNames: Choice(
    ['both', 'camel', 'snake'],
    'Which names of twin fields answers carry (sections 1 and 2 say both).',
  ),
  emptyFields: Choice(
    ['mixed', 'null', 'left_out'],
    'How answers show a field without a value: null or left out as the operation likes, always null, always left out (section 2).',
  ),
  errorShape: Choice(
    ['standard', 'alternative'],
    'Which of the two error shapes 4.5, 4.8 and 4.10 answer with (sections 1 and 7).',
  ),
  statuses: Group('HTTP statuses that section 7 does not show. Those that it shows (7.3, 7.4, 7.5) stay.', {
    created: OneStatus([200, 201], 'Done, of 4.3 and 4.4.'),
    notUnderstood: OneStatus([200, 400, 422], 'A text that 4.2 does not understand; other than 200: as an error.'),
    invalid: Status(REFUSAL_STATUSES.invalid, 'A request that is not valid; that of 4.1 is 400 always.'),
    tenantMissing: Status(REFUSAL_STATUSES.tenantMissing, 'A platform token without a tenant, on `/api/...`.'),
    unauthenticated: OneStatus([401, 403], 'No token, or none that is valid.'),
    forbidden: OneStatus([403, 401, 404], 'A token that may not call this operation; a foreign host name.'),
    unknownTenant: Status(REFUSAL_STATUSES.unknownTenant, 'A tenant in the header that is unknown, or another one.'),
    notFound: OneStatus([404, 410], "What is not there or is another tenant's; 4.13 answers 404 always."),
    taken: Status(REFUSAL_STATUSES.taken, 'Something of this name exists.'),
    tooLarge: OneStatus([413, 400, 422], 'Too many records, or too many bytes.'),
    notJson: OneStatus([415, 400], 'A body of another content type.'),
    busy: OneStatus([429, 503], 'More requests than `rateLimit` allows.'),
  }),
  batchStatus: Group('What the status of a batch (4.14) says, and when.', {
    completed: Choice(
      ['all_final', 'processed'],
      '`completedAt` is set when no resource is pending any more, or when the batch has been processed.',
    ),
    processed: Choice(['final', 'with_pending'], 'Whether `processedRecords` counts pending resources too.'),
    successRate: Choice(['share', 'percent'], '`successRate` from 0 to 1, or from 0 to 100.'),
    recordErrors: Choice(
      ['external_id', 'resource', 'index', 'unnamed', 'counted', 'none'],
      'How entries of `recordErrors` name their records: `externalId "X": ...`, `Resource \'X\': ...`, by the place in the upload, not at all, only how many share a reason, or no entries.',
    ),
  }),
};
