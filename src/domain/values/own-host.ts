/** Tells requests that mean this server from those of a page that reaches it by DNS rebinding. */

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether a Host header names loopback, the address that the server listens on, or one of `allowed`. The port is not
 * compared: port forwarding changes it, and an attacker gains nothing by it.
 */
export function createOwnHost(listensOn: string, allowed: readonly string[]): (header: string | undefined) => boolean {
  const own = listensOn.includes(':') ? `[${listensOn}]` : listensOn;
  const names = new Set([...LOOPBACK, own, ...allowed].map((name) => name.toLowerCase()));
  return (header = '') => names.has(header.replace(/:\d*$/, '').toLowerCase());
}
