/** Sending domains: section 2 and operation 4.3. */
import { Type, type Static } from 'typebox';
import { Maybe, Text } from './fields.js';
import { defineOperation } from './operation.js';

/** Dot-separated atoms: no leading, trailing or doubled dots. */
const USER_PART = "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$";
/** Text without whitespace or @, one @, then text containing a dot. */
const REPLY_TO = '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

export const DnsRecord = Type.Object({
  host: Type.String(),
  value: Type.String(),
  ttl: Maybe(Type.Number({ description: 'seconds' })),
  priority: Maybe(Type.Number()),
});
export type DnsRecord = Static<typeof DnsRecord>;

export const SendingDomain = Type.Object({
  id: Type.String(),
  dnsRecords: Type.Array(DnsRecord),
});
export type SendingDomain = Static<typeof SendingDomain>;

export const sendingDomainOperations = {
  createSendingDomain: defineOperation({
    section: '4.3',
    tag: 'Channels',
    command: 'sending-domains create',
    summary: "Registers a tenant's own sending domain and returns the DNS records that verify it.",
    method: 'POST',
    path: '/api/sending-domains',
    scope: 'tenant',
    idempotent: false,
    params: Type.Object({}),
    query: Type.Object({}),
    // Which fields are required is "not shown"; here, those that an address needs.
    body: Type.Object(
      {
        apexDomain: Type.String({
          maxLength: 253,
          pattern: `^(${LABEL}\\.)+${LABEL}$`,
          form: 'a domain name such as shop.example',
          description: 'the domain that the tenant owns, such as shop.example',
        }),
        subdomain: Type.String({
          maxLength: 63,
          pattern: `^${LABEL}$`,
          form: 'one label of a domain: letters, digits and inner hyphens',
          description: 'label that mail is sent from, such as mail',
        }),
        userPart: Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: USER_PART,
          form: "letters, digits and ! # $ % & ' * + / = ? ^ _ ` { | } ~ -, with single dots between them",
          description: 'the part before the @',
        }),
        emailFromName: Text('name that mail is sent under'),
        emailReplyTo: Type.Optional(
          Type.String({ pattern: REPLY_TO, form: 'an email address', description: 'address for replies' }),
        ),
        makeDefaultWhenVerified: Type.Optional(
          Type.Boolean({
            default: true,
            description: "once verified, makes this domain's sender the default and re-points live sends to it",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    status: 200,
    statusOpen: true,
    data: SendingDomain,
    refusals: { taken: 'The tenant has registered this domain.' },
  }),
};
