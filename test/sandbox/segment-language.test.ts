/** The language of segments (4.2), on definitions that no shop has, and on texts that nobody would write. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition, RecordTest } from '../../src/sandbox/segments/condition.js';
import { describeCondition, inOrder } from '../../src/sandbox/segments/describe.js';
import * as lexicon from '../../src/sandbox/segments/lexicon.js';
import type { Tested } from '../../src/sandbox/segments/numbers.js';
import type { Definition } from '../../src/sandbox/segments/record-paths.js';
import { textToSegment } from '../../src/sandbox/segments/text-to-segment.js';
import { DEFAULT_SETTINGS } from '../../src/sandbox/settings.js';
import { vocabularyOf, type Field } from '../../src/sandbox/segments/vocabulary.js';
import { RETAIL, RETAIL_NOW } from './retail-definitions.js';

const exposed = (names: object) =>
  Object.entries(names).map(([name, jsonPath]) => ({ name, jsonPath: String(jsonPath), exposure: ['segments'] }));

/** A hotel: guests belong to a company, and make bookings of rooms. */
const HOTEL: readonly Definition[] = [
  {
    name: 'guest',
    pluralName: 'guests',
    category: 'contacts_schema',
    schema: {
      properties: {
        number: { type: 'string' },
        age: { type: ['integer', 'null'] },
        isVip: { type: 'boolean' },
        tier: { type: 'string', enum: ['gold', 'silver plus'] },
        birthday: { type: 'string', format: 'date' },
        address: { type: 'object', properties: { city: { type: 'string' }, country: { type: 'string' } } },
        tags: { type: 'array', items: { type: 'string' } },
        companyId: { $ref: 'company' },
      },
    },
    fieldsToExpose: exposed({
      Age: '$.age',
      VIP: '$.isVip',
      Tier: '$.tier',
      Birthday: '$.birthday',
      'Home city': '$.address.city',
      Country: "$['address']['country']",
      Tag: '$.tags[*]',
    }),
  },
  {
    name: 'company',
    pluralName: 'companies',
    category: 'custom_schema',
    schema: { properties: { companyId: { type: 'string' }, industry: { type: 'string' } } },
    fieldsToExpose: exposed({ Industry: '$.industry' }),
  },
  {
    name: 'booking',
    pluralName: 'bookings',
    category: 'transactions_schema',
    schema: {
      properties: {
        guestId: { $ref: 'guest' },
        arrival: { type: 'string', format: 'date' },
        price: { type: 'number' },
        nights: { type: 'integer' },
        channel: { type: 'string' },
      },
    },
    fieldsToExpose: exposed({ Arrival: '$.arrival', Price: '$.price', Nights: '$.nights', Channel: '$.channel' }),
  },
];
const interpret = (text: string, definitions = HOTEL, userCustomVerb = 'guest') =>
  textToSegment({ text, userCustomVerb }, definitions, RETAIL_NOW);
const meaning = (text: string, definitions = HOTEL): string => {
  const segment = interpret(text, definitions);
  return segment.success ? segment.description : segment.failureReason;
};

describe('descriptions of people in English', () => {
  it.each([
    ['vip guests', 'Guests whose VIP is true.'],
    ['gold guests over 30', 'not understood: "over 30"'],
    ['guests who are over 30', 'Guests whose age is over 30.'],
    ['guests whose age is over 30 and under 50', 'Guests whose age is over 30 and whose age is under 50.'],
    ['guests who are not silver plus', 'Guests whose tier is not "silver plus".'],
    ['in Oslo', 'Guests (whose home city is "Oslo" or whose country is "Oslo").'],
    ['guests tagged', 'not understood: "tagged"'],
    ['guests whose tag is "wine" or "spa"', 'Guests whose tag is "wine" or "spa".'],
    ['guests whose birthday is in the next 7 days', 'Guests whose birthday is in the next 7 days.'],
    ['guests who booked at least three times', 'Guests with at least 3 bookings.'],
    ['guests whose industry is Retail', 'Guests with at least 1 company where industry is "Retail".'],
    ['guests with bookings with nights over 5', 'Guests with at least 1 booking where nights is over 5.'],
    ['guests whose first booking was before 2009', 'Guests whose earliest arrival of bookings is before 2009-01-01.'],
    ['who have spent over 100 on nothing', 'not understood: "on nothing"'],
  ])('understands by a hotel: %s', (text, expected) => {
    expect(meaning(text).replace(/^Guests \((.*)\)\.$/, 'Guests ($1).')).toContain(
      expected.replace(/^Guests \((.*)\)\.$/, '$1'),
    );
  });

  it('follows a reference to the record that a person names', () => {
    const segment = interpret('guests whose industry is Retail');
    expect(segment).toMatchObject({
      conditionGroups: [{ conditions: [{ path: [{ schema: 'company', field: 'companyId', to: 'parent' }] }] }],
    });
  });

  it('knows people by the word of the tenant, in titles too', () => {
    expect(interpret('patrons in Oslo', HOTEL, 'patron')).toMatchObject({
      success: true,
      title: 'Patrons whose home city is Oslo or whose country is Oslo',
    });
    expect(interpret('patrons in Oslo', HOTEL, 'user')).toMatchObject({
      success: false,
      failureReason: expect.stringContaining('"patrons"') as string,
    });
  });

  it('knows people whose schema has a number in its name', () => {
    const guests = HOTEL.map((definition) => ({ ...definition, name: definition.name.replace('guest', 'guest_2026') }));
    expect(interpret('guest 2026 with a home city', guests)).toMatchObject({ success: true });
    expect(interpret('guest 2025 with a home city', guests)).toMatchObject({ success: false });
  });

  it('tells as many conditions in a title as fit, and all in the description', () => {
    const text = 'vip guests in Oslo with an age, a tier, a birthday, a tag and at least 3 bookings before 2009';
    const segment = interpret(text);
    if (!segment.success) throw new Error(segment.failureReason);
    expect(segment.title).toMatch(/^Guests whose VIP is true .* and \d more$/);
    expect(segment.title.length).toBeLessThanOrEqual(100);
    expect(segment.description).toContain('with at least 3 bookings before 2009-01-01');
  });

  it('names every word that it does not understand, not only the first', () => {
    expect(meaning('guests who blorp in Oslo and fnord twice')).toMatch(/"blorp".*"fnord twice"/);
  });

  it('says what is missing where no schema definition holds people', () => {
    expect(meaning('everybody', HOTEL.slice(1))).toContain('contacts_schema');
  });

  it('refuses texts that are too long, or nest alternatives beyond what anybody means', () => {
    expect(meaning('a'.repeat(1_001))).toContain('1001 characters');
    const pairs = Array.from({ length: 7 }, (_, i) => `(age over ${i} and age under ${i + 50})`);
    expect(meaning(pairs.join(' or '))).toContain('too many alternatives');
  });

  it('answers any text, with groups or with a reason', () => {
    const tables = Object.values(lexicon).filter((table) => Array.isArray(table[0])) as lexicon.Phrases<unknown>[];
    const phrases = tables.flatMap((table) => table.map(([phrase]) => phrase));
    const names = [
      'country',
      'total',
      'orders',
      'order lines',
      'kind',
      '"x"',
      '5',
      'France',
      '2010-12-01',
      '(',
      ')',
      ',',
    ];
    const text = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.array(fc.constantFrom(...phrases, ...names, ...names), { maxLength: 25 }).map((w) => w.join(' ')),
      },
      fc.string({ unit: 'binary', maxLength: 80 }),
    );
    fc.assert(
      fc.property(text, (words) => {
        const segment = interpret(words, RETAIL, 'customer');
        if (!segment.success) expect(segment.failureReason).not.toBe('');
        else expect(interpret(segment.description, RETAIL, 'customer'), segment.description).toEqual(segment);
      }),
      { numRuns: 1_500 },
    );
  });
});

const vocabulary = vocabularyOf(HOTEL[0]!, HOTEL, 'guest', DEFAULT_SETTINGS.contactFields);
const day = fc.integer({ min: 0, max: 20_000 }).map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
const number = fc.oneof(fc.nat(1_000).map(String), fc.constant('12.50'));
const unit = fc.constantFrom('hour', 'day', 'week', 'month', 'quarter', 'year');
const words = fc.array(fc.constantFrom('Oslo', 'New York', "d'Or", 'x y', 'and', '12', 'email'), {
  minLength: 1,
  maxLength: 3,
});
const tested = (operator: fc.Arbitrary<Tested['operator']>, value: fc.Arbitrary<string[]>) =>
  fc.record({ operator, value }).chain((test) => fc.constantFrom<Tested>(test, { ...test, not: true }));

const TESTS: Record<Field['kind'], fc.Arbitrary<Tested>> = {
  text: tested(fc.constantFrom('is', 'contains', 'starts_with', 'ends_with'), words),
  boolean: tested(fc.constant('is'), fc.constantFrom(['true'], ['false'])),
  number: fc.oneof(
    tested(fc.constantFrom('equals', 'greater_than', 'at_least', 'less_than', 'at_most'), fc.tuple(number)),
    tested(fc.constant('between'), fc.tuple(number, number)),
  ),
  date: fc.oneof(
    tested(fc.constantFrom('before', 'since'), fc.tuple(day)),
    tested(fc.constant('between_days'), fc.tuple(day, day)),
    tested(
      fc.constantFrom('within_last', 'longer_ago_than', 'within_next'),
      fc.tuple(fc.integer({ min: 1, max: 99 }).map(String), unit),
    ),
    tested(fc.constantFrom('in_this', 'in_last', 'in_next'), fc.tuple(unit.filter((u) => u !== 'hour'))),
  ),
};
const isSet = tested(fc.constant('is_set'), fc.constant([]));
const testOf = (field: Field, test: Tested): RecordTest => {
  const { schema, jsonPath } = field;
  return { schema, jsonPath, ...test, value: [...test.value] };
};
const fieldTest = (fields: readonly Field[]) =>
  fc.constantFrom(...fields).chain((field) => TESTS[field.kind].map((test) => testOf(field, test)));

const condition: fc.Arbitrary<Omit<Condition, 'description'>> = fc.oneof(
  fieldTest(vocabulary.fields).map((test) => ({ type: 'property' as const, ...test })),
  fc
    .constantFrom(...vocabulary.fields.filter(({ kind }) => kind !== 'boolean'))
    .chain((field) => isSet.map((test) => ({ type: 'property' as const, ...testOf(field, test) }))),
  fc.constantFrom(...vocabulary.records).chain((kind) => {
    const base = { type: 'records' as const, schema: 'guest', path: [...kind.path] };
    const where = fc.uniqueArray(fieldTest(kind.fields), { maxLength: 2, selector: ({ jsonPath }) => jsonPath });
    const count = tested(
      fc.constantFrom('equals', 'greater_than', 'at_least', 'less_than', 'at_most'),
      fc.tuple(number),
    );
    const counted = fc
      .tuple(where, count)
      .map(([w, test]) => ({ ...base, where: w, measure: 'count' as const, ...test }));
    const numbers = kind.fields.filter((field) => field.kind === 'number');
    if (numbers.length === 0) return counted;
    const measured = fc
      .tuple(where, fc.constantFrom('sum', 'average', 'minimum', 'maximum'), fc.constantFrom(...numbers), TESTS.number)
      .map(([w, measure, { jsonPath }, test]) => ({ ...base, where: w, measure, jsonPath, ...test }));
    const dated = fc
      .tuple(where, fc.constantFrom('minimum', 'maximum'), TESTS.date)
      .map(([w, measure, test]) => ({ ...base, where: w, measure, jsonPath: kind.date!.jsonPath, ...test }));
    return fc.oneof(counted, measured, dated);
  }),
) as fc.Arbitrary<Omit<Condition, 'description'>>;

describe('the description of a condition', () => {
  it('gives the same condition when it is read as a text', () => {
    fc.assert(
      fc.property(condition, (draft) => {
        const ordered = inOrder(draft as Condition, vocabulary);
        const description = describeCondition(ordered, vocabulary);
        expect(interpret(`guests ${description}`), description).toMatchObject({
          success: true,
          conditionGroups: [{ conditions: [{ ...ordered, description }] }],
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
