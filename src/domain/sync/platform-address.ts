/** The platform's address: it must neither send token and data unencrypted nor contain secrets itself. */

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** What is wrong with the address, as the end of a sentence that never quotes it; undefined if it is valid. */
export function platformAddressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const { username, password, protocol, hostname, search, hash } = new URL(text);
  if (username !== '' || password !== '') return 'must not contain credentials';
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname)))
    return 'must be https (http only for this machine)';
  return search === '' && hash === '' ? undefined : 'must end with its host or path, without "?" and "#"';
}

/** A valid address as the ledger has it: two spellings for the client's requests are one. */
export function knownAddress(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, '');
}
