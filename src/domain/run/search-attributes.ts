/** The search attributes of runs, by which Temporal's Web UI and CLI find them. */

/** How a run was started. */
export const RUN_TRIGGERS = ['schedule', 'cli', 'other'] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** What is searchable of a run. Values come from files, inputs and counts, never from rows. */
export interface SearchableRun {
  readonly sync: string;
  readonly mode: string;
  readonly trigger: RunTrigger;
  /** `running`, `awaiting_approval`, an outcome of the report, `failed` or `stopped`. */
  readonly outcome: string;
  /** Records that are waiting: those that this run counts, and those that its mappings have not delivered before. */
  readonly waiting: number;
  readonly deadLetters: number;
}

/** An attribute, in the form of the SDK's keys. */
interface AttributeKey {
  readonly name: string;
  readonly type: 'KEYWORD' | 'INT';
}

/** An attribute and its value, in the form that the SDK's workflows and clients take. */
export type SearchAttributeValue =
  | { readonly key: { readonly name: string; readonly type: 'KEYWORD' }; readonly value: string }
  | { readonly key: { readonly name: string; readonly type: 'INT' }; readonly value: number };

const ATTRIBUTES: Readonly<Record<keyof SearchableRun, AttributeKey>> = {
  sync: { name: 'PartnerSyncName', type: 'KEYWORD' },
  mode: { name: 'PartnerSyncMode', type: 'KEYWORD' },
  outcome: { name: 'PartnerSyncOutcome', type: 'KEYWORD' },
  trigger: { name: 'PartnerSyncTrigger', type: 'KEYWORD' },
  waiting: { name: 'PartnerSyncWaiting', type: 'INT' },
  deadLetters: { name: 'PartnerSyncDeadLetters', type: 'INT' },
};

/** The types of the attributes by name, in the words of Temporal's commands. */
export const SEARCH_ATTRIBUTES: Readonly<Record<string, 'Keyword' | 'Int'>> = Object.fromEntries(
  Object.values(ATTRIBUTES).map(({ name, type }) => [name, type === 'INT' ? 'Int' : 'Keyword']),
);

/**
 * The values of the attributes that the namespace has. Setting one that it does not have would fail the workflow's task
 * for ever.
 */
export function searchAttributesOf(run: Partial<SearchableRun>, registered: readonly string[]): SearchAttributeValue[] {
  return (Object.entries(ATTRIBUTES) as [keyof SearchableRun, AttributeKey][]).flatMap(([field, key]) => {
    const value = run[field];
    return value === undefined || !registered.includes(key.name) ? [] : [{ key, value } as SearchAttributeValue];
  });
}
