/** Searches any bytes for canaries, as they are and in every encoding in which programs write texts. */
import * as zlib from 'node:zlib';

/** What is searched for, by the name that a finding has. */
export type Canaries = Readonly<Record<string, string>>;

/** Archives in archives are not what leaks. */
const DEEPEST = 3;

/**
 * Names of the canaries in `bytes`, each with the encoding in which it is there: `telephone (base64)`. Also looks into whatever
 * is compressed, and into compressed bytes in base64.
 */
export function findCanaries(bytes: Uint8Array | string, canaries: Canaries): string[] {
  return [...new Set(search(Buffer.from(bytes as Uint8Array), canaries, 0))].sort();
}

function search(bytes: Buffer, canaries: Canaries, depth: number): string[] {
  // One character a byte, so that places in the text are places in the bytes.
  const exact = bytes.toString('latin1');
  const lowered = exact.toLowerCase();
  const found = Object.entries(canaries).flatMap(([name, value]) =>
    spellings(value)
      .filter(({ text, anyCase }) => (anyCase ? lowered.includes(text.toLowerCase()) : exact.includes(text)))
      .map(({ as }) => (as === 'plain' ? name : `${name} (${as})`)),
  );
  if (depth === DEEPEST) return found;
  return found.concat(packed(bytes, exact).flatMap((inside) => search(inside, canaries, depth + 1)));
}

interface Spelling {
  readonly as: string;
  /** One character a byte. */
  readonly text: string;
  readonly anyCase: boolean;
}

const latin1 = (text: string, encoding: BufferEncoding): string => Buffer.from(text, encoding).toString('latin1');

function spellings(value: string): Spelling[] {
  const bytes = Buffer.from(value, 'utf8');
  const escaped = value.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const all: Spelling[] = [
    { as: 'plain', text: latin1(value, 'utf8'), anyCase: true },
    // Of letters beyond ASCII, the bytes themselves differ.
    { as: 'plain', text: latin1(value.toUpperCase(), 'utf8'), anyCase: true },
    { as: 'plain', text: latin1(value.toLowerCase(), 'utf8'), anyCase: true },
    { as: 'UTF-16', text: latin1(value, 'utf16le'), anyCase: true },
    { as: 'escaped', text: escaped, anyCase: true },
    { as: 'entities', text: value.replace(/[^ -~]/g, (c) => `&#${c.charCodeAt(0)};`), anyCase: true },
    { as: 'percent', text: encodeURIComponent(value), anyCase: true },
    { as: 'form', text: new URLSearchParams({ v: value }).toString().slice(2), anyCase: true },
    { as: 'hex', text: bytes.toString('hex'), anyCase: true },
    ...[0, 1, 2].flatMap((offset) => {
      // Of the characters at both ends, some bits are of the neighbours.
      const inner = Buffer.concat([Buffer.alloc(offset), bytes])
        .toString('base64')
        .replace(/=+$/, '')
        .slice(offset === 0 ? 0 : offset + 1, (offset + bytes.length) % 3 === 0 ? undefined : -1);
      return [
        { as: 'base64', text: inner, anyCase: false },
        { as: 'base64', text: inner.replaceAll('+', '-').replaceAll('/', '_'), anyCase: false },
      ];
    }),
  ];
  // A value of letters alone is the same in most of them.
  const plain = all[0]!.text;
  return all.filter(({ as, text }) => as === 'plain' || text !== plain);
}

const WITHOUT_END = { finishFlush: zlib.constants.Z_SYNC_FLUSH };

/** How what zlib and zstd write begins, in hexadecimal, and how to read it to the point where it breaks off. */
const FORMATS: readonly { readonly begins: readonly string[]; readonly read: (bytes: Buffer) => Buffer }[] = [
  { begins: ['1f8b08'], read: unpackGzip },
  { begins: ['7801', '785e', '789c', '78da'], read: (bytes) => zlib.inflateSync(bytes, WITHOUT_END) },
  { begins: ['28b52ffd'], read: unpackZstd },
];

/** The header is skipped by hand, since Node reads what follows the end of a gzip file as another one. */
function unpackGzip(bytes: Buffer): Buffer {
  const hasName = (bytes[3]! & 8) !== 0;
  return zlib.inflateRawSync(bytes.subarray(hasName ? bytes.indexOf(0, 10) + 1 : 10), WITHOUT_END);
}

function unpackZstd(bytes: Buffer): Buffer {
  const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (bytes: Buffer) => Buffer };
  // What cannot be read has not been searched.
  if (zstdDecompressSync === undefined)
    throw new Error('there is something compressed with zstd, which this Node cannot read');
  return zstdDecompressSync(bytes);
}

/** A run of base64 that may begin with one of {@link FORMATS}. */
const BASE64 = /(?:H4sI|eJ|eN|eA|eF|KLUv)[A-Za-z0-9+/_-]{20,}={0,2}/g;

function packed(bytes: Buffer, text: string): Buffer[] {
  const found: Buffer[] = [];
  for (const { begins, read } of FORMATS)
    for (const at of begins.flatMap((begin) => placesOf(Buffer.from(begin, 'hex'), bytes))) {
      try {
        found.push(read(bytes.subarray(at)));
      } catch (error) {
        // Almost always these bytes are something else.
        if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
      }
    }
  for (const [run] of text.matchAll(BASE64)) found.push(Buffer.from(run, 'base64'));
  return found;
}

function placesOf(part: Buffer, bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + 1)) places.push(at);
  return places;
}
