/** Counts, times and states, as all pages show them. */
import { formatSeconds } from '../../domain/values/duration.js';
import { COUNT_BOUND, formatCount } from '../../domain/values/quantity.js';

export { formatCount as count } from '../../domain/values/quantity.js';

/** The same of a count that stops at `COUNT_BOUND`. */
export const countToBound = (number: number): string =>
  number < COUNT_BOUND ? formatCount(number) : `> ${formatCount(COUNT_BOUND - 1)}`;

/** A moment to the minute, in UTC; the time to the second is in its title. */
export function Moment({ at }: { readonly at: Date | string | null }) {
  if (at === null) return <span class="quiet">-</span>;
  const iso = typeof at === 'string' ? at : at.toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {iso.slice(0, 16).replace('T', ' ')}
    </time>
  );
}

/** How long something lasts or is ago, in seconds; `none` where there is nothing. */
export const Age = ({ seconds, none = '-' }: { readonly seconds: number | null; readonly none?: string }) =>
  seconds === null ? <span class="quiet">{none}</span> : <span>{formatSeconds(Math.max(0, seconds))}</span>;

/** What a state means to whoever looks: all is well, somebody should look, something is wrong, it goes on. */
type Tone = 'good' | 'warning' | 'bad' | 'working';

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  done: 'good',
  complete: 'good',
  complete_with_dead_letters: 'warning',
  incomplete: 'warning',
  running: 'working',
  failed: 'bad',
  failing: 'bad',
  late: 'bad',
  retrying: 'bad',
  stalled: 'bad',
};

/** The sign says what the colour does, for those who do not see it. */
const SIGNS: Readonly<Record<Tone, string>> = { good: '✓', warning: '!', bad: '✕', working: '…' };

/** A state in a word. Any that is not in the table needs attention. */
export function State({ name }: { readonly name: string }) {
  const tone = TONES[name] ?? 'warning';
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span> {name.replaceAll('_', ' ')}
    </span>
  );
}

/** A bar of what is done, and the same in words. `percent`: undefined if nobody knows the total. */
export const Progress = ({ label, percent }: { readonly label: string; readonly percent: number | undefined }) => (
  <>
    {percent === undefined ? null : <progress max={100} value={percent} aria-label={label} />} <span>{label}</span>
  </>
);

/** Columns of numbers for a table. */
export const numbers = (...heads: readonly string[]): { readonly head: string; readonly number: true }[] =>
  heads.map((head) => ({ head, number: true }));
