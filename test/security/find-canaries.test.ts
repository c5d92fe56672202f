/** The search for canaries finds them wherever and however they are written, and nothing where there are none. */
import { gzipSync, deflateSync } from 'node:zlib';
import * as zlib from 'node:zlib';
import { expect, it } from 'vitest';
import { findCanaries } from './find-canaries.js';

const NAME = 'Zo\u00eb Quillfeather';
const CANARIES = { name: NAME, key: 'kestrel-key/5521?' };
const around = (text: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from('before \u0000\u00ff '), Buffer.from(text as string), Buffer.from(' after')]);

it.each<[string, string | Buffer, string]>([
  ['as it is', NAME, 'name'],
  ['in other letters', NAME.toUpperCase(), 'name'],
  ['in UTF-16', Buffer.from(NAME, 'utf16le'), 'name (UTF-16)'],
  ['escaped in JSON', 'Zo\\u00EB Quillfeather', 'name (escaped)'],
  ['in HTML', 'Zo&#235; Quillfeather', 'name (entities)'],
  ['in an address', encodeURIComponent(NAME), 'name (percent)'],
  ['in a form', new URLSearchParams({ a: NAME }).toString(), 'name (form)'],
  ['in hexadecimal', Buffer.from(NAME).toString('hex').toUpperCase(), 'name (hex)'],
  ['compressed', gzipSync(`{"name":"${NAME}"}`), 'name'],
  ['compressed by zlib', deflateSync(`{"name":"${NAME}"}`), 'name'],
  ['compressed and cut off', gzipSync(`${NAME}${'x'.repeat(2000)}`, { level: 0 }).subarray(0, 200), 'name'],
  ['compressed in base64', gzipSync(NAME).toString('base64'), 'name'],
  ['compressed twice', gzipSync(gzipSync(NAME)), 'name'],
])('finds a canary %s', (_, text, as) => {
  expect(findCanaries(around(text), CANARIES)).toEqual([as]);
});

it.each(['base64', 'base64url'] as const)('finds a canary in %s at whatever place it begins and ends', (encoding) => {
  for (const before of ['', 'a', 'ab', 'abc', 'abcd'])
    for (const after of ['', 'x', 'xy', 'xyz'])
      for (const [name, value] of Object.entries(CANARIES)) {
        const text = Buffer.from(`${before}${value}${after}`).toString(encoding);
        expect(findCanaries(around(text), CANARIES), `${before}|${after}`).toEqual([`${name} (base64)`]);
      }
});

it('finds all canaries, in what is nearly nothing and in much', () => {
  expect(findCanaries(NAME, CANARIES)).toEqual(['name']);
  const much = Buffer.concat([
    Buffer.alloc(3_000_000, 'x\u009c'),
    around(`${CANARIES.key}${NAME}`),
    Buffer.alloc(3_000_000, 1),
  ]);
  expect(findCanaries(much, CANARIES)).toEqual(['key', 'name']);
});

it('finds nothing in other texts, and in parts of a canary', () => {
  for (const text of [
    '',
    'Zo\u00eb',
    'Quillfeather',
    '<text(16) aaa aaaaaaaaaaaa>',
    gzipSync('Zo\u00eb').toString('base64'),
  ])
    expect(findCanaries(around(text), CANARIES), String(text)).toEqual([]);
});

it('reads what zstd has compressed, or fails where it cannot', () => {
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer };
  const frame = zstdCompressSync?.(NAME) ?? Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]);
  if (zstdCompressSync === undefined) expect(() => findCanaries(around(frame), CANARIES)).toThrow('cannot read');
  else expect(findCanaries(around(frame), CANARIES)).toEqual(['name']);
});
