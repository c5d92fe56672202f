/** Families whose parents come late or leave early: what the platform keeps, rejects or is asked for until then. */
import type { Chronicle } from './chronicle.js';
import type { Kernel } from './kernel.js';
import type { Plan } from './plan.js';
import type { Random } from './random.js';
import type { Change, Row, SourceModel } from './source-model.js';

/** For a plan in which orders are moved and then left alone: no row leaves its tenant or disappears, and each can be delivered. */
export const ONLY_CHANGES = { deletes: false, moves: false, badRows: false, orphans: false } as const;

/** What happens elsewhere in the story when a family changes, and what is known there. */
export interface FamilyHooks {
  /** Called when a customer has come after its orders. */
  readonly whenParentCame: (id: string) => void;
  /** Called when an order has got back what it had, for a while. */
  readonly whenMovedBack: (no: string) => void;
  /** Whether the platform has a row as it is. */
  readonly isDelivered: (table: string, row: Row) => boolean;
}

export interface FamiliesOptions extends FamilyHooks {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly plan: Plan;
  readonly source: SourceModel;
  readonly chronicle: Chronicle;
  /** A row with new content. */
  readonly change: (table: string, shop: string, columns: Record<string, string>, at: string) => Change;
  /** The row with what it had earlier. */
  readonly revert: (table: string, row: Row, earlier: Row, at: string) => Change;
  /** Whether nothing is to change any more. */
  readonly isStopped: () => boolean;
}

export class Families {
  readonly #o: FamiliesOptions;
  #briefChildren = 0;
  #briefParents = 0;
  #awaited = 0;
  /** The orders that were moved to another customer. */
  readonly #moved = new Set<string>();
  /** How many customers have come after their orders, by shop. */
  readonly #lateParents = new Map<string, number>();

  constructor(options: FamiliesOptions) {
    this.#o = options;
  }

  /** What one of the stories that this plan tells does next; null if that is nothing. */
  changes(shop: string, at: string): Change[] | null {
    const { random, plan } = this.#o;
    const { briefChildren, briefParents, awaitedParents } = plan.writer;
    if (briefChildren && this.#briefChildren < 20 && random.chance(0.2)) return [this.#briefChild(shop, at)];
    if (briefParents && this.#briefParents < 30 && random.chance(0.4)) return this.#briefParent(shop, at);
    return awaitedParents && this.#awaited < 40 && random.chance(0.3) ? this.moveAndBack(at) : null;
  }

  /** Whether nothing else may change the row, since a later change would cover what became of it. */
  isLeftAlone(table: string, key: string): boolean {
    return table === 'orders' && this.#moved.has(key);
  }

  /** How many customers of a shop have come after their orders. */
  lateParents(shop: string): number {
    return this.#lateParents.get(shop) ?? 0;
  }

  /**
   * One of two orders that change again and again until their customer comes, and then hardly any more. Where a feed tells it, some
   * are deleted before the customer comes.
   */
  orderOf(id: string, shop: string, at: string): Change {
    const { kernel, random, plan, change } = this.#o;
    const lives = random.next() * 20_000;
    kernel.after(lives, () => this.#customerComes(id, shop), null);
    if (plan.settings.isFed && random.chance(0.2))
      kernel.after(lives * random.next(), () => this.#deleteOrdersOf(id, shop), null);
    return change('orders', shop, { no: `${id}-${random.between(1, 2)}`, customer_id: id }, at);
  }

  #customerComes(id: string, shop: string): void {
    const { source, chronicle, change, isStopped, whenParentCame } = this.#o;
    if (isStopped() || source.rows('customers').has(`${shop}/${id}`)) return;
    chronicle.saw('a parent came after its child');
    this.#lateParents.set(shop, this.lateParents(shop) + 1);
    source.transact(0, (later) => [change('customers', shop, { id }, later)]);
    whenParentCame(id);
  }

  #deleteOrdersOf(id: string, shop: string): void {
    const { source, chronicle, isStopped } = this.#o;
    if (isStopped() || source.rows('customers').has(`${shop}/${id}`)) return;
    const orders = [`${shop}/${id}-1`, `${shop}/${id}-2`].filter((key) => source.rows('orders').has(key));
    if (orders.length === 0) return;
    chronicle.saw('a row was deleted before its parent came');
    source.transact(0, () => orders.map((key) => ({ table: 'orders', key, row: null })));
  }

  /** An order that is deleted again some seconds before its customer comes. */
  #briefChild(shop: string, at: string): Change {
    const { kernel, random, plan, source, chronicle, change, isStopped } = this.#o;
    const id = `brief-child-${++this.#briefChildren}`;
    const order = change('orders', shop, { no: id, customer_id: id }, at);
    const after = (milliseconds: number, changes: (later: string) => Change[]): void => {
      const transact = () => isStopped() || source.transact(0, changes);
      kernel.after(milliseconds, transact, null);
    };
    // A worker that dies is missed some seconds later.
    const turnsBad = plan.writer.badChildren && random.chance(0.7);
    const lives = turnsBad ? random.between(18_000, 30_000) : random.between(4000, 12_000);
    if (turnsBad)
      after(lives - random.between(2000, 6000), (later) => [
        { ...order, row: { ...order.row!, name: ' '.repeat(80), updated_at: later } },
      ]);
    after(lives, () => {
      chronicle.saw('a row was deleted before its parent came');
      return [{ ...order, row: null }];
    });
    after(lives + random.between(3000, 15_000), (later) => [change('customers', shop, { id }, later)]);
    return order;
  }

  /** An order that stays, with a customer that is gone some seconds later. */
  #briefParent(shop: string, at: string): Change[] {
    const { kernel, random, source, chronicle, change } = this.#o;
    // The newest is read first: a run that has looked up a parent once counts as one that reads customers.
    const id = `000-brief-${99 - ++this.#briefParents}`;
    chronicle.saw('a parent was deleted soon after it had come');
    const customer = change('customers', shop, { id }, at);
    const leaves = (): void => source.transact(0, () => [{ ...customer, row: null }]);
    kernel.after(random.next() * random.pick([500, 3000, 8000]), leaves, null);
    return [customer, change('orders', shop, { no: id, customer_id: id }, at)];
  }

  /**
   * An order is now that of another customer, which comes some seconds later; before, it gets back what it had. `again`: and then
   * once more what it has now. Afterwards it is left alone. Null if there is no order that the platform has as it is.
   */
  moveAndBack(at: string, again = false): Change[] | null {
    const { kernel, random, source, chronicle, change, revert, whenParentCame, whenMovedBack } = this.#o;
    const order = this.#orderToMove();
    if (order === null) return null;
    const [shop, no] = [order['shop']!, order['no']!];
    const key = `${shop}/${no}`;
    const id = `awaited-${++this.#awaited}`;
    chronicle.saw('a row was moved to a parent that came later, and back');
    this.#moved.add(key);
    const moved = change('orders', shop, { no, customer_id: id }, at);
    const after = (milliseconds: number, changes: (later: string) => Change[]): void =>
      void kernel.after(milliseconds, () => source.transact(0, changes), null);
    const becomes =
      (earlier: Row) =>
      (later: string): Change[] => [revert('orders', source.rows('orders').get(key)!, earlier, later)];
    const back = random.between(500, 4000);
    const backAgain = again ? back + random.between(500, 3000) : back;
    after(back, (later) => {
      if (again) whenMovedBack(no);
      return becomes(order)(later);
    });
    if (again) after(backAgain, becomes(moved.row!));
    after(backAgain + (again ? random.between(1000, 8000) : random.between(-400, 5000)), (later) => {
      whenParentCame(id);
      return [change('customers', shop, { id }, later)];
    });
    return [moved];
  }

  /** An order that was not moved yet, whose customer is there, and which the platform has as it is. */
  #orderToMove(): Row | null {
    const { random, source, isDelivered } = this.#o;
    const orders = [...source.rows('orders')].filter(
      ([key, row]) =>
        !key.includes('/brief-') &&
        !this.#moved.has(key) &&
        source.rows('customers').has(`${row['shop']}/${row['customer_id']}`) &&
        isDelivered('orders', row),
    );
    return orders.length === 0 ? null : random.pick(orders)[1];
  }
}
