/** Shows for each change of the shop when it has arrived on the platform, and what it has changed there. */
import { isDeepStrictEqual } from 'node:util';
import type { Parts } from '../composition/parts.js';
import type { JsonObject, JsonValue } from '../domain/values/json.js';
import { quantity } from '../domain/values/quantity.js';
import { logPosition } from '../source/postgres/changes/log-position.js';
import { DEMO_SYNC } from './demo.js';
import { SHOP_TABLES, type ShopChange, type ShopChanges } from './shop-changes.js';

/** Of a transaction that changes very many rows, only so many are looked up. */
const SHOWN = 20;

/** A change that has been seen in the shop, and the record as it was then. */
interface Awaited {
  readonly change: ShopChange;
  readonly before: JsonObject | null;
}

/** Compares what is committed in the shop with what the ledger has delivered. */
export class LiveArrivals {
  readonly #parts: Parts;
  readonly #changes: ShopChanges;
  readonly #say: (line: string) => void;
  #awaited: Awaited[] = [];
  #more: ShopChange[] = [];
  /** How many changes have arrived. */
  shown = 0;

  constructor(parts: Parts, changes: ShopChanges, say: (line: string) => void) {
    this.#parts = parts;
    this.#changes = changes;
    this.#say = say;
  }

  /** Looks once, and says what has arrived since. Returns how many changes are still to arrive. */
  async next(): Promise<number> {
    for (const change of await this.#changes.next())
      if (this.#awaited.length < SHOWN) this.#awaited.push({ change, before: await this.#record(change) });
      else this.#more.push(change);
    if (this.#awaited.length === 0) return 0;
    const hasArrived = await this.#arrival();
    const arrived = this.#awaited.filter(({ change }) => hasArrived(change));
    this.#awaited = this.#awaited.filter((each) => !arrived.includes(each));
    for (const { change, before } of arrived) await this.#show(change, before);
    this.shown += arrived.length;
    const more = this.#more.filter(hasArrived);
    this.#more = this.#more.filter((change) => !more.includes(change));
    if (more.length > 0) this.#say(`  ... and ${quantity(more.length, 'row')} more`);
    return this.#awaited.length + this.#more.length;
  }

  /** A change has arrived once the ledger has it, and no row of its mapping is left to deliver. */
  async #arrival(): Promise<(change: ShopChange) => boolean> {
    const [feed] = await (await this.#parts.ledger()).feeds.ofSync(DEMO_SYNC);
    const until = feed?.position ? logPosition(feed.position.at) : 0n;
    return ({ mapping, position }) =>
      logPosition(position) <= until && feed!.mappings.find((each) => each.mapping === mapping)?.changedRows === 0;
  }

  async #show(change: ShopChange, before: JsonObject | null): Promise<void> {
    const took = ((Date.now() - change.committedAt.getTime()) / 1000).toFixed(1);
    const what = (await this.#refusal(change)) ?? whatChanged(change.kind, before, await this.#record(change));
    const name = `${change.mapping} ${change.externalId}`;
    this.#say(`  ${name.padEnd(22)}  ${what}   (${took} s after the commit)`);
  }

  /** null if it is no dead letter. */
  async #refusal({ mapping, externalId, committedAt }: ShopChange): Promise<string | null> {
    const { deadLetters } = await this.#parts.ledger();
    const since = committedAt.toISOString();
    const found = await deadLetters.page(DEMO_SYNC, { mappings: [mapping], since }, '0', SHOWN);
    const letter = found.find((each) => each.externalId === externalId);
    return letter === undefined ? null : `a dead letter: ${letter.pointer} ${letter.rule}`;
  }

  async #record({ mapping, externalId }: ShopChange): Promise<JsonObject | null> {
    const { schema } = Object.values(SHOP_TABLES).find((table) => table.mapping === mapping)!;
    const tenant = this.#parts.env['PLATFORM_TENANT']!;
    const found = await (await this.#parts.platform()).findResource(schema, externalId, { tenant });
    return found?.result.data ?? null;
  }
}

/** In one line; the values are the demo's own. */
export function whatChanged(kind: ShopChange['kind'], before: JsonObject | null, after: JsonObject | null): string {
  if (after === null) return kind === 'DELETE' ? 'deleted before it was ever sent' : 'not accepted';
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const changed = names.filter((name) => !isDeepStrictEqual(before?.[name], after[name]));
  if (changed.length === 0) return 'the same as before on the platform';
  const fields = changed.map((name) =>
    before === null ? `${name} ${shown(after[name])}` : `${name} ${shown(before[name])} -> ${shown(after[name])}`,
  );
  const is = kind === 'DELETE' ? 'marked as deleted' : before === null ? 'new' : 'changed';
  return `${is}: ${fields.join(', ')}`;
}

const shown = (value: JsonValue | undefined): string =>
  value === undefined || value === null ? 'nothing' : JSON.stringify(value);
