/** docs/something-is-wrong.md leads from each problem and each alert to commands that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createWholeProgram } from '../../src/cli/program.js';
import { HEALTH_TRIGGERS } from '../../src/domain/monitoring/sync-health.js';
import { ROOT, sectionOf, tableIn } from './pages.js';
import { commandLinesOf, entryOf, headingsUnder, SOMETHING_IS_WRONG as page } from './runbook.js';

const program = await createWholeProgram();
const { groups } = parse(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')) as {
  groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
};
const ALERTS = groups.flatMap(({ rules }) => rules);

function isRefused({ parseArg, defaultValue }: Option, value: string): boolean {
  try {
    parseArg?.(value, defaultValue);
    return false;
  } catch {
    return true;
  }
}

/**
 * What is wrong with a command line: a command, option or argument that the program does not have, or one that it asks
 * for; null if nothing is.
 */
function problemOf(line: string): string | null {
  const words = line.split(/\s+/);
  let command: Command = program;
  const next = (): Command | undefined => command.commands.find((each) => each.name() === words[0]);
  for (let named = next(); named !== undefined; named = next()) {
    command = named;
    words.shift();
  }
  if (command === program || command.commands.length > 0) return `"${line}" names no command that does something`;
  const given: string[] = [];
  const missing = command.options.find(({ mandatory, long }) => mandatory && !words.includes(long!));
  if (missing !== undefined) return `"${line}": ${missing.long} is missing`;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) {
      given.push(word);
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (option === undefined) return `"${line}": there is no ${word}`;
    if (option.required && (words[0] ?? '-').startsWith('-')) return `"${line}": ${word} needs a value`;
    // What stands in angle brackets is for the reader to fill in.
    if (option.required && !words[0]!.startsWith('<') && isRefused(option, words[0]!))
      return `"${line}": ${word} does not take ${words[0]}`;
    if (option.variadic) while (words.length > 0 && !words[0]!.startsWith('-')) words.shift();
    else if (option.required) words.shift();
  }
  const expected = command.registeredArguments;
  const least = expected.filter(({ required }) => required).length;
  return given.length < least || given.length > expected.length
    ? `"${line}" has ${given.length} arguments instead of ${least} to ${expected.length}`
    : null;
}

describe('the entries', () => {
  it('are those of the problems that status can name, the worst first', () => {
    expect(headingsUnder('Problems that status names')).toEqual(HEALTH_TRIGGERS);
  });

  it('are those of the alert rules, each of which leads to its entry', () => {
    expect(headingsUnder('Alerts of Prometheus')).toEqual(ALERTS.map(({ alert }) => alert));
    for (const { alert, annotations } of ALERTS)
      expect(annotations.runbook).toBe(`docs/something-is-wrong.md#${alert.toLowerCase()}`);
  });

  it.each([...HEALTH_TRIGGERS, ...ALERTS.map(({ alert }) => alert)])('%s has a command for both', (heading) => {
    const { diagnose, fix } = entryOf(heading);
    expect(diagnose).not.toEqual([]);
    expect(fix).not.toEqual([]);
  });

  it('of the table of other signs have a command for each', () => {
    const rows = tableIn(sectionOf(page, 'Other signs'));
    expect(rows.length).toBeGreaterThan(0);
    for (const [sign, diagnose, fix] of rows)
      for (const cell of [diagnose!, fix!]) expect(commandLinesOf(cell), sign).not.toEqual([]);
  });
});

describe('the commands', () => {
  it('exist, with these options and arguments', () => {
    const lines = commandLinesOf(page.text);
    expect(lines.length).toBeGreaterThan(40);
    expect(lines.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
  });

  it.each([
    ['repair <sync>', 'names no command'],
    ['schema', 'names no command'],
    ['status <sync> --all', 'there is no --all'],
    ['run <sync> --mode', 'needs a value'],
    ['run <sync> --mode all', '--mode does not take all'],
    ['schedules pause <sync>', '--reason is missing'],
    ['explain <sync>', '1 arguments instead of 3'],
    ['worker <sync>', '1 arguments instead of 0'],
  ])('would not include "%s"', (line, problem) => {
    expect(problemOf(line)).toContain(problem);
  });
});
