/** Refuses requests for foreign host names, so that a web page cannot reach the sandbox through DNS rebinding. */
import { Refusal } from './refusal.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Creates a check of the Host header that throws a `forbidden` {@link Refusal} for any name other than loopback, the
 * server's own and `allowedHosts`.
 *
 * The port is not compared: port forwarding changes it, and an attacker gains nothing by it.
 */
export function createHostCheck(ownHost: string, allowedHosts: readonly string[]): (host: string | undefined) => void {
  const own = ownHost.includes(':') ? `[${ownHost}]` : ownHost;
  const allowed = new Set([...LOOPBACK, own, ...allowedHosts].map((name) => name.toLowerCase()));
  return (host) => {
    const name = (host ?? '').replace(/:\d*$/, '').toLowerCase();
    if (!allowed.has(name))
      throw new Refusal(
        'forbidden',
        'the Host header names another server; call the sandbox by localhost or add to allowedHosts',
      );
  };
}
