/** Guesses from which country the telephone numbers of a table are, by its other columns and by the numbers themselves. */
import type { SourceTable } from '../domain/source/source-catalog.js';
import { phoneLibrary } from '../mapping/transforms/phone.js';
import { DECIDE } from './draft.js';
import { isCountry } from './guesses.js';
import type { Sample } from './sample.js';

/** From this share of the numbers on, a country is that of the others too. */
const MOST = 0.9;

/**
 * The comment that suggests the transform `phone`. It names a country only if the sample shows one: that of (nearly) all
 * numbers with an international prefix, or the only one in a column of countries.
 */
export function phoneComment(table: SourceTable, column: string, sample: Sample): string {
  const countries = table.columns.filter(isCountry).map(({ name }) => name);
  const inColumn = countries.flatMap((name) => codesOf(sample(name)));
  const inNumbers = sample(column).flatMap(countryOf);
  const guess = majority(inColumn) ?? majority(inNumbers);
  const form = (country: string): string =>
    `${DECIDE} the transform phone: { country: ${country} } would write every number in one form, E.164`;
  if (guess !== undefined && inColumn.length > 0)
    return `${form(guess)}; ${guess} is what ${countries.join(', ')} says.`;
  if (guess !== undefined)
    return `${form(guess)}; ${guess} is where the numbers with an international prefix are from.`;
  const where =
    countries.length === 0
      ? 'nothing in the table says which'
      : `${countries.join(', ')} may say which, and several cannot be told apart here: write such numbers with their prefix in a query`;
  return `${form('<two letters>')}; it is the country of numbers without an international prefix, and ${where}.`;
}

/** The ISO codes of what a column of countries says: codes themselves, or English names. */
function codesOf(values: readonly string[]): string[] {
  const names = new Intl.DisplayNames(['en'], { type: 'region' });
  const codes = new Map<string, string>();
  for (const code of phoneLibrary().getCountries()) {
    codes.set(code, code);
    codes.set(names.of(code)!.toUpperCase(), code);
  }
  return values.flatMap((value) => codes.get(value.trim().toUpperCase()) ?? []);
}

function countryOf(number: string): string[] {
  if (!/^\s*(\+|00)/.test(number)) return [];
  const country = phoneLibrary().parsePhoneNumberFromString(number.replace(/^\s*00/, '+'))?.country;
  return country === undefined ? [] : [country];
}

function majority(countries: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const country of countries) counts.set(country, (counts.get(country) ?? 0) + 1);
  return [...counts].find(([, count]) => count >= MOST * countries.length)?.[0];
}
