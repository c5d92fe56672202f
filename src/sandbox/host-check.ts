/** Refuses requests for foreign host names, so that a web page cannot reach the sandbox through DNS rebinding. */
import { createOwnHost } from '../domain/values/own-host.js';
import { Refusal } from './refusal.js';

/** Creates a check of the Host header that throws a `forbidden` {@link Refusal} for any name that is not the server's. */
export function createHostCheck(ownHost: string, allowedHosts: readonly string[]): (host: string | undefined) => void {
  const isOwn = createOwnHost(ownHost, allowedHosts);
  return (host) => {
    if (!isOwn(host))
      throw new Refusal(
        'forbidden',
        'the Host header names another server; call the sandbox by localhost or add to allowedHosts',
      );
  };
}
