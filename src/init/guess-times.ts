/** Asks how the texts of a column are to be read, if they look like dates and times. */
import { DECIDE, type ZoneGuess } from './draft.js';
import { scalar } from './yaml-text.js';

/** A text that names its zone, as the transform `instant` reads it. */
export const WITH_ZONE = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** As the transform `dateTime` reads it. */
const LOCAL = /^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?$/;
/** Any order of day, month and a year of these centuries, perhaps with a time of day and a zone. */
const IN_SOME_FORM =
  /^((19|20)\d\d([-./])\d{1,2}\3\d{1,2}|\d{1,2}([-./])\d{1,2}\4(19|20)\d\d)(,?[ T]\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?([AP]M|Z|[+-]\d\d(:?\d\d)?))?)?$/i;

/** The comment on a text column with such values, which is drafted as plain text; null for other values. */
export function timesComment(values: readonly string[], zone: ZoneGuess): string | null {
  const written = values.filter((value) => value.trim() !== '');
  const are = (form: RegExp): boolean => written.length > 0 && written.every((value) => form.test(value));
  const first = written.length < values.length ? 'trim, emptyToNull, ' : '';
  const couldBe = (transform: string): string =>
    `with transforms: [${first}${transform}] here, and the format date-time in the schema definition, they would be sent as points in time`;
  if (are(WITH_ZONE)) return `${looksLike('points in time')} ${couldBe('instant')}.`;
  if (are(DATE))
    return `${looksLike('dates')} with the format date in the schema definition, a row with anything else would be a dead letter.`;
  if (are(LOCAL))
    return `${looksLike('times without a zone')} ${couldBe(`{ dateTime: { zone: ${scalar(zone.name)} } }`)}; ${zone.name} ${zone.why}.`;
  return are(IN_SOME_FORM)
    ? `${looksLike('dates or times, in forms that no transform reads')} convert them in a query if the platform needs dates.`
    : null;
}

const looksLike = (what: string): string =>
  `${DECIDE} the values look like ${what}. They are sent as the text that they are;`;
