/** Random values of the contract's JSON Schemas, and ways to break them, so that tests need not know each operation. */
import fc from 'fast-check';

/** The part of JSON Schema that the contract uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Place = readonly (string | number)[];

/** Values that mean something, by place (`body/schema`), instead of random ones: a JSON Schema cannot tell which ids exist. */
export type Meaning = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** In place of a value: the property is left out. */
export const LEFT_OUT = undefined;

/** Text that can be stored: neither U+0000 nor half of a surrogate pair. */
const text = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: 'grapheme', minLength: min, maxLength: Math.min(max, min + 20) })
    .filter((s) => s.length <= max && !s.includes('\u0000'));

const moment = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': moment,
  date: moment.map((instant) => instant.slice(0, 10)),
  uuid: fc.uuid(),
};

/** A value that the schema allows. */
export function validValue(schema: Schema, meaning: Meaning = {}, place: Place = []): fc.Arbitrary<unknown> {
  const meant = meaning[place.join('/')];
  if (meant !== undefined) return meant;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => validValue(one, meaning, place)));
  const types = [schema.type ?? 'null'].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, meaning, place)));
}

function ofType(type: string, schema: Schema, meaning: Meaning, place: Place): fc.Arbitrary<unknown> {
  const { minimum = -1_000_000, maximum = 1_000_000, minLength = 0, maxLength = 200 } = schema;
  switch (type) {
    case 'string':
      if (schema.format !== undefined) return FORMATS[schema.format]!;
      if (schema.pattern === undefined) return text(minLength, maxLength);
      return fc
        .stringMatching(new RegExp(schema.pattern), { size: 'small' })
        .filter((s) => s.length >= minLength && s.length <= maxLength);
    case 'integer':
      return fc.integer({ min: minimum, max: maximum });
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(validValue(schema.items ?? {}, meaning, [...place, '*']), { maxLength: 3 });
    case 'object':
      return objectOf(schema, meaning, place);
    default:
      return fc.constant(null);
  }
}

function objectOf(schema: Schema, meaning: Meaning, place: Place): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const members = Object.fromEntries(
    properties.map(([name, member]) => {
      const value = validValue(member, meaning, [...place, name]);
      const always = schema.required?.includes(name) === true || meaning[[...place, name].join('/')] !== undefined;
      return [name, always ? value : fc.option(value, { nil: LEFT_OUT })];
    }),
  );
  return fc
    .record(members)
    .map((value) => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== LEFT_OUT)));
}

/** A place that was broken, and the names of which one must be in an error about it. */
export interface Broken {
  readonly value: unknown;
  readonly place: Place;
}

/** Some of it is JSON that no database takes: U+0000, half of a surrogate pair, a number beyond all bounds. */
const KINDS = [null, true, 7.5, 'text', [], {}, 'a\u0000', '\ud800', -1e300] as const;

/** The value with one place changed to something else, or with a property too much or too few. */
export const brokenValue = (value: unknown, schema: Schema): fc.Arbitrary<Broken> =>
  fc.constantFrom(...breakages(value, schema));

/** All such changes; some leave a value that the schema still allows. */
export function breakages(value: unknown, schema: Schema, place: Place = []): Broken[] {
  const here = [...KINDS, ...beyond(schema)].map((other) => ({ value: other, place }));
  if (Array.isArray(value))
    return [
      ...here,
      ...value.flatMap((item, i) =>
        breakages(item, schema.items ?? {}, [...place, i]).map((broken) => ({
          ...broken,
          value: value.with(i, broken.value),
        })),
      ),
    ];
  if (typeof value !== 'object' || value === null) return here;
  const members = value as Record<string, unknown>;
  const missing = (schema.required ?? []).map((name) => {
    const { [name]: _, ...rest } = members;
    return { value: rest, place: [...place, name] };
  });
  const extra = { value: { ...members, notInTheContract: 1 }, place: [...place, 'notInTheContract'] };
  const deeper = Object.entries(members).flatMap(([name, member]) =>
    breakages(member, schema.properties?.[name] ?? {}, [...place, name]).map((broken) => ({
      ...broken,
      value: { ...members, [name]: broken.value },
    })),
  );
  return [...here, ...missing, extra, ...deeper];
}

/** Just outside the bounds. */
function beyond({ minimum, maximum, minLength, maxLength, pattern, format }: Schema): unknown[] {
  return [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(minLength === undefined ? [] : ['x'.repeat(minLength - 1)]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(pattern === undefined && format === undefined ? [] : ['no such thing!', '..', '\n']),
  ];
}
