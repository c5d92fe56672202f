/** What may not leak, in forms that nothing else has: each is planted where real secrets and real data are. */

/** Known to the machine that runs partner-sync, and to the server that each is for. */
export const SECRETS = {
  'password of the source': 'Kestrel-Source-5521',
  'wrong password of the source': 'Kestrel-Wrong-7719',
  'password of the ledger': 'Kestrel-Ledger-8832',
  'wrong password of the ledger': 'Kestrel-Mistyped-4408',
  'signing key of the sandbox': 'Kestrel-Jwt-Secret-long-enough-for-HS256-1190',
  'API key of Temporal': 'Kestrel-Temporal-Key-6624',
  'address of the webhook': 'KestrelWebhookPath3377',
  'password of the webhook': 'Kestrel-Webhook-2046',
  'password of the mail server': 'Kestrel-Smtp-9915',
  'token of the console': 'Kestrel-Console-Token-5150',
  'key of the trace collector': 'Kestrel-Collector-7402',
} as const;

/** What the rows of the source hold about people. No output has these values: a shape at most. */
export const PERSONAL = {
  name: 'Xanthippe Quillfeather',
  'family name': 'Quillfeather',
  'name that is not ASCII': 'Zo\u00eb \u0141uczy\u0144ska',
  'e-mail address': 'kittiwake.person@puffin.example',
  'invalid e-mail address': 'kittiwake-at-puffin',
  telephone: '4915799112233',
  note: 'guillemot diagnosis',
  'word of a list': 'razorbill-status',
  'value of the tenant column': 'fulmar-tenant',
} as const;

/** Ids of rows and records. The ledger knows them, and what a command is asked to list shows them. */
export const IDS = {
  'external id': 'CORMORANT0471',
  'id of a missing parent': 'GANNET0815',
} as const;

/** What somebody types is in the input of a run, and so in Temporal. */
export const TYPED_ID = { 'typed external id': 'CORMORANT-TYPED-99' } as const;
/** A message quotes what is wrong with an input. */
export const TYPED_MISTAKE = { 'typed mistake': 'turnstone-sideways' } as const;

/**
 * The name of the sync. It is no secret, and almost every output has it: a search that does not find it there has looked at
 * nothing.
 */
export const WITNESS = 'dovekie-shop';
