/** 4.2: from a description in English to the conditions of a segment, or to the words that were not understood. */
import type { Condition, ConditionGroup } from './condition.js';
import { describeCondition, describeSegment, inOrder, type Words } from './describe.js';
import { groupsOf, readText } from './expression.js';
import type { Draft } from './grammar.js';
import { failureReason } from './failure-reason.js';
import { Reader } from './reader.js';
import { DEFAULT_SETTINGS, type SandboxSettings } from '../settings.js';
import type { Definition } from './record-paths.js';
import { nounsOf, vocabularyOf, type Vocabulary } from './vocabulary.js';
import { tokenize } from './tokens.js';
import { singular } from './word-forms.js';

export type Interpretation =
  | ({ readonly success: true; readonly conditionGroups: ConditionGroup[] } & Words)
  | { readonly success: false; readonly failureReason: string };

export interface Request {
  readonly text: string;
  /** The word for people; "customer" say, in a text's and a title's words. Section 4.2: `user` when it is left out. */
  readonly userCustomVerb: string;
}

type Rules = Pick<SandboxSettings, 'longest' | 'contactCategories' | 'contactFields'>;

/** `definitions`: of the tenant's platform, oldest first. `now` is what dates without a year are relative to. */
export function textToSegment(
  { text, userCustomVerb }: Request,
  definitions: readonly Definition[],
  now: Date,
  { longest, contactCategories, contactFields }: Rules = DEFAULT_SETTINGS,
): Interpretation {
  if (text.length > longest.segmentText)
    return failure(`the text has ${text.length} characters; at most ${longest.segmentText} are read`);
  const people = peopleIn(
    text,
    definitions.filter(({ category }) => contactCategories.some((known) => known === category)),
  );
  if (people === undefined)
    return failure(
      `there are no people to choose from: no schema definition has the category ${contactCategories.join(' or ')}`,
    );
  const vocabulary = vocabularyOf(people, definitions, userCustomVerb.trim().toLowerCase() || 'user', contactFields);
  const reader = new Reader(text);
  if (reader.done) return failure('the text has no words');
  const expression = readText({ reader, vocabulary, now });
  if (reader.problems.length > 0) return failure(failureReason(reader, vocabulary));
  const groups = groupsOf(expression);
  if (groups === undefined) return failure('the text has too many alternatives; describe a simpler segment');
  const conditionGroups = distinct(groups.map((group) => groupOf(group, vocabulary)));
  return { success: true, conditionGroups, ...describeSegment(conditionGroups, vocabulary) };
}

const failure = (failureReason: string): Interpretation => ({ success: false, failureReason });

/** The people that the text names by their schema's name; else those of the oldest definition of people. */
function peopleIn(text: string, people: readonly Definition[]): Definition | undefined {
  const words = ` ${tokenize(text)
    .map((token) => singular(token.text))
    .join(' ')} `;
  return (
    people.find((definition) => nounsOf(definition).some((noun) => words.includes(` ${noun.join(' ')} `))) ?? people[0]
  );
}

function groupOf(drafts: readonly Draft[], vocabulary: Vocabulary): ConditionGroup {
  const conditions = distinct(drafts.map((draft) => inOrder(draft, vocabulary))).map((draft): Condition => ({
    ...draft,
    description: describeCondition(draft, vocabulary),
  }));
  return {
    type: 'group',
    description: conditions.map(({ description }) => description).join(' or '),
    logic: conditions.length > 1 ? 'or' : 'and',
    conditions,
  };
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
