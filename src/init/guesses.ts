/** What names and types of a database suggest. Guesses only: each one is written down for a person to confirm. */
import type { CatalogColumn, SourceTable } from '../domain/source-catalog.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';

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
/** In this order: the first that a table has is the likeliest. */
const CHANGED = [
  /^(updated|modified|changed|last_?(updated?|modified|changed?))_?(at|on|ts|time|date|timestamp)?$/i,
  /(updat|modif|chang)/i,
  /^(sys_?|row_?)(time|timestamp|start)|_?(sync|touch)ed_?at$/i,
];
const MADE = /^(created|inserted|added|made|registered)_?(at|on|ts|time|date|timestamp)?$/i;

export const isEmail = ({ name, type }: CatalogColumn): boolean => type === 'text' && matches(EMAIL, name);

/** A person's name is personal, a product's is not. */
export const isPersonal = (table: SourceTable, { name }: CatalogColumn): boolean =>
  PERSONAL.some((pattern) => matches(pattern, name)) || (/^name$/i.test(name) && matches(PEOPLE, table.name));

export const isPhone = ({ name, type }: CatalogColumn): boolean => type === 'text' && matches(PERSONAL[1]!, name);

export function categoryOf(table: SourceTable): SchemaDefinitionFile['category'] {
  if (matches(PEOPLE, table.name)) return 'contacts_schema';
  return matches(SALES, table.name) ? 'transactions_schema' : 'custom_schema';
}

/** The columns that every table has and that are called like a tenant. */
export const tenantColumns = (tables: readonly SourceTable[]): string[] =>
  (tables[0]?.columns ?? [])
    .map((column) => column.name)
    .filter((name) => matches(TENANT, name) && tables.every((table) => table.columns.some((c) => c.name === name)));

/** Columns that seem to grow with every change, the likeliest first. */
export const changeColumns = (table: SourceTable): CatalogColumn[] =>
  CHANGED.flatMap((pattern) =>
    table.columns.filter((c) => /^(timestamptz|timestamp|date)$/.test(c.type) && matches(pattern, c.name)),
  ).filter((column, index, all) => all.indexOf(column) === index);

/** A column that says when a row was made: it does not see changes. */
export const creationColumn = (table: SourceTable): CatalogColumn | undefined =>
  table.columns.find((c) => /^(timestamptz|timestamp|date)$/.test(c.type) && matches(MADE, c.name));
