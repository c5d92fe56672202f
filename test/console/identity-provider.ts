/** A provider of OpenID Connect, which logs everybody in as whom the test says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface IdentityProvider {
  readonly issuer: string;
  /** What the provider says of whoever logs in next. */
  claims: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'partner-sync', clientSecret: 'a secret of the console' };

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  /** What each code was given for. */
  const codes = new Map<string, URLSearchParams>();
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname, searchParams } = new URL(request.url!, issuer);
      const json = (status: number, body: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (pathname === '/.well-known/openid-configuration')
        return json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
        });
      if (pathname === '/keys') return json(200, { keys: [{ ...jwk, kid, alg: 'RS256', use: 'sig' }] });
      if (pathname === '/authorize') {
        const code = String(codes.size + 1);
        codes.set(code, searchParams);
        const back = new URL(searchParams.get('redirect_uri')!);
        back.search = new URLSearchParams({ code, state: searchParams.get('state')! }).toString();
        return void response.writeHead(303, { location: back.href }).end();
      }
      const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString('utf8'));
      const begun = codes.get(body.get('code') ?? '');
      if (begun === undefined || body.get('code_verifier') === null) return json(400, { error: 'invalid_grant' });
      const token = new SignJWT({ nonce: begun.get('nonce'), ...provider.claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setIssuer(issuer)
        .setAudience(CLIENT.clientId)
        .setSubject('somebody')
        .setIssuedAt()
        .setExpirationTime('5m');
      return json(200, { access_token: 'none', token_type: 'Bearer', id_token: await token.sign(privateKey) });
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: IdentityProvider = {
    issuer,
    claims: {},
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return provider;
}
