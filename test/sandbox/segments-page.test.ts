/** docs/segments.md describes the language: every example in it is interpreted, every table compared with the code. */
import { describe, expect, it } from 'vitest';
import { Ajv } from 'ajv';
import { DEFAULT_SETTINGS } from '../../src/sandbox/settings.js';
import { ConditionGroups, conditionProblems, type ConditionGroup } from '../../src/sandbox/segments/condition.js';
import { FORMS } from '../../src/sandbox/segments/grammar.js';
import { OPERATORS } from '../../src/sandbox/segments/operators.js';
import { interpretText } from '../../src/sandbox/segments/interpret-text.js';
import { readPage, sectionOf, tableIn, withoutTicks } from '../docs/pages.js';
import { RETAIL } from './retail-definitions.js';

const page = readPage('docs/segments.md');
const interpret = (text: string) => interpretText({ text, userCustomVerb: 'customer' }, RETAIL);
const forms = tableIn(sectionOf(page, 'Conditions'));
const tests = tableIn(sectionOf(page, 'Tests'));
const joined = tableIn(sectionOf(page, 'Joining conditions'));
const examples = [...forms.map((row) => row[1]!), ...tests.map((row) => row[2]!), ...joined.map((row) => row[0]!)];

describe('the page about segments', () => {
  it('has the forms of conditions and the phrases of operators', () => {
    expect(forms.map(([form]) => withoutTicks(form!))).toEqual(Object.values(FORMS));
    expect(tests.map(([operator, phrase]) => [withoutTicks(operator!), withoutTicks(phrase!)])).toEqual(
      Object.entries(OPERATORS).map(([operator, { phrase }]) => [operator, phrase]),
    );
  });

  it.each(examples)('shows what is understood, and so is its description: %s', (text) => {
    const segment = interpret(text);
    if (!segment.success) throw new Error(segment.failureReason);
    expect(interpret(segment.description)).toEqual(segment);
  });

  it.each(tests)('shows a test with the operator %s', (operator, _phrase, example) => {
    const segment = interpret(example);
    const conditions = segment.success ? segment.conditionGroups.flatMap((group) => group.conditions) : [];
    const used = conditions.flatMap((one) => [one, ...(one.type === 'records' ? one.where : [])]);
    expect(used.map((test) => test.operator)).toContain(withoutTicks(operator));
  });

  it.each(joined)('shows what a text means: %s', (text, meaning) => {
    expect(interpret(text)).toMatchObject({ success: true, description: meaning });
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

  it('lists the names of the fields of recipients', () => {
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
