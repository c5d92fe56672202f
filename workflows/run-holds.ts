/** Mappings that a run holds because of its sync's guard, and the Update `approve` that lets it go on. */
import { ApplicationFailure, condition, defineUpdate, setHandler } from '@temporalio/workflow';
import { formatSeconds } from '../src/domain/duration.js';
import { getOrInsert } from '../src/domain/get-or-insert.js';
import { holdLine, type Hold } from '../src/domain/guard.js';
import type { HoldUntil } from '../src/domain/run.js';
import { checkApproveInput, type ApproveInput, UpdateRefused } from '../src/domain/run-controls.js';
import type { Approval, OpenedRun } from '../src/domain/work.js';
import { approveHold } from './activities.js';
import { updateActor } from './run-controls.js';

const approveUpdate = defineUpdate<string, [ApproveInput?]>('approve');

/** Handles the Update from its construction on. */
export class RunHolds {
  readonly #changed: () => void;
  readonly #holds = new Map<string, HoldUntil>();
  /** Mappings that a person has approved and whose wait is not over yet, with who has. */
  readonly #approvals = new Map<string, Approval>();
  readonly #waits = new Map<string, Promise<boolean>>();
  /** Mappings in which the run may go beyond the limits; what a time slice that began before has found is out of date. */
  readonly #approved = new Set<string>();
  /** Mappings whose removals nobody has approved in time: the run does not wait for them again. */
  readonly #notApproved = new Set<string>();

  /** `changed` is called when a hold has begun or ended. */
  constructor(changed: () => void) {
    this.#changed = changed;
    setHandler(
      approveUpdate,
      (input?: ApproveInput) => {
        const approved = this.#named(input);
        const given = input ?? {};
        const approval = { actor: updateActor(given), reason: given.reason ?? null };
        for (const { mapping } of approved) this.#approvals.set(mapping, approval);
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
        },
      },
    );
  }

  /** What the run is on hold for now. */
  get list(): readonly HoldUntil[] {
    return [...this.#holds.values()];
  }

  /** Mappings whose removals nobody has approved in time, for the next execution. */
  get notApproved(): readonly string[] {
    return [...this.#notApproved];
  }

  /** Takes over what the execution before has waited for in vain. */
  continueFrom(notApproved: readonly string[]): void {
    for (const mapping of notApproved) this.#notApproved.add(mapping);
  }

  /**
   * Waits until a person approves, for as long as the sync allows; time slices of one mapping wait together. Returns whether
   * somebody has, and fails with `guard_exceeded` if that must have happened for the run to go on.
   */
  async untilApproved(run: OpenedRun, hold: Hold): Promise<boolean> {
    const { mapping } = hold;
    if (hold.cause !== 'gone' && this.#approved.has(mapping)) return true;
    if (hold.cause === 'gone' && this.#notApproved.has(mapping)) return false;
    const isApproved = await getOrInsert(this.#waits, mapping, () => this.#wait(run, hold));
    this.#waits.delete(mapping);
    if (isApproved) return true;
    if (hold.cause !== 'gone')
      throw ApplicationFailure.nonRetryable(
        `${holdLine(hold)}; nobody approved it within ${formatSeconds(run.guardWait ?? 0)}`,
        'guard_exceeded',
      );
    // A plan of removals can be approved later, and hurts nobody until then.
    this.#notApproved.add(mapping);
    return false;
  }

  async #wait({ runId, sync, guardWait }: OpenedRun, hold: Hold): Promise<boolean> {
    const { mapping } = hold;
    const milliseconds = (guardWait ?? 0) * 1000;
    this.#holds.set(mapping, { ...hold, until: new Date(Date.now() + milliseconds).toISOString() });
    this.#changed();
    try {
      const isApproved = await condition(() => this.#approvals.has(mapping), milliseconds);
      if (isApproved) await approveHold({ runId, sync, mapping, ...this.#approvals.get(mapping)! });
      if (isApproved && hold.cause !== 'gone') this.#approved.add(mapping);
      return isApproved;
    } finally {
      this.#holds.delete(mapping);
      this.#approvals.delete(mapping);
      this.#changed();
    }
  }

  #named(input: ApproveInput | undefined): readonly HoldUntil[] {
    const { mappings } = input ?? {};
    return this.list.filter(({ mapping }) => mappings === undefined || mappings.includes(mapping));
  }
}
