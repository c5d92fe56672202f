/** Settings for uploads and other request bodies: what they may contain, and what happens to the records. */
import { Type, type TObject } from 'typebox';
import { SchemaDefinitionInput } from '../../platform/contract/schema-definitions.js';
import { sendingDomainOperations } from '../../platform/contract/sending-domains.js';
import { Choice, Flag, Group } from './group.js';

/**
 * The fields of a body that the contract lets a caller leave out, except deprecated names. Only these can be made
 * required by a setting.
 */
function optionalFields({ properties, required }: TObject): string[] {
  const needed: readonly string[] = required ?? [];
  return Object.entries(properties as Record<string, { deprecated?: boolean }>)
    .filter(([name, { deprecated }]) => deprecated !== true && !needed.includes(name))
    .map(([name]) => name);
}
const Fields = (body: TObject, description: string) =>
  Type.Array(Type.Enum(optionalFields(body)), { default: [], description });

const Message = (description: string) => Type.String({ minLength: 1, default: '{reason}', description });

/** What requests may contain, and what happens to uploaded records that repeat, fail or wait for a parent. */
export const UPLOADS = {
  unknownInput: Group('How parts of a request that the interface does not declare are handled.', {
    body: Choice(
      ['refuse', 'ignore'],
      'Fields of a body. For fields of resources there is `ignoreUnknownFields` (4.8).',
    ),
    query: Choice(['ignore', 'refuse'], 'Query parameters.'),
    include: Choice(['refuse', 'ignore'], 'Fields to resolve that are not references (4.10).'),
  }),
  alsoRequired: Group('Fields of bodies that are required although the contract lets them be left out.', {
    createSchemaDefinition: Fields(SchemaDefinitionInput, 'Fields of 4.4, under either name.'),
    createSendingDomain: Fields(sendingDomainOperations.createSendingDomain.body, 'Fields of 4.3.'),
  }),
  existing: Choice(
    ['refuse', 'answer'],
    'What a creation (4.3, 4.4, 4.9) does if the name is taken: refuse, or return the existing object.',
  ),
  schemas: Group('Rules for schema definitions (section 2, 4.4).', {
    dialect: Choice(['draft-07', '2020-12'], 'Dialect of JSON Schema if `$schema` names none.'),
    formats: Flag(true, 'Whether `format` is checked in records.'),
    references: Choice(['any', 'existing'], 'Whether a `$ref` may name a schema definition that does not exist yet.'),
  }),
  transactionsSchema: Type.String({
    minLength: 1,
    default: 'transactions',
    description: 'Name of the schema definition that 4.5 uploads to.',
  }),
  records: Group('How the records of an upload are handled (4.5, 4.8).', {
    merge: Choice(
      ['fields', 'deep'],
      'An upsert replaces nested objects as a whole, or merges them too, so that null deletes one of their fields.',
    ),
    validated: Choice(['merged', 'sent'], 'The schema validates the record as it would be stored, or as it was sent.'),
    repeated: Choice(
      ['in_order', 'fail'],
      'If an upload repeats an external id, its records are applied in order, or the later ones fail.',
    ),
    unknownFields: Choice(
      ['refuse_upload', 'fail_record'],
      'Without `ignoreUnknownFields`, an extra field causes the upload to be refused, or its record to fail.',
    ),
    integerIds: Flag(true, 'Whether an external id may be an integer, which becomes its text.'),
    references: Type.Array(Type.Enum(['id', 'object']), {
      default: ['id', 'object'],
      minItems: 1,
      description: "Forms that a reference may have: the parent's external id, `{ type, id }`.",
    }),
    referencesWithinUpload: Flag(true, 'Whether records of the same upload count as present.'),
  }),
  failureMessages: Group(
    'Reasons of failed records (section 2; section 3, rule 3). `{reason}` is the default reason, `{parents}` are the missing parents.',
    {
      missingParent: Message('A parent is missing, and the upload does not let the record wait.'),
      expired: Message('The wait for a parent has elapsed.'),
      other: Message('Anything else; without `{parents}`.'),
    },
  ),
  pending: Group('How resources that wait for others are handled (section 3, rule 3).', {
    countsFrom: Choice(['acceptance', 'processing'], 'When `dependencyWaitTimeout` begins to count.'),
    completed: Choice(
      ['at_once', 'at_check'],
      'When the last parent has arrived, its children are stored with it, or at the next `expiryCheckInterval`.',
    ),
    expired: Choice(['fail', 'store'], 'When the wait elapses, the resource fails, or is stored without its parent.'),
    newer: Choice(['wait_too', 'replaces'], 'A newer upload of a pending resource waits beside it, or replaces it.'),
  }),
};
