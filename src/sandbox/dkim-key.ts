/**
 * Creates the DKIM key pair of a sending domain: the private half signs mail, the public half is published in the DNS.
 */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** A DKIM key pair and the selector under which it is published. */
export interface DkimKey {
  /** Distinguishes this key from others of the same domain; a single DNS label. */
  readonly selector: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
  /** The value of `p=` in the DNS record: DER in Base64 (RFC 6376, section 3.6.1). */
  readonly publicKey: string;
}

const generate = promisify(generateKeyPair);

/** Generates an RSA key of 2048 bits, the size that every receiver supports (RFC 8301), with a random selector. */
export async function createDkimKey(): Promise<DkimKey> {
  const { privateKey, publicKey } = await generate('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { selector: `ps${randomBytes(4).toString('hex')}`, privateKey, publicKey: publicKey.toString('base64') };
}
