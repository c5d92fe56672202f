/** Converts an English description to the conditions of a segment, or says why it cannot (4.2). */
import type { Node } from 'ohm-js';
import { DEFAULT_SETTINGS, type SandboxSettings } from '../settings.js';
import type { ConditionGroup, Draft } from './condition.js';
import { describeCondition, describeSegment } from './describe.js';
import { FORMS, SEGMENTS } from './grammar.js';
import { actionsFor, Meaningless, read } from './meaning.js';
import { OPERATORS } from './operators.js';
import { nounsOf, vocabularyOf, wordsOf, type Definition, type Vocabulary } from './vocabulary.js';

/** The response of 4.2. */
export type Interpretation =
  | { success: true; conditionGroups: ConditionGroup[]; title: string; description: string }
  | { success: false; failureReason: string };

/**
 * Converts a text against the platform account's schema definitions, oldest first. Never throws for a text: whatever is
 * not understood, or is too long, becomes a `failureReason`.
 */
export function interpretText(
  { text, userCustomVerb }: { text: string; userCustomVerb: string },
  definitions: readonly Definition[],
  { longest, contactCategories }: Pick<SandboxSettings, 'longest' | 'contactCategories'> = DEFAULT_SETTINGS,
): Interpretation {
  if (text.length > longest.segmentText)
    return failure(`the text has ${text.length} characters; at most ${longest.segmentText} are read`);
  const people = definitions.filter(({ category }) => contactCategories.some((known) => known === category));
  const words = ` ${wordsOf(text)} `;
  const isNamed = (one: Definition) => nounsOf(one).some((noun) => words.includes(` ${noun} `));
  const definition = people.find(isNamed) ?? people[0];
  if (definition === undefined)
    return failure(`there are no people: no schema definition has the category ${contactCategories.join(' or ')}`);
  if (words.trim() === '') return failure('the text has no words');
  const vocabulary = vocabularyOf(definition, definitions, userCustomVerb);
  const groups = groupsOf(text.trim(), vocabulary);
  if (typeof groups === 'string') return failure(`${groups}; ${whatCanBeSaid(vocabulary)}`);
  const conditionGroups = groups.map((group) => groupOf(group, vocabulary));
  return { success: true, conditionGroups, ...describeSegment(conditionGroups, vocabulary.people.many) };
}

const failure = (failureReason: string): Interpretation => ({ success: false, failureReason });

/** Groups that must all hold, each of alternatives of which one must; or why the text states none. */
function groupsOf(text: string, vocabulary: Vocabulary): Draft[][] | string {
  const parsed = SEGMENTS.match(text);
  if (parsed.failed()) {
    const lastWord = /\S*$/.exec(text.slice(0, parsed.getRightmostFailurePosition()))!.index;
    return `not understood from "${text.slice(lastWord)}" on`;
  }
  const meaning = SEGMENTS.createSemantics().addOperation<unknown>('meaning', actionsFor(vocabulary));
  try {
    return read<Draft[][]>(meaning(parsed) as unknown as Node);
  } catch (error) {
    // Ohm does not wrap errors that actions throw.
    if (error instanceof Meaningless) return error.message;
    throw error;
  }
}

/** The forms of the language, and the names of the tenant's fields and records. */
function whatCanBeSaid({ people, records }: Vocabulary): string {
  const phrases = Object.values(OPERATORS).map(({ phrase }) => phrase);
  const fields = [people, ...records].map(
    (kind) => `${kind.many} have ${kind.fields.map(({ name }) => `"${name}"`).join(', ') || 'no fields'}`,
  );
  const forms = `conditions are: ${Object.values(FORMS).join(', ')}; a {Test}: ${phrases.join(', ')}`;
  return [forms, '{Texts}: words with a capital, or anything in quotes', ...fields].join('; ');
}

function groupOf(drafts: readonly Draft[], vocabulary: Vocabulary): ConditionGroup {
  const conditions = drafts.map((draft) => ({ ...draft, description: describeCondition(draft, vocabulary) }));
  return {
    type: 'group',
    description: conditions.map(({ description }) => description).join(' or '),
    logic: conditions.length > 1 ? 'or' : 'and',
    conditions,
  };
}
