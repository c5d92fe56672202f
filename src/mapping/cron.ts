/** Cron expressions of five fields, checked field by field: a wrong one would simply never run. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const FIELDS = [
  { name: 'minute', from: 0, to: 59, words: [] },
  { name: 'hour', from: 0, to: 23, words: [] },
  { name: 'day of month', from: 1, to: 31, words: [] },
  { name: 'month', from: 1, to: 12, words: MONTHS },
  { name: 'day of week', from: 0, to: 7, words: DAYS },
] as const satisfies readonly { name: string; from: number; to: number; words: readonly string[] }[];

/** What is wrong with the expression; undefined when it is right. */
export function cronProblem(expression: string): string | undefined {
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    return `needs five fields (${FIELDS.map((field) => field.name).join(', ')}); got ${parts.length}`;
  for (const [index, field] of FIELDS.entries())
    for (const item of parts[index]!.split(',')) {
      const problem = itemProblem(item, field);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

/** One item of a list: `*`, `5`, `1-5`, each with an optional step such as `/15`. */
function itemProblem(
  item: string,
  { name, from, to, words }: { name: string; from: number; to: number; words: readonly string[] },
) {
  const [range = '', step, more] = item.split('/');
  if (more !== undefined || (step !== undefined && !/^[1-9]\d*$/.test(step)))
    return `${name} has a step that is no number`;
  if (range === '*') return undefined;
  const bounds = range.split('-').map((bound) => {
    const word = words.indexOf(bound.toLowerCase());
    return word >= 0 ? word + from : /^\d+$/.test(bound) ? Number(bound) : NaN;
  });
  if (bounds.length > 2 || bounds.some(Number.isNaN)) return `${name} is not a number, a range or *`;
  const outside = bounds.find((bound) => bound < from || bound > to);
  if (outside !== undefined) return `${name} is ${outside}, allowed ${from}-${to}`;
  return bounds.length === 2 && bounds[0]! > bounds[1]! ? `${name} has a range that runs backwards` : undefined;
}
