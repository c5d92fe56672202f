/** Settings for the form of responses: names, shapes and HTTP statuses. */
import { DEFAULT_PARAMETER_NAMES } from '../../platform/contract/operation.js';
import { REFUSAL_STATUSES } from '../../platform/contract/refusals.js';
import { Type } from 'typebox';
import { Choice, Group, Whole } from './group.js';

const Name = (defaultValue: string, description: string) =>
  Type.String({ minLength: 1, default: defaultValue, description });
const Status = (defaultValue: number, description: string) =>
  Whole(defaultValue, { minimum: 400, maximum: 499 }, description);
/** A choice among a few statuses, of which the first is the default. */
const OneStatus = <const S extends number>(values: readonly [S, ...S[]], description: string) =>
  Type.Enum([...values], { default: values[0], description });

/** What responses look like: parameter names, aliases, error shapes, statuses and the form of a batch's status. */
export const RESPONSES = {
  parameterNames: Group('Names of the three query parameters that sections 4.10 and 4.14 do not show.', {
    include: Name(DEFAULT_PARAMETER_NAMES.include, 'The references to resolve (4.10).'),
    referenceFormat: Name(DEFAULT_PARAMETER_NAMES.referenceFormat, 'The form of references (4.10).'),
    includePendingDetails: Name(DEFAULT_PARAMETER_NAMES.includePendingDetails, 'The flag for pending details (4.14).'),
  }),
  fieldNames: Choice(
    ['both', 'camel', 'snake'],
    'Which names of fields with an alias responses contain (sections 1 and 2 show both).',
  ),
  emptyFields: Choice(
    ['mixed', 'null', 'left_out'],
    'How responses show a field without a value: null or left out depending on the operation, always null, or always left out (section 2).',
  ),
  errorShape: Choice(
    ['standard', 'alternative'],
    'Which of the two error shapes 4.5, 4.8 and 4.10 use (sections 1 and 7).',
  ),
  statuses: Group(
    'HTTP statuses that section 7 does not show. Those that it shows (7.3, 7.4, 7.5) cannot be changed.',
    {
      created: OneStatus([200, 201], 'Success of 4.3 and 4.4.'),
      notUnderstood: OneStatus(
        [200, 400, 422],
        'A text that 4.2 does not understand; any status but 200 makes it an error.',
      ),
      invalid: Status(REFUSAL_STATUSES.invalid, 'A request that is not valid; for 4.1 it is always 400.'),
      tenantMissing: Status(REFUSAL_STATUSES.tenantMissing, 'A platform token without a tenant, on `/api/...`.'),
      unauthenticated: OneStatus([401, 403], 'No token, or none that is valid.'),
      forbidden: OneStatus([403, 401, 404], 'A token that may not call this operation; a foreign host name.'),
      unknownTenant: Status(
        REFUSAL_STATUSES.unknownTenant,
        "A tenant in the header that is unknown, or not the token's.",
      ),
      notFound: OneStatus(
        [404, 410],
        'Something that does not exist or belongs to another tenant; for 4.13 it is always 404.',
      ),
      taken: Status(REFUSAL_STATUSES.taken, 'A name that is already taken.'),
      tooLarge: OneStatus([413, 400, 422], 'Too many records, or too many bytes.'),
      notJson: OneStatus([415, 400], 'A body of another content type.'),
      busy: OneStatus([429, 503], 'More requests than `rateLimit` allows.'),
    },
  ),
  batchStatus: Group('What the status of a batch (4.14) contains.', {
    completed: Choice(
      ['all_final', 'processed'],
      '`completedAt` is set when no resource is pending any more, or when the batch has been processed.',
    ),
    processed: Choice(['final', 'with_pending'], 'Whether `processedRecords` counts pending resources too.'),
    successRate: Choice(['share', 'percent'], '`successRate` from 0 to 1, or from 0 to 100.'),
    recordErrors: Choice(
      ['external_id', 'resource', 'index', 'unnamed', 'counted', 'none'],
      'How entries of `recordErrors` name their records: `externalId "X": ...`, `Resource \'X\': ...`, by the index in the upload, or not at all; or one entry for each reason with the number of its records, or no entries.',
    ),
  }),
};
