/** The key pair of a sending domain: mail is signed with one half, the other is published in the DNS. */
import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

export interface DkimKey {
  /** Tells this key apart from others of the same domain; a label of the DNS. */
  readonly selector: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
  /** The `p=` of the DNS record: DER in Base64 (RFC 6376, section 3.6.1). */
  readonly publicKey: string;
}

const generate = promisify(generateKeyPair);

/** RSA of 2048 bits, which every receiver understands (RFC 8301). */
export async function createDkimKey(): Promise<DkimKey> {
  const { privateKey, publicKey } = await generate('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { selector: `ps${randomBytes(4).toString('hex')}`, privateKey, publicKey: publicKey.toString('base64') };
}
