/**
 * Guesses from the names and types of tables and columns. Each guess is written to the files for a person to confirm.
 */
import type { CatalogColumn, SourceTable } from '../domain/source/source-catalog.js';
import type { SchemaDefinitionFile } from '../domain/sync/sync.js';

/** Tests a name as snake_case, so that the patterns need not cover camelCase. */
const matches = (pattern: RegExp, name: string): boolean => pattern.test(name.replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2'));

const EMAIL = /^(.*_)?e_?mail(_?(address|addr|adr))?$/i;
const PERSONAL = [
  EMAIL,
  /(^|_)(phone|mobile|telephone|tel|cell|fax|whatsapp|msisdn)(_|$|no$|number$)/i,
  /(^|_)(first|last|full|given|family|sur|middle|maiden|birth|nick|user)_?name$/i,
  /(^|_)(address|street|house_?(no|number)|post_?code|postal_?code|zip|zip_?code|city|town)(_|$|\d)/i,
  /(^|_)(birth|born|dob|birthday|gender|sex|nationality)(_|$|date$)/i,
  /(^|_)(ssn|passport|national_?id|tax_?id|iban|bic|card_?(no|number)|ip|ip_?address|latitude|longitude)$/i,
];
const PEOPLE =
  /(^|_)(customers?|contacts?|clients?|persons?|people|users?|members?|subscribers?|guests?|patients?|students?|leads?)$/i;
const SALES = /(^|_)(orders?|invoices?|transactions?|sales?|purchases?|payments?|bookings?|reservations?)$/i;
const TENANT = /^(tenant|account|shop|store|brand|organi[sz]ation|org|merchant|workspace|site)(_?(id|code|key|no))?$/i;
const TIME =
  /(^|_)(at|on|ts|date|time|datetime|timestamp|day|born|birthday|dob|joined|since|until|created|updated|modified|changed|expires|expiry|start|end|started|ended)(_|$)/i;
/** Enough for a date and a time with its zone, and little to read. */
const FEW_CHARACTERS = 64;
/** Names of columns that change with their row, the most reliable pattern first. */
const CHANGED = [
  /^(updated|modified|changed|last_?(updated?|modified|changed?))_?(at|on|ts|time|date|timestamp)?$/i,
  /(updat|modif|chang)/i,
  /^(sys_?|row_?)(time|timestamp|start)|_?(sync|touch)ed_?at$/i,
];
const MADE = /^(created|inserted|added|made|registered)_?(at|on|ts|time|date|timestamp)?$/i;

/** Whether a text column seems to hold email addresses. */
export const isEmail = ({ name, type }: CatalogColumn): boolean => type === 'text' && matches(EMAIL, name);

/** Whether the column seems to hold personal data. A plain `name` is personal only in a table of people. */
export const isPersonal = (table: SourceTable, { name }: CatalogColumn): boolean =>
  PERSONAL.some((pattern) => matches(pattern, name)) || (/^name$/i.test(name) && matches(PEOPLE, table.name));

/** Whether a text column seems to hold phone numbers. */
export const isPhone = ({ name, type }: CatalogColumn): boolean => type === 'text' && matches(PERSONAL[1]!, name);

/**
 * Whether it is worth a look if a text column holds dates or times. One that is neither short nor named like a time may hold
 * documents, which would be much to read.
 */
export const mayHoldTimes = ({ name, type, databaseType }: CatalogColumn): boolean =>
  type === 'text' && (matches(TIME, name) || declaredCharacters(databaseType) <= FEW_CHARACTERS);

/** The declared length of a type such as `character varying(30)`. */
const declaredCharacters = (databaseType: string): number =>
  Number(/char\w*(?: varying)?\((\d+)\)/i.exec(databaseType)?.[1] ?? NaN);

/** Whether a text column seems to name countries. */
export const isCountry = ({ name, type }: CatalogColumn): boolean =>
  type === 'text' && /^(.*_)?country(_?(code|iso|iso2))?$/i.test(name.replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2'));

/** The category of the schema definition (section 2), from the table's name. */
export function categoryOf(table: SourceTable): SchemaDefinitionFile['category'] {
  if (matches(PEOPLE, table.name)) return 'contacts_schema';
  return matches(SALES, table.name) ? 'transactions_schema' : 'custom_schema';
}

/** Names of the columns that every table has and that seem to name a tenant. */
export const tenantColumns = (tables: readonly SourceTable[]): string[] =>
  (tables[0]?.columns ?? [])
    .map((column) => column.name)
    .filter((name) => matches(TENANT, name) && tables.every((table) => table.columns.some((c) => c.name === name)));

/** Columns of dates or times that seem to grow with every change of a row, the likeliest first. */
export const changeColumns = (table: SourceTable): CatalogColumn[] =>
  CHANGED.flatMap((pattern) =>
    table.columns.filter((c) => /^(timestamptz|timestamp|date)$/.test(c.type) && matches(pattern, c.name)),
  ).filter((column, index, all) => all.indexOf(column) === index);

/** How columns are named that say when a row was deleted, and that it is. */
const DELETED_AT =
  /^(soft_?)?(deleted|removed|erased|trashed)_?(at|on|ts|time|date|timestamp)$|^(deletion|removal|erasure)_?(at|on|ts|time|date|timestamp)$|^date_?(deleted|removed)$/i;
const DELETED = /^(is_?|was_?|soft_?)?(deleted|removed|erased|trashed)(_?flag)?$|^(delete|deletion)_?flag$/i;

/**
 * Columns that seem to mark rows as deleted: dates and times that may be NULL, and flags. `valuesOf` gives some values of an integer
 * column, of which a flag has only two.
 */
export const deletionColumns = (
  table: SourceTable,
  valuesOf: (column: string) => readonly string[],
): readonly CatalogColumn[] =>
  table.columns.filter(({ name, type, nullable }) => {
    if (/^(timestamptz|timestamp|date)$/.test(type))
      return nullable && (matches(DELETED_AT, name) || matches(DELETED, name));
    if (!matches(DELETED, name)) return false;
    return (
      type === 'boolean' || (type === 'integer' && valuesOf(name).every((value) => value === '0' || value === '1'))
    );
  });

/** A column with the time when a row was created. It cannot be a cursor, since it does not reflect changes. */
export const creationColumn = (table: SourceTable): CatalogColumn | undefined =>
  table.columns.find((c) => /^(timestamptz|timestamp|date)$/.test(c.type) && matches(MADE, c.name));
