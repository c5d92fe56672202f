/** Messages as a PostgreSQL server writes them. */
import type { ByteRow } from '../../src/domain/source/source.js';
import { UndecodedRows } from '../../src/source/postgres/undecoded-rows.js';

export function message(code: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(code, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function int(bytes: 2 | 4, value: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
}

/** The message of a row; bytes are values that are no UTF-8. */
export const rowMessage = (row: readonly (string | Buffer | null)[]): Buffer =>
  message(
    'D',
    Buffer.concat([
      int(2, row.length),
      ...row.flatMap((value) =>
        value === null ? [int(4, -1)] : [int(4, Buffer.byteLength(value)), Buffer.from(value as string)],
      ),
    ]),
  );

/** The row of such a message, as it arrives behind another one. */
export function messageRow(row: readonly (string | Buffer | null)[]): ByteRow {
  const before = message('N', Buffer.from('Sa notice\0\0'));
  const bytes = Buffer.concat([before, rowMessage(row)]);
  const rows = new UndecodedRows();
  rows.add(bytes, before.length, bytes.length);
  return rows.inBytes(0);
}
