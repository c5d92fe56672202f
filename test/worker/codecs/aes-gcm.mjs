/** A payload codec as an operator may write it: AES-256-GCM, with the key in CODEC_KEY (64 hex digits). */
import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { env } from 'node:process';

const key = Buffer.from(env.CODEC_KEY, 'hex');
const text = (bytes) => Buffer.from(bytes ?? []).toString('utf8');
const bytes = (value) => Buffer.from(value ?? []).toString('base64');
const ENCODING = 'binary/encrypted';

function encrypt({ metadata, data }) {
  const plain = { metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([k, v]) => [k, bytes(v)])) };
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = [cipher.update(JSON.stringify({ ...plain, data: bytes(data) }), 'utf8'), cipher.final()];
  return {
    metadata: { encoding: Buffer.from(ENCODING) },
    data: Buffer.concat([iv, ...sealed, cipher.getAuthTag()]),
  };
}

function decrypt({ data }) {
  const sealed = Buffer.from(data);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const opened = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  const { metadata, data: plain } = JSON.parse(opened.toString('utf8'));
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(plain, 'base64') };
}

export const dataConverter = {
  payloadCodecs: [
    {
      encode: async (payloads) => payloads.map(encrypt),
      // What was written before the codec was turned on stays readable.
      decode: async (payloads) =>
        payloads.map((payload) => (text(payload.metadata?.encoding) === ENCODING ? decrypt(payload) : payload)),
    },
  ],
};
