/** docs/segments.md is the language: every example in it is interpreted, every table held against the code. */
import { describe, expect, it } from 'vitest';
import { Ajv } from 'ajv';
import { DEFAULT_SETTINGS } from '../../src/sandbox/settings.js';
import { ConditionGroups, conditionProblems, type ConditionGroup } from '../../src/sandbox/segments/condition.js';
import { OPERATORS } from '../../src/sandbox/segments/operators.js';
import { textToSegment } from '../../src/sandbox/segments/text-to-segment.js';
import { readPage, sectionOf, tableIn, withoutTicks } from '../docs/pages.js';
import { RETAIL, RETAIL_NOW } from './retail-definitions.js';

const page = readPage('docs/segments.md');
const interpret = (text: string) => textToSegment({ text, userCustomVerb: 'customer' }, RETAIL, RETAIL_NOW);
const examples = ['People and their fields', 'Records and amounts', 'Times', 'Joining conditions'].flatMap((heading) =>
  tableIn(sectionOf(page, heading)).map(([text, meaning]) => ({ text: text!, meaning: meaning! })),
);

describe('the page about segments', () => {
  it('has examples in each of its sections', () => expect(examples.length).toBeGreaterThan(30));

  it.each(examples)('shows what a text means: $text', ({ text, meaning }) => {
    const segment = interpret(text);
    expect(segment).toMatchObject({ success: true, description: meaning });
    expect(interpret(meaning), 'the description, read again').toEqual(segment);
  });

  it.each(tableIn(sectionOf(page, 'What is not understood')))('shows what is not understood: %s', (text, reason) => {
    expect(interpret(text)).toEqual({ success: false, failureReason: expect.stringContaining(reason) as string });
  });

  it('shows the condition structure that a text gives', () => {
    const shown = JSON.parse(/```json condition-groups\n([\s\S]*?)```/.exec(page.text)![1]!) as ConditionGroup[];
    expect(interpret('customers in France who spent over 100 in the last 30 days')).toMatchObject({
      success: true,
      conditionGroups: shown,
    });
    expect(new Ajv().validate(ConditionGroups, shown)).toBe(true);
    expect(conditionProblems(shown)).toEqual([]);
  });

  it('lists the operators', () => {
    const rows = tableIn(sectionOf(page, 'Condition structures'));
    expect(rows.map(([operator]) => withoutTicks(operator!))).toEqual(Object.keys(OPERATORS));
  });

  it('lists the names by which the fields of recipients are known', () => {
    const names = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    const rows = new Map(
      tableIn(sectionOf(page, 'Counting')).map(([field, list]) => [withoutTicks(field!), names(list!)]),
    );
    const { emailOptOut, emailOptIn, smsOptOut, smsOptIn, ...others } = DEFAULT_SETTINGS.contactFields;
    expect(Object.fromEntries(rows)).toEqual({
      ...others,
      emailOptedOut: [...emailOptOut, ...emailOptIn],
      smsOptedOut: [...smsOptOut, ...smsOptIn],
    });
  });
});
