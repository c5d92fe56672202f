/** 4.3: registering sending domains. */
import { createPublicKey, createSign, createVerify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, SOUTH, startForTest, undeclared, unique, type TestDatabase } from './running-sandbox.js';

let database: TestDatabase;
let sandbox: Awaited<ReturnType<typeof startForTest>>;
beforeAll(async () => {
  database = await createDatabase('sending-domains');
  sandbox = await startForTest(database);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
});

interface Domain {
  readonly id: string;
  readonly dnsRecords: {
    readonly host: string;
    readonly value: string;
    readonly ttl: number;
    readonly priority: number;
  }[];
}
const bodyWith = (more: object = {}) => ({
  apexDomain: `${unique('shop').replace('_', '-')}.example`,
  subdomain: 'mail',
  userPart: 'news',
  emailFromName: 'The shop',
  ...more,
});
const register = (body: object, tenant = 'north') => sandbox.call('POST', '/api/sending-domains', { body, tenant });
const registered = async (body: object, tenant = 'north'): Promise<Domain> => {
  const answer = await register(body, tenant);
  expect([answer.status, undeclared('createSendingDomain', answer)]).toEqual([200, []]);
  return answer.body.data as unknown as Domain;
};
const stored = async (id: string) =>
  (await database.query('select * from sandbox.sending_domains where id = $1', [id])).rows[0] as Record<string, string>;

it('refuses an address that an expression would try in millions of ways', async () => {
  const { status, body } = await register(bodyWith({ emailReplyTo: `a@${'.'.repeat(300_000)} ` }));
  expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining('body/emailReplyTo')]);
});

describe('registering a sending domain', () => {
  it('returns the DNS records that verify it: DKIM, return path and DMARC', async () => {
    const { id, dnsRecords } = await registered(bodyWith({ apexDomain: 'Shop.Example', subdomain: 'Mail' }));
    const { dkim_selector: selector } = await stored(id);
    expect(dnsRecords.map(({ host }) => host)).toEqual([
      `${selector}._domainkey.mail.shop.example`,
      'bounces.mail.shop.example',
      'bounces.mail.shop.example',
      '_dmarc.mail.shop.example',
    ]);
    const [dkim, bounces, spf, dmarc] = dnsRecords;
    expect(dkim!.value).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]+=*$/);
    expect([bounces!.value, bounces!.priority]).toEqual(['bounces.mail.sandbox.example', 10]);
    expect(spf!.value).toBe('v=spf1 include:spf.mail.sandbox.example -all');
    expect(dmarc!.value).toMatch(/^v=DMARC1; p=none/);
    expect(dnsRecords.map(({ ttl }) => ttl)).toEqual([3600, 3600, 3600, 3600]);
  });

  it('creates a DKIM key whose public half verifies what the private half signed', async () => {
    const { id, dnsRecords } = await registered(bodyWith());
    const { dkim_private_key: privateKey } = await stored(id);
    const published = Buffer.from(/p=(.+)$/.exec(dnsRecords[0]!.value)![1]!, 'base64');
    const publicKey = createPublicKey({ key: published, format: 'der', type: 'spki' });
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const signature = createSign('RSA-SHA256').update('mail').sign(privateKey!);
    expect(createVerify('RSA-SHA256').update('mail').verify(publicKey, signature)).toBe(true);
    expect(createVerify('RSA-SHA256').update('other').verify(publicKey, signature)).toBe(false);
  });

  it('creates another key and selector for each domain', async () => {
    const [one, other] = [await registered(bodyWith()), await registered(bodyWith())];
    expect(one.dnsRecords[0]!.value).not.toBe(other.dnsRecords[0]!.value);
    expect((await stored(one.id))['dkim_selector']).not.toBe((await stored(other.id))['dkim_selector']);
  });

  it('points its records to the mail domain of its settings', async () => {
    const other = await startForTest(database, { mailDomain: 'mail.partner.example' });
    const { body } = await other.call('POST', '/api/sending-domains', { body: bodyWith() });
    await other.close();
    const records = (body.data as unknown as Domain).dnsRecords.map(({ value }) => value);
    expect(records).toContain('bounces.mail.partner.example');
    expect(records).toContain('v=spf1 include:spf.mail.partner.example -all');
  });

  it.each([
    [undefined, true],
    [true, true],
    [false, false],
  ])('stores makeDefaultWhenVerified %s as %s', async (given, kept) => {
    const { id } = await registered(bodyWith(given === undefined ? {} : { makeDefaultWhenVerified: given }));
    expect((await stored(id))['make_default_when_verified']).toBe(kept);
  });

  it.each(['a', 'first.last', "!#$%&'*+/=?^_`{|}~-", 'x'.repeat(64)])('accepts the userPart %s', async (userPart) => {
    await registered(bodyWith({ userPart }));
  });

  it.each(['', '.a', 'a.', 'a..b', 'a b', 'a@b', 'ä', 'x'.repeat(65)])(
    'refuses the userPart "%s"',
    async (userPart) => {
      const { status, body } = await register(bodyWith({ userPart }));
      expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining('body/userPart')]);
    },
  );

  it.each(['a@b.c', 'first.last+tag@mail.shop.example', 'ü@ü.é'])(
    'accepts the reply address %s',
    async (emailReplyTo) => {
      await registered(bodyWith({ emailReplyTo }));
    },
  );

  it.each(['', 'a', 'a@b', 'a@@b.c', 'a b@c.d', 'a@b c.d', '@b.c', 'a@b.c@d.e'])(
    'refuses the reply address "%s"',
    async (emailReplyTo) => {
      const { status, body } = await register(bodyWith({ emailReplyTo }));
      expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining('body/emailReplyTo')]);
    },
  );

  it.each([
    [{ emailFromName: '' }, 'body/emailFromName'],
    [{ emailFromName: 'a\u0000b' }, 'body/emailFromName'],
    [{ apexDomain: 'nodot' }, 'body/apexDomain'],
    [{ apexDomain: '-a.example' }, 'body/apexDomain'],
    [{ apexDomain: '192.0.2.1' }, 'body/apexDomain'],
    [{ apexDomain: `${'a'.repeat(60)}.`.repeat(4).slice(0, -1) }, 'body/apexDomain'],
    [{ subdomain: 'a.b' }, 'body/subdomain'],
    [{ subdomain: '' }, 'body/subdomain'],
    [{ makeDefaultWhenVerified: 'yes' }, 'body/makeDefaultWhenVerified'],
    [{ userPart: undefined }, "'userPart'"],
    [{ color: 'red' }, '"color"'],
  ])('refuses %j, naming the place', async (wrong, place) => {
    const { status, body } = await register(bodyWith(wrong));
    expect([status, body.errors?.join()]).toEqual([400, expect.stringContaining(place)]);
  });

  it('refuses a domain that the tenant has registered, however it is spelled', async () => {
    const body = bodyWith();
    await registered(body);
    const again = await register({ ...body, apexDomain: body.apexDomain.toUpperCase(), userPart: 'other' });
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining(body.apexDomain)]);
  });

  it("does not reveal another tenant's domain, since only the DNS decides who owns it", async () => {
    const body = bodyWith();
    const [one, other] = [await registered(body), await registered(body, SOUTH)];
    expect(one.id).not.toBe(other.id);
    expect(one.dnsRecords[0]!.host).not.toBe(other.dnsRecords[0]!.host);
  });
});
