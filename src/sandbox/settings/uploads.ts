/** Settings of what requests may hold, and what becomes of uploaded records. */
import { Type, type TObject } from 'typebox';
import { SchemaDefinitionInput } from '../../platform/contract/schema-definitions.js';
import { sendingDomainOperations } from '../../platform/contract/sending-domains.js';
import { Choice, Flag, Group } from './group.js';

/** The fields of a body that may be left out, older names aside. */
function optionalFields({ properties, required }: TObject): string[] {
  const needed: readonly string[] = required ?? [];
  return Object.entries(properties as Record<string, { deprecated?: boolean }>)
    .filter(([name, { deprecated }]) => deprecated !== true && !needed.includes(name))
    .map(([name]) => name);
}
const Fields = (body: TObject, description: string) =>
  Type.Array(Type.Enum(optionalFields(body)), { default: [], description });

const Words = (description: string) => Type.String({ minLength: 1, default: '{reason}', description });

export const UPLOADS = {
  unknownInput: Group('What is done with what a request has, but the interface does not.', {
    body: Choice(['refuse', 'ignore'], 'Fields of a body. Fields of resources have `ignoreUnknownFields` (4.8).'),
    query: Choice(['ignore', 'refuse'], 'Query parameters.'),
    include: Choice(['refuse', 'ignore'], 'Fields to resolve that are no references (4.10).'),
  }),
  alsoRequired: Group('Fields of bodies that are required although the contract lets them be left out.', {
    createSchemaDefinition: Fields(SchemaDefinitionInput, 'Of 4.4, under either name.'),
    createSendingDomain: Fields(sendingDomainOperations.createSendingDomain.body, 'Of 4.3.'),
  }),
  existing: Choice(
    ['refuse', 'answer'],
    'What a creation (4.3, 4.4, 4.9) does where there is one of this name: refuse it, or answer the one that is there.',
  ),
  schemas: Group('What a schema definition may be (section 2, 4.4).', {
    dialect: Choice(['draft-07', '2020-12'], 'JSON Schema where `$schema` names none.'),
    formats: Flag(true, 'Whether `format` is checked in records.'),
    references: Choice(['any', 'existing'], 'Whether a `$ref` may name a schema definition that is yet to come.'),
  }),
  transactionsSchema: Type.String({
    minLength: 1,
    default: 'transactions',
    description: 'Name of the schema definition that 4.5 uploads to.',
  }),
  records: Group('What becomes of the records of an upload (4.5, 4.8).', {
    merge: Choice(
      ['fields', 'deep'],
      'An upsert replaces objects whole, or merges them too, and null deletes in them.',
    ),
    validated: Choice(['merged', 'sent'], 'The schema holds for the record as it would be stored, or as it was sent.'),
    repeated: Choice(
      ['in_order', 'fail'],
      'An external id twice in one upload: applied in order, or the later one fails.',
    ),
    unknownFields: Choice(
      ['refuse_upload', 'fail_record'],
      'Without `ignoreUnknownFields`, an extra field refuses the upload, or fails its record.',
    ),
    integerIds: Flag(true, 'Whether an external id may be an integer, which becomes its text.'),
    references: Type.Array(Type.Enum(['id', 'object']), {
      default: ['id', 'object'],
      minItems: 1,
      description: "Forms that a reference may have: the parent's external id, `{ type, id }`.",
    }),
    referencesWithinUpload: Flag(true, 'Whether records of the same upload count as present.'),
  }),
  failureWords: Group(
    'Words for failed records (2, section 3, rule 3). `{reason}` stands for the usual ones, `{parents}` for the missing parents.',
    {
      missingParent: Words('A parent is missing, and the upload does not let the record wait.'),
      expired: Words('The wait for a parent has elapsed.'),
      other: Words('Anything else. It has no `{parents}`.'),
    },
  ),
  pending: Group('What becomes of resources that wait for others (section 3, rule 3).', {
    countsFrom: Choice(['acceptance', 'processing'], 'From when `dependencyWaitTimeout` counts.'),
    completed: Choice(
      ['at_once', 'at_check'],
      'When the last parent has arrived, its children are stored with it, or at the next `expiryCheckInterval`.',
    ),
    expired: Choice(['fail', 'store'], 'When the wait elapses, the resource fails, or is stored without its parent.'),
    newer: Choice(['wait_too', 'replaces'], 'A newer upload of a pending resource waits beside it, or replaces it.'),
  }),
};
