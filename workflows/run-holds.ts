/** Mappings that a run holds because of its sync's guard, and the Update `approve` that lets it go on. */
import { ApplicationFailure, condition, defineUpdate, setHandler } from '@temporalio/workflow';
import { formatSeconds } from '../src/domain/values/duration.js';
import { getOrInsert } from '../src/domain/values/get-or-insert.js';
import { holdLine, type Hold, type HoldCause } from '../src/domain/sync/guard.js';
import type { HoldUntil } from '../src/domain/run/run.js';
import { checkApproveInput, type ApproveInput, UpdateRefused } from '../src/domain/run/run-controls.js';
import type { Approval, OpenedRun } from '../src/domain/run/work.js';
import { approveHold } from './activities.js';
import { updateActor } from './run-controls.js';

const approveUpdate = defineUpdate<string, [ApproveInput?]>('approve');

/** What approval has to do with one mapping. */
interface MappingHolds {
  /** What the run is on hold for now. */
  hold: HoldUntil | null;
  /** Who has approved that, until the wait is over. */
  approval: Approval | null;
  /** Its time slices wait together. */
  wait: Promise<boolean> | null;
  /** The causes that were approved. A time slice that began before may still report one of them, which is ignored. */
  readonly approved: Set<HoldCause>;
  /** Whether nobody has approved its removals in time: the run does not wait for them again. */
  removalsNotApproved: boolean;
}

/** Handles the Update from its construction on. */
export class RunHolds {
  readonly #changed: () => void;
  readonly #mappings = new Map<string, MappingHolds>();

  /** `changed` is called when a hold has begun or ended. */
  constructor(changed: () => void) {
    this.#changed = changed;
    setHandler(
      approveUpdate,
      (input?: ApproveInput) => {
        const approved = this.#named(input);
        const given = input ?? {};
        const approval = { actor: updateActor(given), reason: given.reason ?? null };
        for (const { mapping } of approved) this.#of(mapping).approval = approval;
        return `approved, the run goes on: ${approved.map(holdLine).join('; ')}`;
      },
      {
        description: 'Approves what the run is on hold for. Input: nothing, or {"mappings":["..."],"reason":"..."}',
        validator: (input?: ApproveInput) => {
          checkApproveInput(input);
          const onHold = this.list.map(({ mapping }) => mapping);
          if (onHold.length === 0) throw new UpdateRefused('approve: the run is not on hold');
          const others = (input?.mappings ?? []).filter((mapping) => !onHold.includes(mapping));
          if (others.length > 0)
            throw new UpdateRefused(`approve: not on hold: ${others.join(', ')}; on hold: ${onHold.join(', ')}`);
          for (const { mapping, until } of input?.shown ?? []) {
            const now = this.list.find((hold) => hold.mapping === mapping);
            if (now?.until !== until)
              throw new UpdateRefused(
                `approve: what was shown of ${mapping} is over; ${now === undefined ? 'it is not on hold now' : `by now it is on hold: ${holdLine(now)}`}`,
              );
          }
        },
      },
    );
  }

  /** What the run is on hold for now. */
  get list(): readonly HoldUntil[] {
    return [...this.#mappings.values()].flatMap(({ hold }) => hold ?? []);
  }

  /** Mappings whose removals nobody has approved in time, for the next execution. */
  get notApproved(): readonly string[] {
    return [...this.#mappings].flatMap(([mapping, { removalsNotApproved }]) => (removalsNotApproved ? [mapping] : []));
  }

  /** Takes over what the execution before has waited for in vain. */
  continueFrom(notApproved: readonly string[]): void {
    for (const mapping of notApproved) this.#of(mapping).removalsNotApproved = true;
  }

  /**
   * Waits until a person approves, for as long as the sync allows; time slices of one mapping wait together. Returns whether
   * somebody has, and fails with `guard_exceeded` if that must have happened for the run to go on.
   */
  async untilApproved(run: OpenedRun, hold: Hold): Promise<boolean> {
    const { mapping, cause } = hold;
    const holds = this.#of(mapping);
    if (holds.approved.has(cause)) return true;
    if (cause === 'gone' && holds.removalsNotApproved) return false;
    const isApproved = await (holds.wait ??= this.#wait(run, hold, holds));
    if (isApproved) return true;
    if (cause !== 'gone')
      throw ApplicationFailure.nonRetryable(
        `${holdLine(hold)}; nobody approved it within ${formatSeconds(run.guardWait ?? 0)}`,
        'guard_exceeded',
      );
    // A plan of removals can be approved later, and hurts nobody until then.
    holds.removalsNotApproved = true;
    return false;
  }

  async #wait({ runId, sync, guardWait }: OpenedRun, hold: Hold, holds: MappingHolds): Promise<boolean> {
    const { mapping, cause } = hold;
    const milliseconds = (guardWait ?? 0) * 1000;
    holds.hold = { ...hold, until: new Date(Date.now() + milliseconds).toISOString() };
    this.#changed();
    try {
      const isApproved = await condition(() => holds.approval !== null, milliseconds);
      if (isApproved) {
        await approveHold({ runId, sync, mapping, cause, ...holds.approval! });
        holds.approved.add(cause);
      }
      return isApproved;
    } finally {
      holds.hold = holds.approval = holds.wait = null;
      this.#changed();
    }
  }

  #of(mapping: string): MappingHolds {
    return getOrInsert(this.#mappings, mapping, () => ({
      hold: null,
      approval: null,
      wait: null,
      approved: new Set<HoldCause>(),
      removalsNotApproved: false,
    }));
  }

  #named(input: ApproveInput | undefined): readonly HoldUntil[] {
    const { mappings } = input ?? {};
    return this.list.filter(({ mapping }) => mappings === undefined || mappings.includes(mapping));
  }
}
