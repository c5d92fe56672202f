/**
 * SQL Server, for which no server was available: the text of its queries, the reading of the driver's values, and the
 * classes of its errors. What a server makes of the queries is not shown here.
 */
import { createServer, type AddressInfo } from 'node:net';
import * as tedious from 'tedious';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { SourceType } from '../../src/domain/source/source.js';
import { pageQuery, type KeysetColumn } from '../../src/source/keyset-query.js';
import { literal } from '../../src/source/mssql/literals.js';
import { mssql } from '../../src/source/mssql/mssql.js';
import { connectionOf, runOn, type TdsConnection, type TdsDriver } from '../../src/source/mssql/session.js';
import { codeOf, kindOfName, typeOfCode, type ColumnMetadata } from '../../src/source/mssql/types.js';
import { ALL, codeOf as failureCode, open } from './reading.js';

const column = (type: string, more: Partial<ColumnMetadata> = {}): ColumnMetadata => ({
  colName: 'c',
  type: { name: type },
  userType: 0,
  ...more,
});
const typeOf = (type: string, more: Partial<ColumnMetadata> = {}) => typeOfCode(codeOf(column(type, more)));
const keyset = (name: string, type: string, more: Partial<ColumnMetadata> = {}): KeysetColumn => ({
  name,
  type: typeOf(type, more),
});

describe('a page', () => {
  const id = keyset('id', 'IntN', { dataLength: 4 });
  const at = keyset('changed at', 'DateTime2', { scale: 7 });

  it('is limited by TOP, ordered by cursor and key, and begins after an explicit place', () => {
    const reading = {
      relation: { table: 'dbo.order]s' },
      columns: [id, at],
      key: [id],
      cursor: at,
      unique: true,
      distinct: false,
    };
    const bounds = {
      ...ALL,
      after: { cursor: '2020-01-01 10:00:00.1234567', key: ['7'] },
      cursorBefore: '2020-01-02 00:00:00',
    };
    const place = `CAST('2020-01-01T10:00:00.1234567' AS datetime2(7))`;
    expect(pageQuery(mssql, reading, bounds, 100)).toEqual({
      sql:
        'SELECT TOP (100) CONVERT(nvarchar(20), q.[id]) AS [id], CONVERT(nvarchar(27), q.[changed at], 121) AS [changed at]' +
        ' FROM [dbo].[order]]s] q' +
        ` WHERE q.[changed at] >= ${place}` +
        ` AND (q.[changed at] > ${place} OR (q.[changed at] = ${place} AND q.[id] > CAST('7' AS int)))` +
        ` AND q.[changed at] < CAST('2020-01-02T00:00:00' AS datetime2(7))` +
        ' ORDER BY q.[changed at], q.[id] ',
      bindings: [],
    });
  });

  it('distinguishes texts that compare equal if the key is not known to be unique', () => {
    const name = keyset('name', 'NVarChar', { dataLength: 100 });
    const reading = {
      relation: { query: 'select name from people' },
      columns: [name],
      key: [name],
      cursor: null,
      unique: false,
      distinct: false,
    };
    expect(pageQuery(mssql, reading, ALL, 10).sql).toContain(
      'ORDER BY q.[name], CONVERT(varbinary(8000), CONVERT(nvarchar(4000), q.[name]))',
    );
  });

  it('orders varchar of an old collation as its bounds are compared, and others by their index', () => {
    const text = (sortId: number): string => {
      const key = keyset('k', 'VarChar', { dataLength: 20, collation: { sortId } });
      const reading = {
        relation: { table: 't' },
        columns: [key],
        key: [key],
        cursor: null,
        unique: true,
        distinct: false,
      };
      return pageQuery(mssql, reading, { ...ALL, after: { cursor: null, key: ['ab'] } }, 10).sql;
    };
    const [k, ab] = ['CONVERT(nvarchar(4000), q.[k])', 'CAST(0x61006200 AS nvarchar(4000))'];
    const bytes = (sql: string): string => `CONVERT(varbinary(8000), CONVERT(nvarchar(4000), ${sql}))`;
    // Two varchars that the old collation distinguishes may be equal as nvarchar.
    expect(text(52)).toContain(
      `WHERE ${k} >= ${ab} AND (${k} > ${ab} OR (${k} = ${ab} AND ${bytes('q.[k]')} > ${bytes(ab)})) ORDER BY ${k}, ${bytes('q.[k]')}`,
    );
    expect(text(0)).toMatch(/WHERE q\.\[k\] > CAST\(0x61006200 AS nvarchar\(4000\)\) ORDER BY q\.\[k\] $/);
  });
});

describe('a type', () => {
  it.each<[string, Partial<ColumnMetadata>, string, SourceType]>([
    ['IntN', { dataLength: 8 }, 'bigint', 'integer'],
    ['IntN', { dataLength: 1 }, 'tinyint', 'integer'],
    ['Int', {}, 'int', 'integer'],
    ['DecimalN', { precision: 12, scale: 2 }, 'decimal(12,2)', 'decimal'],
    ['MoneyN', { dataLength: 8 }, 'money', 'decimal'],
    ['FloatN', { dataLength: 8 }, 'float', 'float'],
    ['FloatN', { dataLength: 4 }, 'real', 'float'],
    ['BitN', { dataLength: 1 }, 'bit', 'boolean'],
    ['Date', {}, 'date', 'date'],
    ['Time', { scale: 3 }, 'time(3)', 'time'],
    ['DateTimeN', { dataLength: 8 }, 'datetime', 'timestamp'],
    ['DateTimeN', { dataLength: 4 }, 'smalldatetime', 'timestamp'],
    ['DateTime2', { scale: 7 }, 'datetime2(7)', 'timestamp'],
    ['DateTimeOffset', { scale: 0 }, 'datetimeoffset(0)', 'timestamptz'],
    ['UniqueIdentifier', {}, 'uniqueidentifier', 'uuid'],
    ['NVarChar', { dataLength: 100 }, 'nvarchar(50)', 'text'],
    ['NVarChar', { dataLength: 65_535 }, 'nvarchar(max)', 'text'],
    ['VarBinary', { dataLength: 65_535 }, 'varbinary(max)', 'bytes'],
    ['Binary', { dataLength: 8, userType: 80 }, 'rowversion', 'bytes'],
    ['Xml', {}, 'xml', 'text'],
    ['UDT', {}, 'udt', 'other'],
    ['Variant', {}, 'sql_variant', 'other'],
  ])('%s %j is %s, a %s', (name, more, databaseType, type) => {
    expect(typeOf(name, more)).toMatchObject({ type, databaseType });
    if (databaseType !== 'udt') expect(kindOfName(databaseType)).toBe(type);
  });

  it('covers every type name of the driver that has a text form', () => {
    const known = Object.keys(tedious.TYPES).filter((name) => typeOf(name).type !== 'other');
    const others = Object.keys(tedious.TYPES).filter((name) => typeOf(name).type === 'other');
    expect(known.length).toBeGreaterThan(20);
    expect(others.sort()).toEqual(['TVP', 'UDT', 'Variant']);
  });

  it.each<[string, Partial<ColumnMetadata>, string, string]>([
    ['FloatN', { dataLength: 8 }, '3.0000000000000004e-001', '0.30000000000000004'],
    ['FloatN', { dataLength: 8 }, '1.0000000000000000e+300', '1e+300'],
    ['FloatN', { dataLength: 4 }, '1.00000001e-001', '0.1'],
    ['BitN', { dataLength: 1 }, '1', 't'],
    ['UniqueIdentifier', {}, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['DateTimeOffset', { scale: 7 }, '2020-06-01 06:30:00.1234567 +00:00', '2020-06-01 06:30:00.1234567+00'],
    ['VarBinary', { dataLength: 2 }, '00FF', '\\x00ff'],
  ])('%s %j writes %s as %s', (name, more, given, text) => {
    expect(typeOf(name, more).finish!(given)).toBe(text);
  });
});

describe('a bound', () => {
  const of = (databaseType: string, text: string): string =>
    literal({ type: kindOfName(databaseType), databaseType }, text);

  it.each([
    ['int', '-7', `CAST('-7' AS int)`],
    ['decimal(12,2)', '1.005', '1.005'],
    ['money', '1234.5000', '1234.5000'],
    ['real', '0.1', 'CAST(0.1e0 AS real)'],
    ['float', '1e+300', 'CAST(1e+300 AS float)'],
    ['bit', 't', 'CAST(1 AS bit)'],
    ['bit', 'true', 'CAST(1 AS bit)'],
    ['bit', 'false', 'CAST(0 AS bit)'],
    ['rowversion', '\\x00000000000007d1', '0x00000000000007d1'],
    [
      'uniqueidentifier',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
      `CAST('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS uniqueidentifier)`,
    ],
    ['date', '2020-01-02', `CAST('2020-01-02' AS date)`],
    ['datetime', '2020-01-02 03:04:05.123', `CAST('2020-01-02T03:04:05.123' AS datetime)`],
    ['datetime', '2020-01-02 03:04:05.123456', `CAST('2020-01-02T03:04:05.123' AS datetime)`],
    ['datetime2(7)', '2020-01-02', `CAST('2020-01-02T00:00:00' AS datetime2(7))`],
    ['varbinary(8)', '00ff', '0x00ff'],
    [
      'datetimeoffset(7)',
      '2020-06-01 06:30:00.1234567+00',
      `CAST('2020-06-01T06:30:00.1234567+00:00' AS datetimeoffset(7))`,
    ],
    [
      'datetimeoffset(7)',
      '2020-06-01 12:00:00+05:30',
      `CAST('2020-06-01T06:30:00.0000000+00:00' AS datetimeoffset(7))`,
    ],
    [
      'nvarchar(50)',
      `'; DROP TABLE x --`,
      'CAST(0x27003b002000440052004f00500020005400410042004c0045002000780020002d002d00 AS nvarchar(4000))',
    ],
  ])('of %s: %s', (databaseType, text, sql) => {
    expect(of(databaseType, text)).toBe(sql);
  });

  it.each([
    ['int', '3000000000'],
    ['bigint', '9223372036854775808'],
    ['int', '1; DROP TABLE x'],
    ['decimal(12,2)', '1e3'],
    ['decimal(38,0)', '9'.repeat(39)],
    ['float', 'NaN'],
    ['bit', '2'],
    ['uniqueidentifier', 'abc'],
    ['date', 'soon'],
    ['datetime2(7)', '2020-01-02 03:04:05+00'],
    ['datetimeoffset(7)', '2020-06-01 12:00:00'],
    ['varbinary(8)', 'fgf'],
  ])('that is not a %s is refused with the column: %s', (databaseType, text) => {
    let refused: unknown;
    try {
      of(databaseType, text);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ code: 'config_invalid', details: { unfitValue: true } });
    expect((refused as Error).message).not.toContain(text);
  });
});

describe('an error', () => {
  const server = (number: number, severity: number): Error =>
    Object.assign(new tedious.RequestError('quotes a row', 'EREQUEST'), { number, class: severity });

  it.each([
    [229, 14, 'config_invalid'],
    [102, 15, 'config_invalid'],
    [8169, 16, 'config_invalid'],
    [209, 16, 'config_invalid'],
    [4104, 16, 'config_invalid'],
    [8120, 16, 'config_invalid'],
    [8155, 16, 'config_invalid'],
    [8156, 16, 'config_invalid'],
    [18456, 14, 'config_invalid'],
    [1205, 13, 'source_query_failed'],
    [1222, 16, 'source_query_failed'],
    [3960, 16, 'source_query_failed'],
    [596, 21, 'source_unreachable'],
    [40613, 17, 'source_unreachable'],
    [99_999, 21, 'source_unreachable'],
    [99_999, 16, 'source_query_failed'],
  ])('of number %i and severity %i is %s', (number, severity, code) => {
    expect(mssql.classify(server(number, severity))).toEqual({ code, shown: `error ${number}, severity ${severity}` });
  });

  it.each([207, 208])('of number %i is source_relation_missing, with the name that it does not know', (number) => {
    expect(mssql.classify(server(number, 16))).toEqual({
      code: 'source_relation_missing',
      shown: `error ${number}, severity 16`,
      unknownName: 'quotes a row',
    });
  });

  it('asks for fewer rows after a statement timed out, but not after a connection did', () => {
    expect(mssql.classify(new tedious.RequestError('x', 'ETIMEOUT'))).toMatchObject({
      code: 'source_query_failed',
      timedOut: true,
    });
    expect(mssql.classify(new tedious.ConnectionError('x', 'ETIMEOUT'))).toEqual({
      code: 'source_unreachable',
      shown: 'ETIMEOUT',
    });
  });

  it('of the login is a configuration error, unless the server calls it temporary', () => {
    const login = new tedious.ConnectionError('x', 'ELOGIN');
    expect(mssql.classify(login).code).toBe('config_invalid');
    expect(mssql.classify(Object.assign(login, { isTransient: true })).code).toBe('source_unreachable');
  });

  it('of TLS is distinguished from one of the network', () => {
    const lost = (code: string) =>
      mssql.classify(new tedious.ConnectionError('x', 'ESOCKET', { cause: Object.assign(new Error('y'), { code }) }));
    expect(lost('ECONNREFUSED')).toEqual({ code: 'source_unreachable', shown: 'ECONNREFUSED' });
    expect(lost('DEPTH_ZERO_SELF_SIGNED_CERT')).toEqual({
      code: 'config_invalid',
      shown: 'TLS: DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });
});

describe('an address', () => {
  const of = (address: string) => connectionOf({ connection: address, poolMax: 1, statementTimeout: 30 });

  it('gives server, port, account, TLS and read intent', () => {
    expect(of('sqlserver://re%40der:p%2Fw@db.example.org/shop')).toMatchObject({
      server: 'db.example.org',
      user: 're@der',
      password: 'p/w',
      database: 'shop',
      options: { port: 1433, encrypt: false, readOnlyIntent: false, requestTimeout: 30_000 },
    });
    expect(of('mssql://u@h:1444/d?sslmode=verify-full&applicationIntent=ReadOnly').options).toMatchObject({
      port: 1444,
      encrypt: true,
      trustServerCertificate: false,
      readOnlyIntent: true,
    });
    expect(of('mssql://u@h/d?sslmode=no-verify').options).toMatchObject({
      encrypt: true,
      trustServerCertificate: true,
    });
  });

  it.each([
    'mssql://u@h/d?sslmode=verify-ca',
    'mssql://u@h/d?applicationIntent=Sometimes',
    'mssql://u@h/d?tls=1',
    'mssql:',
  ])('that is invalid is refused: %s', (address) => {
    expect(() => of(address)).toThrow(PartnerSyncError);
  });

  it('at which no SQL Server listens is reported without the address', async () => {
    const stranger = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void stranger.close());
    for (const port of [1, (stranger.address() as AddressInfo).port]) {
      const source = open(`mssql://nobody:hunter2@127.0.0.1:${port}/shop`);
      onTestFinished(() => source.close());
      const error = await source.describe({ table: 't' }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'source_unreachable' });
      expect((error as Error).message).not.toMatch(/hunter2|nobody|127\.0\.0\.1/);
    }
  });
});

describe('an answer of the driver', () => {
  /** Plays an answer to the real driver's request, in the events in which it comes. */
  const answering = (
    columns: ColumnMetadata[],
    rows: unknown[][],
    error?: Error,
  ): { connection: TdsConnection; sql: () => string } => {
    let sent = '';
    const execSqlBatch = (given: unknown): void => {
      const request = given as tedious.Request & { sqlTextOrProcedure: string };
      sent = request.sqlTextOrProcedure;
      request.emit('columnMetadata', columns as never);
      for (const row of rows) request.emit('row', row.map((value) => ({ value })) as never);
      request.callback(error);
    };
    return { connection: { execSqlBatch }, sql: () => sent };
  };
  const driver: TdsDriver = tedious as unknown as TdsDriver;
  const text = column('NVarChar', { dataLength: 20 });

  it('is taken as text, in a transaction that is rolled back', async () => {
    const { connection, sql } = answering([text, text], [['a', null]]);
    expect(await runOn(driver, connection, 'SELECT 1', Infinity)).toMatchObject({ rows: [['a', null]], cut: false });
    expect(sql()).toMatch(/BEGIN TRANSACTION;\nSELECT 1\n;IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;$/);
  });

  it('is refused if the driver turned a value into a date, a double or bytes', async () => {
    for (const value of [new Date(), 0.1, Buffer.from('a'), 2 ** 60]) {
      const { connection } = answering([column('Variant')], [[value]]);
      expect(await failureCode(runOn(driver, connection, 'SELECT 1', Infinity))).toBe('config_invalid');
    }
  });

  it('is cut after the row that exceeds the budget', async () => {
    const { connection } = answering([text], [['aaaa'], ['bbbb'], ['cccc']]);
    expect(await runOn(driver, connection, 'SELECT 1', 6)).toMatchObject({ rows: [['aaaa'], ['bbbb']], cut: true });
  });

  it('that took too long leaves a connection that is never used again', async () => {
    const { connection } = answering([], [], new tedious.RequestError('x', 'ETIMEOUT'));
    await expect(runOn(driver, connection, 'SELECT 1', 6)).rejects.toThrow();
    expect(connection).toHaveProperty('__knex__disposed');
  });
});

describe('the high watermark', () => {
  /** Answers questions by what their text holds. */
  const session = (answers: Readonly<Record<string, readonly (string | null)[]>>) => ({
    run: ({ sql }: { sql: string }) => {
      const found = Object.entries(answers).find(([text]) => sql.includes(text));
      if (found === undefined) throw new Error(`nobody answers ${sql}`);
      return Promise.resolve({ rows: [found[1]], fields: [] });
    },
    typesOf: () => Promise.resolve(new Map()),
    connections: () => 0,
    close: () => Promise.resolve(),
  });
  const cursor = (name: string, more: Partial<ColumnMetadata> = {}, zone: string | null = null) => ({
    ...typeOf(name, more),
    name: 'at',
    zone,
    from: 't q',
  });

  it("of timestamps is the server's, in the precision of the column", async () => {
    const asked = session({ HAS_PERMS: ['1', 'READ_WRITE'], dm_tran_active: ['2020-06-01T06:30:00.123456'] });
    expect(await mssql.highWatermark(asked, cursor('DateTimeOffset', { scale: 3 }))).toBe('2020-06-01 06:30:00.123+00');
    expect(await mssql.highWatermark(asked, cursor('DateTimeN', { dataLength: 8 }, 'Europe/London'))).toBe(
      '2020-06-01 07:30:00.123',
    );
  });

  it('of a rowversion is the lowest that may still be written', async () => {
    const asked = session({ HAS_PERMS: ['0', 'READ_WRITE'], MIN_ACTIVE_ROWVERSION: ['0x00000000000007D1'] });
    expect(await mssql.highWatermark(asked, cursor('Binary', { userType: 80, dataLength: 8 }))).toBe(
      '\\x00000000000007d1',
    );
  });

  it('of a read-only replica is refused if its progress is unknown', async () => {
    const asked = session({ HAS_PERMS: ['0', 'READ_ONLY'] });
    expect(await failureCode(mssql.highWatermark(asked, cursor('DateTimeOffset', { scale: 3 })))).toBe(
      'config_invalid',
    );
  });
});
