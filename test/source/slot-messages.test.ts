/** Messages of slots: bytes that real servers have sent, and bytes that none should send. */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import {
  SlotMessageDecoder,
  UNCHANGED,
  type SlotMessage,
  type SlotRow,
} from '../../src/source/postgres/changes/slot-messages.js';
import { seeded } from '../seeded.js';

/** PostgreSQL 15: the columns `id` and `k`, an enum, of a table with more columns; a row that is inserted, changed and deleted. */
const FROM_15 = [
  '420000000001d557400003044709b3b6aa000002eb',
  '59000040117075626c6963006b696e6400',
  '52000040157075626c69630074006400020169640000000017ffffffff016b0000004011ffffffff',
  '49000040154e0002740000000131740000000161',
  '55000040154e0002740000000131740000000161',
  '55000040154b00027400000001317400000001614e0002740000000131740000000162',
  '44000040154b0002740000000131740000000162',
  '54000000010000004015',
  '43000000000001d557400000000001d557700003044709b3b6aa',
];
/** PostgreSQL 12: whole rows of `id`, `k`, `note` and `long`, which is too long to be sent unless it has changed. */
const FROM_12 = [
  '4200000000016502200003044709b1fbd3000001f2',
  '52000040137075626c69630074006400040169640000000017ffffffff016b000000400effffffff006e6f74650000000019ffffffff006c6f6e670000000019ffffffff',
  '55000040134e000474000000013174000000016174000000016e75',
  '55000040134b00047400000001317400000001616e6e4e000474000000013174000000016274000000016e75',
  '44000040134b00047400000001317400000001626e6e',
  '4300000000000165022000000000016502500003044709b1fbd3',
];

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const valuesOf = (row: SlotRow | null, columns: number) =>
  row === null ? null : Array.from({ length: columns }, (_, i) => row.value(i));

/** The changes among decoded messages, as their kinds of versions with all values. */
const changesIn = (messages: readonly SlotMessage[], columns: number) =>
  messages.flatMap((message) =>
    message.kind === 'change' ? [[valuesOf(message.old, columns), valuesOf(message.row, columns)]] : [],
  );

function decodeAll(hexes: readonly string[]): SlotMessage[] {
  const decoder = new SlotMessageDecoder();
  return hexes.map((hex) => decoder.decode(bytes(hex)));
}

it('reads what PostgreSQL 15 sends for a publication of key columns', () => {
  const messages = decodeAll(FROM_15);
  expect(messages[0]).toMatchObject({ kind: 'begin', start: 0x1d55740n, transaction: 0x2eb });
  expect(messages.at(-1)).toEqual({ kind: 'commit', end: 0x1d55770n });
  expect(changesIn(messages, 2)).toEqual([
    [null, ['1', 'a']],
    [null, ['1', 'a']],
    [
      ['1', 'a'],
      ['1', 'b'],
    ],
    [['1', 'b'], null],
  ]);
  const truncate = messages.at(-2) as Extract<SlotMessage, { kind: 'truncate' }>;
  expect(truncate.tables).toEqual([
    {
      id: 0x4015,
      table: { schema: 'public', name: 't' },
      identity: 'd',
      columns: [
        { name: 'id', isKey: true, typeCode: '23/-1' },
        { name: 'k', isKey: true, typeCode: `${0x4011}/-1` },
      ],
    },
  ]);
});

it('reads what PostgreSQL 12 sends: whole rows without the long values that have not changed', () => {
  expect(changesIn(decodeAll(FROM_12), 4)).toEqual([
    [null, ['1', 'a', 'n', UNCHANGED]],
    [
      ['1', 'a', null, null],
      ['1', 'b', 'n', UNCHANGED],
    ],
    [['1', 'b', null, null], null],
  ]);
});

it('reads the time of a commit', () => {
  const [begin] = decodeAll(['420000000001d55740ffffffffffff000000000001']);
  expect(begin).toMatchObject({ at: new Date('1999-12-31T23:59:59.935Z') });
});

/** A decoder that knows the table, and the position of the message behind its description. */
function knowing(messages: readonly string[]): SlotMessageDecoder {
  const decoder = new SlotMessageDecoder();
  for (const hex of messages.filter((each) => each.startsWith('52'))) decoder.decode(bytes(hex));
  return decoder;
}

it.each([FROM_15, FROM_12])('rejects each message that ends too early, or has bytes behind its end', (...messages) => {
  for (const hex of messages.filter((each) => !each.startsWith('59'))) {
    const whole = bytes(hex);
    for (let length = 0; length < whole.length; length++)
      expect(() => knowing(messages).decode(whole.subarray(0, length))).toThrow(PartnerSyncError);
    expect(() => knowing(messages).decode(Buffer.concat([whole, Buffer.alloc(1)]))).toThrow('longer than its content');
  }
});

it('rejects a row that has another number of values than the columns that were described', () => {
  expect(() => knowing(FROM_15).decode(bytes('49000040154e0001740000000131'))).toThrow(
    /describes 2 columns of public\.t, and sends another number/,
  );
});

it('rejects a message about a table that was not described, one of an unknown kind, and a binary value that is needed', () => {
  expect(() => new SlotMessageDecoder().decode(bytes(FROM_15[3]!))).toThrow('was not described');
  expect(() => new SlotMessageDecoder().decode(bytes('5a00'))).toThrow('unknown kind');
  const change = knowing(FROM_15).decode(bytes('49000040154e0002620000000131740000000161'));
  expect(() => changesIn([change], 2)).toThrow('binary');
  expect((change as { row: SlotRow }).row.value(1)).toBe('a');
});

it('ends with an error of ours, which quotes nothing, on whatever bytes it gets', () => {
  const random = seeded(4711);
  const all = [...FROM_15, ...FROM_12];
  for (let i = 0; i < 5000; i++) {
    const garbled = bytes(all[random(all.length)]!);
    for (let changes = 1 + random(4); changes > 0; changes--) garbled[random(garbled.length)] = random(256);
    try {
      const message = knowing(FROM_15).decode(garbled);
      changesIn([message], 2);
    } catch (error) {
      expect(error).toBeInstanceOf(PartnerSyncError);
      expect((error as Error).message).toMatch(/^source: (a message of the slot|the slot describes)/);
    }
  }
});
