/** The addresses of the console's pages, in one place. */

/** `path` with the parameters that have a value. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

const syncPath = (sync: string, ...rest: readonly string[]): string =>
  ['/syncs', ...[sync, ...rest].map(encodeURIComponent)].join('/');

export const links = {
  overview: () => '/',
  sync: (sync: string) => syncPath(sync),
  run: (sync: string, run: string) => syncPath(sync, 'runs', run),
  deadLetters: (sync: string, filter: Readonly<Record<string, string | undefined>> = {}) =>
    withQuery(syncPath(sync, 'dead-letters'), filter),
  record: (sync: string, mapping?: string, id?: string) => withQuery(syncPath(sync, 'record'), { mapping, id }),
  removals: (sync: string) => syncPath(sync, 'removals'),
  removalPlan: (sync: string, plan: string) => syncPath(sync, 'removals', plan),
  schedules: (sync: string) => syncPath(sync, 'schedules'),
  tenants: (sync: string) => syncPath(sync, 'tenants'),
  tenant: (sync: string, tenant: string) => syncPath(sync, 'tenants', tenant),
  reconcile: (sync: string) => syncPath(sync, 'reconcile'),
  audit: (sync: string) => syncPath(sync, 'audit'),
  action: (action: string, values: Readonly<Record<string, string | undefined>>) =>
    withQuery(`/actions/${encodeURIComponent(action)}`, values),
  job: (id: string) => `/jobs/${encodeURIComponent(id)}`,
} as const;
