/** Rows extracted from a session's messages, however the bytes arrive and whatever is between them. */
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import type { Client, Connection } from 'pg';
import { expect, it } from 'vitest';
import { UndecodedRows } from '../../src/source/postgres/undecoded-rows.js';
import { interceptRows, installRowInterceptor } from '../../src/source/postgres/row-interceptor.js';
import { message, rowMessage } from './postgres-messages.js';

const notice = (text: string): Buffer => message('N', Buffer.from(`S${text}\0\0`));
const READY = message('Z', Buffer.from('I'));

/** A session whose driver only notes what it is told. */
function session() {
  const stream = new EventEmitter();
  const connection = Object.assign(new EventEmitter(), { stream }) as unknown as Connection;
  const told: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => told.push(Buffer.from(bytes)));
  installRowInterceptor({ connection } as unknown as Client);
  return {
    connection,
    arrives: (bytes: Buffer) => void stream.emit('data', bytes),
    told: () => Buffer.concat(told).toString('latin1'),
  };
}

const VALUE = fc.oneof(
  fc.constant(null),
  fc.string({ unit: 'binary', maxLength: 20 }),
  // Longer than what is decoded at once, with lengths whose own bytes are no ASCII.
  fc.string({ minLength: 120, maxLength: 1500 }),
);
const ROWS = fc.array(fc.array(VALUE, { maxLength: 6 }), { maxLength: 12 });

it('returns the rows and passes the rest to the driver, in any pieces', () => {
  fc.assert(
    fc.property(ROWS, fc.string({ maxLength: 30 }), fc.array(fc.integer({ min: 1, max: 400 })), (rows, text, sizes) => {
      const { connection, arrives, told } = session();
      const taken = new UndecodedRows();
      interceptRows(connection, (...message) => taken.add(...message));
      const others = [notice(text), message('C', Buffer.from('SELECT\0')), READY];
      const middle = Math.floor(rows.length / 2);
      const all = Buffer.concat([
        ...rows.slice(0, middle).map(rowMessage),
        others[0]!,
        ...rows.slice(middle).map(rowMessage),
        ...others.slice(1),
      ]);

      for (let at = 0, i = 0; at < all.length; i++) {
        const size = sizes.length === 0 ? all.length : sizes[i % sizes.length]!;
        arrives(all.subarray(at, at + size));
        at += size;
      }

      expect([...taken]).toEqual(rows);
      expect([taken.length, taken.at(0), taken.at(-1)]).toEqual([rows.length, rows[0], rows.at(-1)]);
      expect(told()).toBe(Buffer.concat(others).toString('latin1'));
    }),
  );
});

it('leaves the rows of other queries to the driver, before and after', () => {
  const { connection, arrives, told } = session();
  const taken = new UndecodedRows();
  const [before, own, after] = [['before'], ['own'], ['after']].map(rowMessage) as [Buffer, Buffer, Buffer];

  arrives(Buffer.concat([before, READY]));
  interceptRows(connection, (...message) => taken.add(...message));
  arrives(Buffer.concat([own, READY]));
  arrives(Buffer.concat([after, READY]));

  expect([...taken]).toEqual([['own']]);
  expect(told()).toBe(Buffer.concat([before, READY, READY, after, READY]).toString('latin1'));
});

it('leaves what is not a message to the driver', () => {
  const { connection, arrives, told } = session();
  interceptRows(connection, () => expect.unreachable());
  const nonsense = Buffer.from('D\0\0\0\0 and so on', 'latin1');

  arrives(nonsense);

  expect(told()).toBe(nonsense.toString('latin1'));
});
