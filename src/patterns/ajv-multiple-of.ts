/**
 * The keyword `multipleOf` by the decimals that people and JSON write. ajv divides doubles, for which neither 0.07 nor 19.99 is a
 * multiple of 0.01.
 */
import { _, str, type Ajv } from 'ajv';

/** Replaces ajv's own keyword; errors are the same. */
export function addExactMultipleOf(ajv: Ajv): void {
  ajv.removeKeyword('multipleOf').addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (divisor: number, value: number) => isMultiple(value, divisor),
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
  });
}

/** Whether the value is a whole multiple of the divisor; nothing is one of 0. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  if (b.digits === 0n) return false;
  const power = Math.min(a.power, b.power);
  return scaled(a, power) % scaled(b, power) === 0n;
}

/** `digits * 10 ** power`. */
interface Decimal {
  readonly digits: bigint;
  readonly power: number;
}

function decimalOf(number: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(number).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), power: Number(exponent) - fraction.length };
}

const scaled = ({ digits, power }: Decimal, to: number): bigint => digits * 10n ** BigInt(power - to);
