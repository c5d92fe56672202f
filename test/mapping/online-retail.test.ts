/** The demo's sync: it loads, fits its tables, and maps the oddities as documented. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SourceType } from '../../src/domain/source/source.js';
import { compileMapping } from '../../src/mapping/compile/compile-mapping.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { stagesOf } from '../../src/mapping/order/stages.js';
import { columns } from './sync-on-disk.js';

const { spec: sync } = await loadSync(fileURLToPath(new URL('../../mappings', import.meta.url)), 'online-retail', {
  SOURCE_URL: 'postgres://reader@127.0.0.1/shop',
  PLATFORM_TENANT: 'tenant-a',
});

const TABLES: Record<string, Record<string, SourceType>> = {
  customers: {
    customer_id: 'integer',
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    phone: 'text',
    country: 'text',
    marketing_opt_in: 'boolean',
    created_at: 'timestamp',
    updated_at: 'timestamptz',
  },
  transactions: {
    invoice_no: 'text',
    customer_id: 'integer',
    kind: 'text',
    invoiced_at: 'timestamp',
    total: 'decimal',
    currency: 'text',
    updated_at: 'timestamptz',
  },
  'order-lines': {
    invoice_no: 'text',
    line_no: 'integer',
    stock_code: 'text',
    description: 'text',
    quantity: 'integer',
    unit_price: 'decimal',
    line_total: 'decimal',
    entered_at: 'timestamp',
    updated_at: 'timestamptz',
  },
};

function map(name: string, row: Record<string, string | null>) {
  const { columns: selected, map } = compileMapping(
    sync.mappings.find((m) => m.name === name)!,
    sync.tenant,
    columns(TABLES[name]!),
  );
  const result = map(selected.map((column) => row[column] ?? null));
  return result.kind === 'record' ? result.data : result;
}

describe('the online-retail sync', () => {
  it('sends customers, then their transactions, then the lines', () => {
    const nodes = sync.mappings.map((m) => ({
      name: m.name,
      refs: [...m.fields.values()].flatMap((f) => (f.kind === 'ref' ? [f.mapping] : [])),
    }));
    expect(stagesOf(nodes)).toEqual([['customers'], ['transactions'], ['order-lines']]);
  });

  it('turns an untidy customer into a clean contact', () => {
    const row = {
      customer_id: '17850',
      first_name: ' Anna ',
      last_name: '',
      email: ' ANNA@Example.org ',
      phone: '(020) 7946-0018',
      country: 'United  Kingdom',
      created_at: '2010-07-01 08:26:00',
    };
    expect(map('customers', row)).toEqual({
      customerId: '17850',
      firstName: 'Anna',
      lastName: null,
      email: 'anna@example.org',
      phone: '+442079460018',
      country: 'United Kingdom',
      createdAt: '2010-07-01T07:26:00Z',
    });
  });

  it('sends a customer without the telephone number that cannot exist', () => {
    expect(
      map('customers', { customer_id: '1', phone: '12', country: 'EIRE', created_at: '2010-12-01 08:26:00' }),
    ).toMatchObject({ phone: null });
  });

  it('sends a cancellation as a transaction of its own, and no reference without a customer', () => {
    const row = {
      invoice_no: 'C536379',
      customer_id: null,
      kind: 'cancellation',
      invoiced_at: '2010-12-01 09:41:00',
      total: '-13541.33',
      currency: 'gbp',
    };
    expect(map('transactions', row)).toEqual({
      transactionId: 'C536379',
      transactionDate: '2010-12-01T09:41:00Z',
      transactionTotal: -13541.33,
      kind: 'cancellation',
      currency: 'GBP',
    });
  });

  it('identifies a line by its invoice and number', () => {
    const row = {
      invoice_no: '536365',
      line_no: '3',
      stock_code: '85123A',
      description: 'WHITE  HEART ',
      quantity: '6',
      unit_price: '2.5500',
      line_total: '15.3000',
      entered_at: '2010-12-01 08:26:00',
    };
    expect(map('order-lines', row)).toMatchObject({
      lineId: '536365-3',
      transactionId: '536365',
      description: 'WHITE HEART',
      unitPrice: 2.55,
      lineTotal: 15.3,
    });
  });
});
