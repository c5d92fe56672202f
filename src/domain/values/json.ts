/** JSON values, and the one encoder through which every outgoing record passes. */
import { PartnerSyncError } from '../errors.js';

/** What `JSON.parse` can return. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Encodes a record as JSON text, or throws `value_not_encodable`.
 *
 * `JSON.stringify` turns NaN and Infinity into null, and null deletes a field on the platform; it also drops undefined
 * and passes lone surrogates. Here, only what JSON can represent exactly leaves the process.
 */
export function encodeJson(value: JsonValue): string {
  assertEncodable(value, '');
  return JSON.stringify(value);
}

function assertEncodable(value: unknown, pointer: string): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw notEncodable(pointer, 'text with a lone surrogate');
      return;
    case 'number':
      if (!Number.isFinite(value)) throw notEncodable(pointer, String(value));
      return;
    case 'boolean':
      return;
    case 'object':
      if (value === null) return;
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) assertEncodable(value[i], `${pointer}/${i}`);
        return;
      }
      if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
        throw notEncodable(pointer, value.constructor.name);
      for (const key of Object.keys(value)) {
        if (!key.isWellFormed()) throw notEncodable(pointer, 'a name with a lone surrogate');
        assertEncodable((value as Record<string, unknown>)[key], `${pointer}/${key}`);
      }
      return;
    default:
      throw notEncodable(pointer, typeof value);
  }
}

function notEncodable(pointer: string, what: string): PartnerSyncError {
  return new PartnerSyncError('value_not_encodable', `${pointer || '/'}: JSON cannot represent ${what}`, { pointer });
}
