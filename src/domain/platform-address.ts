/** What is wrong with an address of the platform: it must neither send token and data in the clear nor hold secrets itself. */

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Undefined where it is right. Never quotes it. */
export function platformAddressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const { username, password, protocol, hostname, search, hash } = new URL(text);
  if (username !== '' || password !== '') return 'must not carry credentials';
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname)))
    return 'must be https (http only towards this machine)';
  return search === '' && hash === '' ? undefined : 'must end with its host or path, without "?" and "#"';
}
