/** The language of segments (4.2), on definitions that no shop has, and on texts that nobody would write. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft, RecordTest } from '../../src/sandbox/segments/condition.js';
import { describeCondition } from '../../src/sandbox/segments/describe.js';
import { FORMS } from '../../src/sandbox/segments/grammar.js';
import { OPERATORS, type Tested } from '../../src/sandbox/segments/operators.js';
import { interpretText } from '../../src/sandbox/segments/interpret-text.js';
import { vocabularyOf, type Definition, type Field } from '../../src/sandbox/segments/vocabulary.js';
import { NOT_UNDERSTOOD, UNDERSTOOD } from './segment-phrases.js';
import { RETAIL } from './retail-definitions.js';

const exposed = (names: object) =>
  Object.entries(names).map(([name, jsonPath]) => ({
    name,
    jsonPath: String(jsonPath),
    exposure: ['segments'],
    description: name,
  }));

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
  interpretText({ text, userCustomVerb }, definitions);
const ofShop = (text: string) => interpret(text, RETAIL, 'customer');
const reasonFor = (text: string, definitions = HOTEL): string => {
  const segment = interpret(text, definitions);
  return segment.success ? `understood: ${segment.description}` : segment.failureReason;
};

describe('descriptions of people in English', () => {
  it.each(UNDERSTOOD.hotel)('are understood by a hotel: %s', (text, description) => {
    expect(interpret(text)).toMatchObject({ success: true, description });
  });

  it.each(UNDERSTOOD.shop)('are understood by a shop: %s', (text, description) => {
    expect(ofShop(text)).toMatchObject({ success: true, description });
  });

  it.each(NOT_UNDERSTOOD)('are not understood, and answered with the reason and all forms: %s', (text, reason) => {
    const segment = ofShop(text);
    if (segment.success) throw new Error(`understood: ${segment.description}`);
    expect(segment.failureReason).toContain(`${reason}; conditions are: `);
    for (const form of Object.values(FORMS)) expect(segment.failureReason).toContain(form);
    for (const { phrase } of Object.values(OPERATORS)) expect(segment.failureReason).toContain(phrase);
    expect(segment.failureReason).toContain('order lines have "article", "quantity"');
  });

  it('follows a reference to the record that a person names', () => {
    const segment = interpret('guests with at least 1 company where industry is Retail');
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
      failureReason: expect.stringContaining('"patrons" is no word for users') as string,
    });
  });

  it('knows people whose schema has a number in its name', () => {
    const guests = HOTEL.map((definition) => ({ ...definition, name: definition.name.replace('guest', 'guest_2026') }));
    expect(interpret('guest 2026 with a home city', guests)).toMatchObject({ success: true });
    expect(interpret('guest 2025 with a home city', guests)).toMatchObject({ success: false });
  });

  it('knows the people of the schema definition that the text names', () => {
    const members: Definition = { name: 'member', category: 'contacts_schema', schema: { properties: { age: {} } } };
    const schemaOf = (text: string) => {
      const segment = interpret(text, [...HOTEL, members]);
      return segment.success ? segment.conditionGroups[0]!.conditions[0]!.schema : segment.failureReason;
    };
    expect([schemaOf('members with an age'), schemaOf('people with an age')]).toEqual(['member', 'guest']);
  });

  it('quotes names that are not made of plain words', () => {
    const named = HOTEL.map((definition) =>
      definition.name === 'guest'
        ? { ...definition, fieldsToExpose: exposed({ 'Size (in cm)': '$.age' }) }
        : definition,
    );
    expect(interpret('guests whose "size (in cm)" is over 180', named)).toMatchObject({
      success: true,
      description: 'Guests whose "size (in cm)" is over 180.',
    });
  });

  it('gives the description as title, without quotes', () => {
    expect(interpret('in Oslo with at least 3 bookings in the last 7 days')).toMatchObject({
      title:
        'Guests (whose home city is Oslo or whose country is Oslo) and with at least 3 bookings in the last 7 days',
    });
  });

  it('says what is missing where no schema definition holds people', () => {
    expect(reasonFor('everybody', HOTEL.slice(1))).toContain('contacts_schema');
  });

  it('refuses texts that are too long or empty', () => {
    expect(reasonFor('a'.repeat(1_001))).toContain('1001 characters');
    expect(reasonFor(' . ')).toBe('the text has no words');
  });

  it('answers any text, with groups or with a reason', () => {
    const phrases = [...Object.values(FORMS), ...Object.values(OPERATORS).flatMap((one) => [one.phrase, one.negated])];
    const words = phrases.flatMap((phrase) => phrase.replaceAll(/[{}]/g, '').split(' '));
    const names = ['country', 'total', 'transactions', 'order lines', 'kind', '"x"', '5', '30 days', 'month', 'France'];
    const signs = ['2010-12-01', '2010-02-31', '(', ')', ',', '.', 'and', 'or', 'where', 'customers', 'all'];
    const whole = ['in France', 'with an email', 'who spent over 5', 'with no transactions', 'whose country is "x"'];
    const text = fc.oneof(
      {
        weight: 5,
        arbitrary: fc
          .array(fc.constantFrom(...words, ...names, ...signs, ...whole, ...whole), { maxLength: 25 })
          .map((parts) => parts.join(' ')),
      },
      fc.string({ unit: 'binary', maxLength: 80 }),
    );
    fc.assert(
      fc.property(text, (asked) => {
        const segment = ofShop(asked);
        if (!segment.success) expect(segment.failureReason).not.toBe('');
        else expect(ofShop(segment.description), segment.description).toEqual(segment);
      }),
      { numRuns: 1_500 },
    );
  });
});

const vocabulary = vocabularyOf(HOTEL[0]!, HOTEL, 'guest');
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
    tested(fc.constantFrom('in_this', 'in_last', 'in_next'), fc.tuple(unit)),
  ),
};
const isSet = tested(fc.constant('is_set'), fc.constant([]));
const testOf = ({ kind }: Field) => fc.oneof(TESTS[kind], isSet);
const recordTest = (fields: readonly Field[]) =>
  fc
    .constantFrom(...fields)
    .chain((field) =>
      testOf(field).map((test): RecordTest => ({ schema: field.schema, jsonPath: field.jsonPath, ...test })),
    );

const condition: fc.Arbitrary<Draft> = fc.oneof(
  recordTest(vocabulary.people.fields).map((test) => ({ type: 'property' as const, ...test })),
  fc.constantFrom(...vocabulary.records).chain((kind) => {
    const where = fc.array(recordTest(kind.fields), { maxLength: 3 });
    const base = { type: 'records' as const, schema: 'guest', path: [...kind.path] };
    const none: Tested = { operator: 'at_least', value: ['1'], not: true };
    const count = fc.oneof(
      TESTS.number.map(({ operator, value }): Tested => ({ operator, value })),
      fc.constant(none),
    );
    const counted = count.map((test) => ({ measure: 'count' as const, ...test }));
    const measured = kind.fields
      .filter((field) => field.kind === 'number' || field.kind === 'date')
      .map((field) =>
        fc
          .tuple(
            field.kind === 'date'
              ? fc.constantFrom('minimum' as const, 'maximum' as const)
              : fc.constantFrom('sum' as const, 'average' as const, 'minimum' as const, 'maximum' as const),
            TESTS[field.kind],
          )
          .map(([measure, test]) => ({ measure, jsonPath: field.jsonPath, ...test })),
      );
    return fc.tuple(where, fc.oneof(counted, ...measured)).map(([w, test]) => ({ ...base, where: w, ...test }));
  }),
);

describe('the description of a condition', () => {
  it('gives the same condition when it is read as a text', () => {
    fc.assert(
      fc.property(condition, (draft) => {
        const description = describeCondition(draft, vocabulary);
        const segment = interpret(`guests ${description}`);
        if (!segment.success) throw new Error(`${description}: ${segment.failureReason}`);
        expect(segment.conditionGroups.map(({ conditions }) => conditions)).toEqual([[{ ...draft, description }]]);
      }),
      { numRuns: 1_000 },
    );
  });
});
