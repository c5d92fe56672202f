/** 4.6: copies library items into a tenant and removes others from it, all in one transaction. */
import { quantity } from '../../domain/values/quantity.js';
import { randomUUID } from 'node:crypto';
import type { LibraryItemResult } from '../../platform/contract/library.js';
import { inTransaction, type Queryable } from '../database.js';
import { automationTemplates } from '../library/automation-templates.js';
import type { LibraryItem, LibraryKind } from '../library/kind.js';
import { segmentDefinitions } from '../library/segment-definitions.js';
import { Refusal } from '../refusal.js';
import type { SandboxSettings } from '../settings.js';
import { findTenant, type Handler } from './handler.js';

type ResultTexts = SandboxSettings['libraryResults'];

/** The kinds of library items, by `library_items.type`. */
const LIBRARY_KINDS: Readonly<Record<string, LibraryKind>> = {
  automation: automationTemplates,
  segment: segmentDefinitions,
};

/** A library item with its kind, a key of {@link LIBRARY_KINDS}. */
interface StoredItem extends LibraryItem {
  readonly type: string;
}

/**
 * Section 4.6. The results follow the order of the request, synced items first; `data` is null if the request lists
 * no item.
 *
 * Refuses with `notFound` for an unknown tenant or item, and `invalid` for an item that is listed under both `sync` and
 * `unsync`. A refusal changes nothing.
 */
export const syncLibrary: Handler<'syncLibrary'> = async ({ params, body }, services) => {
  const tenant = await findTenant(services, params.tenantId);
  const wanted = { sync: idsOf(body.sync), unsync: idsOf(body.unsync) };
  refuseContradictions(wanted.sync, wanted.unsync);
  if (wanted.sync.length + wanted.unsync.length === 0) return { message: 'nothing to do', data: null };

  const { libraryResults } = services.settings;
  const jobId = randomUUID();
  const results = await inTransaction(services.pool, async (db) => {
    await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox library ' || $1, 0))`, [tenant.id]);
    const items = await findItems(db, wanted);
    const done = [
      ...(await syncItems(db, tenant.id, items(wanted.sync), libraryResults)),
      ...(await unsyncItems(db, tenant.id, items(wanted.unsync), libraryResults)),
    ];
    await db.query('insert into sandbox.library_jobs (tenant_id, id, results) values ($1, $2, $3)', [
      tenant.id,
      jobId,
      JSON.stringify(done),
    ]);
    return done;
  });
  return { message: `${quantity(results.length, 'library item')} synced or unsynced`, data: { results, jobId } };
};

/** Each id once, in lower case and in the order of the request. */
const idsOf = (listed: readonly { id: string }[] = []): string[] => [
  ...new Set(listed.map(({ id }) => id.toLowerCase())),
];

/** Refuses a request that both syncs and unsyncs an item, since the outcome would depend on the order. */
function refuseContradictions(sync: readonly string[], unsync: readonly string[]): void {
  const unwanted = new Set(unsync);
  const both = sync.filter((id) => unwanted.has(id));
  if (both.length > 0)
    throw new Refusal(
      'invalid',
      'an item can be synced or unsynced, not both; nothing was changed',
      both.map((id) => `body/sync and body/unsync both list ${id}`),
    );
}

/**
 * Loads all items with one query; returns a function that picks some of them, in the order of their ids. Refuses
 * unknown ids.
 */
async function findItems(
  db: Queryable,
  wanted: Readonly<Record<'sync' | 'unsync', readonly string[]>>,
): Promise<(ids: readonly string[]) => StoredItem[]> {
  const { rows } = await db.query<StoredItem>(
    'select id, type, content from sandbox.library_items where id = any($1)',
    [[...wanted.sync, ...wanted.unsync]],
  );
  const items = new Map(rows.map((row) => [row.id, row]));
  const unknown = Object.entries(wanted).flatMap(([list, ids]) =>
    ids.filter((id) => !items.has(id)).map((id) => `body/${list}: no library item has the id ${id}`),
  );
  if (unknown.length > 0)
    throw new Refusal('notFound', 'some items are not in the library; nothing was changed', unknown);
  return (ids) => ids.map((id) => items.get(id)!);
}

/** Copies the items, kind by kind; a conflict shows in the item's status and does not stop the others. */
async function syncItems(
  db: Queryable,
  tenantId: string,
  items: readonly StoredItem[],
  texts: ResultTexts,
): Promise<LibraryItemResult[]> {
  const conflicting = new Set<string>();
  for (const [type, kind] of Object.entries(LIBRARY_KINDS))
    for (const id of (await kind.sync(db, tenantId, ofType(items, type))).conflicting) conflicting.add(id);
  return items.map(({ id, type }) => ({
    type: typeText(type, texts),
    id,
    action: 'sync',
    status: conflicting.has(id) ? texts.conflict : 'synced',
  }));
}

async function unsyncItems(
  db: Queryable,
  tenantId: string,
  items: readonly StoredItem[],
  texts: ResultTexts,
): Promise<LibraryItemResult[]> {
  for (const [type, kind] of Object.entries(LIBRARY_KINDS))
    await kind.unsync(
      db,
      tenantId,
      ofType(items, type).map(({ id }) => id),
    );
  return items.map(({ id, type }) => ({
    type: typeText(type, texts),
    id,
    action: 'unsync',
    status: texts.unsynced,
  }));
}

/** The text for an item's type in the results; section 4.6 shows only `automation`. */
const typeText = (type: string, texts: ResultTexts): string => (type === 'segment' ? texts.segment : type);

const ofType = (items: readonly StoredItem[], type: string): StoredItem[] => items.filter((item) => item.type === type);
