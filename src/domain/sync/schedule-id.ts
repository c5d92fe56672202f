/**
 * Ids of the Temporal Schedules of syncs. Temporal's ids are shared by all of a namespace, and this form marks ours:
 * `schedules apply` deletes only schedules whose ids have it.
 */
const FORM = /^partner-sync\/([^/]+)\/(.+)$/;

export const scheduleId = (sync: string, name: string): string => `partner-sync/${sync}/${name}`;

/** The sync and its schedule that the id names; null for an id of another form. */
export function scheduleOf(id: string): { readonly sync: string; readonly name: string } | null {
  const [, sync, name] = FORM.exec(id) ?? [];
  return sync === undefined || name === undefined ? null : { sync, name };
}
