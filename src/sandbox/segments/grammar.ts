/** The grammar of segment descriptions, for the parser generator Ohm. Forms and phrases of operators are rules of it. */
import { createRequire } from 'node:module';
import type * as Ohm from 'ohm-js';
import { MEASURES } from './condition.js';
import { OPERATOR_NAMES, OPERATORS, type FieldKind } from './operators.js';
import { UNITS } from './operator-values.js';

const { grammar } = createRequire(import.meta.url)('#third-party/ohm.cjs') as typeof Ohm;

/** The forms of conditions by the name of their rule. The words in braces are rules too. */
export const FORMS = {
  Place: 'in {Texts}',
  Tested: 'whose {Field} {Test}',
  Present: 'with a {Field}',
  Counted: 'with {Amount} {Records} {Narrowing}',
  None: 'with no {Records} {Narrowing}',
  Spent: 'who spent {Amount} {Narrowing}',
  Measured: 'whose {Measure} {Field} of {Records} {Test} {Narrowing}',
};

const RULES = String.raw`
  Text = People? Groups? "."?
  People = 'all'? Noun
  Noun = (~reserved word)+
  Groups = Alternatives           -- one
         | Group ('and'? Group)*  -- all
  Group = "(" Alternatives ")"  -- brackets
        | Form                  -- alone
  Alternatives = Form ('or' Form)+
  Narrowing = Period? Where?
  Where = 'where' Said ('and' Said)*
  Said = Field Test

  With = 'who' 'have'       -- who
       | ('with' | 'have')  -- alone
  A = 'an' | 'a'
  Texts = Value ('or' Value)*
  Value = quoted | truth | plain
  truth = 'true' | 'false'
  quoted = "\"" (~"\"" any)+ "\""
  // A word in lower case may be one that is not known, so it is a value only in quotes.
  plain = ~(reserved | lower) word
  word = alnum+ (("." | "@" | "'" | "’" | "-" | "_") alnum+)*
  reserved = 'and' | 'or' | 'not' | 'in' | 'with' | 'who' | 'whose' | 'where' | 'have'
  Field = Name
  Records = Name
  Name = quoted | PlainName
  PlainName = (~(reserved | Period | 'of' | 'is' | 'does' | 'contains' | 'starts' | 'ends') word)+
  Number = number
  number = "-"? digit+ ("." digit+)? ~(alnum | "-")
  Day = day
  day = digit digit digit digit "-" digit digit "-" digit digit ~alnum
  Span = Number Unit

  whole<text> = text ~alnum`;

/** The body of a rule that matches a word in any case. */
const word = (text: string): string => `whole<caseInsensitive<${JSON.stringify(text)}>>`;
const either = (rules: readonly string[]): string => rules.join(' | ');

/** Words that have a rule, which allows for others in their place. */
const WORDS: Readonly<Record<string, string>> = { with: 'With', a: 'A' };
/** The body of a rule for a form or phrase. */
const sequence = (phrase: string): string =>
  phrase.replaceAll(/\{(\w+)\}|\S+/g, (text, rule?: string) => rule ?? WORDS[text] ?? word(text));

const formRules = Object.entries(FORMS).map(([name, form]) => `${name} = ${sequence(form)}`);

/** The rules for the tests of each operator. Amounts and periods have no verb: `over 5` orders. */
const operatorRules = OPERATOR_NAMES.flatMap((name) => {
  const { phrase, negated } = OPERATORS[name];
  const forms = { Is: phrase, Not: negated, Bare: phrase.replace(/^is /, '') };
  return Object.entries(forms).map(([prefix, form]) => `${prefix}_${name} = ${sequence(form)}`);
});
const bareRules = (kind: FieldKind): string[] =>
  OPERATOR_NAMES.filter((name) => OPERATORS[name].kinds[0] === kind).map((name) => `Bare_${name}`);

/** The grammar; its first rule is that of a whole description. */
export const SEGMENTS = grammar(`Segments {
  ${RULES.replaceAll(/'([a-z]+)'/g, (_, text: string) => word(text))}
  Form = ${either(Object.keys(FORMS))}
  ${formRules.join('\n')}
  Test = ${either(['Not', 'Is'].flatMap((prefix) => OPERATOR_NAMES.map((name) => `${prefix}_${name}`)))}
  Amount = ${either(bareRules('number'))}
  Period = ${either(bareRules('date'))}
  ${operatorRules.join('\n')}
  Unit = ${either(Object.keys(UNITS).flatMap((unit) => [word(unit), word(`${unit}s`)]))}
  Measure = ${either(Object.values(MEASURES).flatMap(({ words }) => Object.values(words).map(word)))}
}`);

/** A name as a text writes it: in quotes where it is not made of plain words. */
export const written = (name: string): string => (SEGMENTS.match(name, 'PlainName').succeeded() ? name : `"${name}"`);
