/** The fixed words of the language, as data: phrases and what they mean. docs/segments.md shows them with examples. */
import type { Measure } from './condition.js';
import { MONTH_NAMES, type Unit } from './calendar.js';
import type { Operator } from './operators.js';

/** A phrase in words, as {@link tokenize} gives them, and its meaning. */
export type Phrases<T> = readonly (readonly [phrase: string, meaning: T])[];

const all = <T>(meaning: T, ...phrases: string[]): Phrases<T> => phrases.map((phrase) => [phrase, meaning]);

export interface Comparison {
  readonly operator: Operator;
  readonly not?: true;
}
const over = { operator: 'greater_than' } as const;
const atLeast = { operator: 'at_least' } as const;
const under = { operator: 'less_than' } as const;
const atMost = { operator: 'at_most' } as const;
const exactly = { operator: 'equals' } as const;

/** Before a number. */
export const NUMBER_COMPARISONS: Phrases<Comparison> = [
  ...all(over, 'over', 'above', 'more than', 'greater than', 'higher than', 'larger than', 'older than', '>'),
  ...all(over, 'exceeding', 'exceeds', 'exceed'),
  ...all(atLeast, 'at least', 'no less than', 'not less than', 'no fewer than', 'a minimum of', '>=', '≥'),
  ...all(under, 'under', 'below', 'less than', 'fewer than', 'lower than', 'smaller than', 'younger than', '<'),
  ...all(atMost, 'at most', 'up to', 'no more than', 'not more than', 'a maximum of', '<=', '≤'),
  ...all(exactly, 'exactly', 'equal to', 'equals', 'just', '='),
];

/** After a number: `3 or more`. */
export const NUMBER_ENDINGS: Phrases<Comparison> = [
  ...all(atLeast, 'or more', 'or over', 'or above', 'and more', 'and over', 'or older', '+'),
  ...all(atMost, 'or less', 'or fewer', 'or under', 'or below', 'or younger'),
];

export const TEXT_COMPARISONS: Phrases<Comparison> = [
  ...all<Comparison>({ operator: 'contains' }, 'contains', 'contain', 'containing', 'includes', 'including', 'include'),
  ...all<Comparison>({ operator: 'starts_with' }, 'starts with', 'start with', 'starting with', 'begins with'),
  ...all<Comparison>({ operator: 'starts_with' }, 'begin with', 'beginning with'),
  ...all<Comparison>({ operator: 'ends_with' }, 'ends with', 'end with', 'ending with', 'ends in', 'ending in'),
  ...all<Comparison>({ operator: 'is' }, 'equals', 'equal to', 'exactly', 'one of', 'any of', 'in', 'of', '='),
];

/** After a field: whether it has any value. */
export const PRESENCE: Phrases<Comparison> = [
  ...all<Comparison>({ operator: 'is_set' }, 'set', 'known', 'present', 'given', 'filled', 'filled in', 'exists'),
  ...all<Comparison>({ operator: 'is_set' }, 'available'),
  ...all<Comparison>({ operator: 'is_set', not: true }, 'missing', 'empty', 'unknown', 'blank', 'unset'),
];

export const TRUTH: Phrases<boolean> = [...all(true, 'true', 'yes', 'on'), ...all(false, 'false', 'no', 'off')];

export const MEASURE_WORDS: Phrases<Measure> = [
  ...all<Measure>('sum', 'sum of', 'total of', 'total'),
  ...all<Measure>('average', 'average', 'average of', 'mean', 'mean of'),
  ...all<Measure>('maximum', 'largest', 'highest', 'biggest', 'maximum', 'latest', 'last', 'newest', 'most recent'),
  ...all<Measure>('minimum', 'smallest', 'lowest', 'minimum', 'earliest', 'first', 'oldest'),
  ...all<Measure>('count', 'number of', 'count of'),
];

export const UNIT_WORDS: Phrases<Unit> = (['hour', 'day', 'week', 'month', 'quarter', 'year'] as const).flatMap(
  (unit) => all<Unit>(unit, unit, `${unit}s`),
);

export const CALENDAR_DAYS: Phrases<Comparison> = [
  ...all<Comparison>({ operator: 'in_this' }, 'today'),
  ...all<Comparison>({ operator: 'in_last' }, 'yesterday'),
  ...all<Comparison>({ operator: 'in_next' }, 'tomorrow'),
];

/** 1 to 12. */
export const MONTHS: Phrases<number> = MONTH_NAMES.map((name) => name.toLowerCase()).flatMap((month, i) =>
  all(i + 1, month, ...(month === 'may' ? [] : [month.slice(0, 3)])),
);

const NUMBER_NAMES = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
export const NUMBER_WORDS: Phrases<number> = [
  ...NUMBER_NAMES.flatMap((word, i) => all(i + 1, word)),
  ...all(20, 'twenty'),
  ...all(30, 'thirty'),
  ...all(50, 'fifty'),
  ...all(100, 'a hundred', 'one hundred'),
  ...all(1000, 'a thousand', 'one thousand'),
];

/** How often, in one or two words. */
export const TIMES: Phrases<number> = [...all(1, 'once'), ...all(2, 'twice')];

export const PEOPLE = ['person', 'people', 'contact', 'customer', 'user', 'client', 'member', 'everyone', 'everybody'];
export const PEOPLE_WORDS: Phrases<true> = all(
  true,
  ...PEOPLE,
  ...['anyone', 'anybody', 'somebody', 'someone', 'those', 'them', 'all of them', 'recipient', 'subscriber', 'guest'],
);

/** In front of the people; without a meaning of their own. */
export const OPENINGS: Phrases<true> = all(
  true,
  ...['find', 'show', 'show me', 'list', 'get', 'get me', 'give me', 'select', 'count', 'target', 'send to', 'email'],
  ...['message', 'text', 'i want', 'i need', 'a segment of', 'segment of', 'an audience of', 'audience of', 'please'],
  ...['all', 'every', 'each', 'any', 'the', 'all the', 'all of the', 'my', 'our', 'all my', 'all our'],
);

/** Between conditions; without a meaning of their own. */
export const FILLERS: Phrases<true> = all(true, 'who', 'that', 'which', 'also', 'they', 'then', 'currently', 'ever');
export const AND: Phrases<true> = all(true, 'and', 'but', ',', ';', 'as well as', 'and also', 'plus', '&');
export const OR: Phrases<true> = all(true, 'or', 'or else');

/** Before a verb. They only matter for what follows: `have not ordered`, `do not have`, `are not in`. */
export const AUXILIARIES: Phrases<true> = all(true, 'do', 'does', 'did', 'have', 'has', 'had', 'can', 'will');
export const NEGATIONS: Phrases<true> = all(true, 'not', 'never', 'not yet', 'no longer');
export const BE: Phrases<true> = all(true, 'is', 'are', 'was', 'were', 'be', 'being', 'been');
export const HAVE: Phrases<boolean> = [
  ...all(true, 'have', 'has', 'had', 'having', 'with', 'have got', 'has got', 'own', 'owns'),
  ...all(false, 'without', 'lack', 'lacks', 'lacking'),
];
export const NONE: Phrases<true> = all(true, 'no', 'not any', 'zero', 'not a', 'not an', 'none');
export const SOME: Phrases<true> = all(true, 'a', 'an', 'any', 'the', 'some', 'their', 'at least one', 'at least a');

export const LIVE: Phrases<true> = all(
  true,
  ...['in', 'from', 'live in', 'lives in', 'living in', 'based in', 'located in', 'reside in', 'residing in'],
  ...['come from', 'comes from', 'coming from', 'within'],
);
export const LOCATION_WORDS = 'country city town state region county province district location'.split(' ');

export const NAMED: Phrases<true> = all(true, 'named', 'called', 'by the name of');
export const NAME_WORDS = ['name', 'surname'];

export const JOINED: Phrases<true> = all(
  true,
  ...['joined', 'join', 'registered', 'register', 'signed up', 'sign up', 'created', 'added', 'became customers'],
);
export const JOINED_WORDS = [
  'create',
  'created',
  'join',
  'joined',
  'signup',
  'register',
  'registered',
  'since',
  'registration',
];

export const SPEND: Phrases<true> = all(true, 'spent', 'spend', 'spends', 'spending', 'paid', 'pay', 'pays');
export const SPEND_NOUNS: Phrases<true> = all(
  true,
  ...['spend', 'spending', 'total spend', 'lifetime spend', 'lifetime value', 'total spending', 'revenue'],
);
/** Verbs of having transactions. */
export const BUY: Phrases<true> = all(
  true,
  ...['ordered', 'order', 'bought', 'buy', 'purchased', 'purchase', 'shopped', 'placed', 'place', 'made', 'make'],
);
/** Object of a verb without a meaning of its own: `ordered something`. */
export const ANYTHING: Phrases<true> = all(true, 'something', 'anything', 'stuff', 'from us', 'with us', 'money');

/** `true`: agreed to messages. */
export const CONSENT: Phrases<boolean> = [
  ...all(true, 'opted in', 'opted in to', 'opt in', 'opt in to', 'subscribed', 'subscribed to', 'agreed to'),
  ...all(false, 'opted out', 'opted out of', 'opt out', 'opt out of', 'unsubscribed', 'unsubscribed from'),
];
export const CONSENT_OBJECTS: Phrases<true> = all(
  true,
  ...['marketing', 'marketing messages', 'messages', 'emails', 'email', 'sms', 'newsletter', 'the newsletter', 'texts'],
);
