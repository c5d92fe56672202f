/**
 * Whether a name is a time zone: an IANA name such as Europe/London, or UTC. Mappings and drafts must accept the same ones,
 * those of the JavaScript engine.
 */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
